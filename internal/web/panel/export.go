package panel

import (
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/address"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/taxid"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
)

// exportCustomers writes the customers of a filter as CSV, a batch at a time,
// under headings that an import understands.
func (s *Server) exportCustomers(req *kit.Request) error {
	filter, err := kit.FilterOf(req, readCustomers)
	if err != nil {
		return err
	}
	own, err := s.Customers.CustomNames(req.Context(), req.Actor)
	if err != nil {
		return err
	}
	columns := append(customerColumns(req.Today), ownColumns(own)...)
	kit.SendCSV(req, "clientes-"+req.Today.String()+".csv", func(write func([]string) error) error {
		if err := write(headingsOf(columns)); err != nil {
			return err
		}
		return s.Customers.Walk(req.Context(), req.Actor, filter, func(record customer.Customer) error {
			return write(csvRow(columns, &record))
		})
	})
	return nil
}

// customerFile is everything that is kept about a customer, to hand to them.
func (s *Server) customerFile(req *kit.Request) error {
	content := kit.ReadOf(req, s.Privacy.CustomerFile, req.ID)
	return kit.SendBytes(req, "cliente-"+kit.IDText(req.ID)+".json", "application/json; charset=utf-8", content)
}

// exportInvoices writes the invoices of a filter as CSV.
func (s *Server) exportInvoices() kit.Handler {
	return kit.Exported("faturas", []string{
		"fatura", "cliente", "descrição", "vencimento", "situação", "valor", "a pagar hoje", "recebido", "pago em", "pago por", "plano",
	}, billing.ReadFilter, s.Billing.Walk, func(req *kit.Request, invoice billing.Invoice) []string {
		due := invoice.PayableOn(req.Actor.Company, req.Today)
		return []string{
			kit.IDText(invoice.ID), invoice.Customer.Name, invoice.Description, page.FormatDate(invoice.DueOn), invoice.Status.String(),
			kit.Decimal(invoice.Amount), kit.Decimal(due.Rest), kit.Decimal(invoice.Received), page.FormatDate(invoice.PaidOn),
			s.throughIfAny(req, invoice.PaidVia), invoice.Plan.Name,
		}
	})
}

// column is a column of the exported file.
type column struct {
	heading string
	text    func(*customer.Customer) string
}

// customerColumns are the columns of a day's file, in their order.
func customerColumns(today civil.Date) []column {
	columns := []column{
		{"nome", func(record *customer.Customer) string { return record.Name }},
		{"whatsapp", func(record *customer.Customer) string { return kit.DialledPhone(record.Whatsapp) }},
		{"e-mail", func(record *customer.Customer) string { return record.Email }},
		{"usuário", func(record *customer.Customer) string { return record.Usuario }},
		{"vencimento", func(record *customer.Customer) string { return page.FormatDate(record.DueOn) }},
		{"status", func(record *customer.Customer) string { return string(record.Status(today)) }},
		{"plano", func(record *customer.Customer) string { return record.Plan.Name }},
		{"valor", planValue},
		{"produto", func(record *customer.Customer) string { return record.Product.Name }},
	}
	for _, text := range customer.Texts() {
		columns = append(columns, column{text.Heading, text.Of})
	}
	columns = append(columns,
		column{"cpf/cnpj", func(record *customer.Customer) string { return taxid.Format(record.CpfCnpj) }},
		column{"preço próprio", ownPrice})
	for i, part := range address.Parts() {
		columns = append(columns,
			column{addressHeadings[i], func(record *customer.Customer) string { return *record.Address.Part(part) }})
	}
	return columns
}

// ownColumns are the columns of the company's own fields, under headings that an
// import understands.
func ownColumns(names []string) []column {
	columns := make([]column, len(names))
	for i, name := range names {
		columns[i] = column{"custom." + name, func(record *customer.Customer) string { return record.Custom.Map()[name] }}
	}
	return columns
}

// addressHeadings are what the file calls the parts of an address.
var addressHeadings = []string{"cep", "rua", "número", "complemento", "bairro", "cidade", "uf"}

func planValue(record *customer.Customer) string {
	if record.Plan.ID == 0 {
		return ""
	}
	return kit.Decimal(record.Plan.Value)
}

func ownPrice(record *customer.Customer) string {
	if !record.OwnPrice.Own {
		return ""
	}
	return kit.Decimal(record.OwnPrice.Amount)
}

func headingsOf(columns []column) []string {
	row := make([]string, len(columns))
	for i, column := range columns {
		row[i] = column.heading
	}
	return row
}

func csvRow(columns []column, record *customer.Customer) []string {
	row := make([]string, len(columns))
	for i, column := range columns {
		row[i] = kit.Harmless(column.text(record))
	}
	return row
}
