package panel

import (
	"strings"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/address"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/taxid"
	"carteira/internal/reminder"
	"carteira/internal/reseller"
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

func (s *Server) exportPayments(req *kit.Request) error {
	filter, err := kit.FilterOf(req, readPayments)
	if err != nil {
		return err
	}
	names := s.ActorNames(req, []string{"user:", "token:"})
	if req.Failed != nil {
		return req.Failed
	}
	columns := []string{
		"pagamento", "cliente", "fatura", "dia", "pago por", "situação", "valor", "registrado por", "identificação", "observação",
	}
	kit.SendList(req, "pagamentos", columns, func(write func(...string) error) error {
		err := s.Billing.WalkPayments(req.Context(), req.Actor, filter, func(record billing.PaymentRecord) error {
			return write(kit.IDText(record.ID), record.CustomerName, kit.IDText(record.InvoiceID), page.FormatDate(record.PaidOn),
				s.through(req, record.Via), page.Portuguese.T(paymentWords[record.Status]), kit.Decimal(record.Amount),
				kit.ActorText(page.Portuguese, names, record.ConfirmedBy), kit.ShownPaymentID(record.PaymentID), record.Note)
		})
		if err != nil {
			return err
		}
		return s.Billing.WalkRefunds(req.Context(), req.Actor, filter, func(refund billing.ListedRefund) error {
			return write(kit.IDText(refund.Payment), refund.CustomerName, kit.IDText(refund.InvoiceID), page.FormatDate(refund.On),
				s.through(req, refund.Via), page.Portuguese.T("Money given back"), "-"+kit.Decimal(refund.Amount),
				kit.ActorText(page.Portuguese, names, refund.By), kit.ShownPaymentID(refund.PaymentID), refund.Note)
		})
	})
	return nil
}

func (s *Server) exportMessages() kit.Handler {
	return kit.Exported("mensagens", []string{
		"mensagem", "cliente", "vencimento", "regra", "canal", "situação", "motivo", "programada para", "enviada em", "chegada", "chegada em",
	}, reminder.ReadFilter, s.Reminders.WalkMessages, func(req *kit.Request, message reminder.Message) []string {
		return []string{
			kit.IDText(message.ID), message.Customer, page.FormatDate(message.DueOn), message.RuleName, message.Channel,
			page.Portuguese.T(kit.StatusWords[message.Status]), reasons(page.Portuguese, message.Reason), req.Moment(message.RunAt),
			req.Moment(message.SentAt), page.Portuguese.T(arrivalWords[message.Arrival]), req.Moment(message.ArrivalAt),
		}
	})
}

func (s *Server) exportResellers() kit.Handler {
	return kit.Exported("revendedores", []string{
		"revendedor", "nome", "e-mail", "whatsapp", "situação", "plano", "termina em", "nível", "clientes", "créditos",
	}, reseller.ReadFilter, s.Resellers.Walk, func(_ *kit.Request, seller reseller.Reseller) []string {
		return []string{
			kit.IDText(seller.ID), seller.Name, seller.Email, kit.DialledPhone(seller.Whatsapp),
			page.Portuguese.T(standingWords[seller.Standing(s.DB.Now())]), seller.Plan.Name,
			page.FormatDate(seller.Subscription.ExpiresOn), page.Portuguese.T(kit.LevelWords[seller.Level]),
			page.FormatInt(seller.Customers), page.FormatInt(seller.Credits),
		}
	})
}

func (s *Server) exportCredits() kit.Handler {
	return kit.Exported("creditos", []string{
		"lançamento", "quando", "o quê", "revendedor", "plano", "períodos", "créditos", "saldo", "observação",
	}, reseller.ReadEntryFilter, s.Resellers.WalkEntries, func(req *kit.Request, entry reseller.Entry) []string {
		return []string{
			kit.IDText(entry.ID), req.Moment(entry.CreatedAt), page.Portuguese.T(entryWords[entry.Kind]), entry.Reseller.Name, entry.Plan.Name,
			page.FormatInt(int64(entry.Periods)), page.FormatInt(entry.Amount), page.FormatInt(entry.Balance), entry.Note,
		}
	})
}

func (s *Server) exportAudit(req *kit.Request) error {
	read := func(in *input.Form) account.AuditFilter { return auditFilter(req, in) }
	return kit.Exported("auditoria", []string{"quando", "quem", "o quê", "registro", "de onde", "o que mudou"},
		read, s.Accounts.WalkAudit, func(req *kit.Request, line account.AuditLine) []string {
			changed := changesText(kit.Worded(page.Portuguese, req.Actor.Company.Zone, line))
			return []string{req.Moment(line.At), line.Who, kit.DeedText(page.Portuguese, line), line.Name, line.Address, changed}
		})(req)
}

// changesText is what changed, in one cell.
func changesText(changes []account.FieldChange) string {
	parts := make([]string, len(changes))
	for n, change := range changes {
		parts[n] = change.Field + ": " + change.Before + " → " + change.After
	}
	return strings.Join(parts, "; ")
}
