package panel

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/address"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/taxid"
	"carteira/internal/web"
	"carteira/internal/web/page"
)

// exportCustomers writes the customers of a filter as CSV, a batch at a time,
// under headings that an import understands.
func (s *Server) exportCustomers(req *request) error {
	filter, err := filterOf(req, readCustomers)
	if err != nil {
		return err
	}
	own, err := s.Customers.CustomNames(req.Context(), req.Actor)
	if err != nil {
		return err
	}
	columns := append(customerColumns(req.today), ownColumns(own)...)
	sendCSV(req, "clientes-"+req.today.String()+".csv", func(write func([]string) error) error {
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
func (s *Server) customerFile(req *request) error {
	content := readOf(req, s.Privacy.CustomerFile, req.id)
	return sendBytes(req, "cliente-"+idText(req.id)+".json", "application/json; charset=utf-8", content)
}

// exportInvoices writes the invoices of a filter as CSV.
func (s *Server) exportInvoices() handler {
	return exported("faturas", []string{
		"fatura", "cliente", "descrição", "vencimento", "situação", "valor", "a pagar hoje", "recebido", "pago em", "pago por", "plano",
	}, billing.ReadFilter, s.Billing.Walk, func(req *request, invoice billing.Invoice) []string {
		due := invoice.PayableOn(req.Actor.Company, req.today)
		return []string{
			idText(invoice.ID), invoice.Customer.Name, invoice.Description, page.FormatDate(invoice.DueOn), invoice.Status.String(),
			decimal(invoice.Amount), decimal(due.Rest), decimal(invoice.Received), page.FormatDate(invoice.PaidOn),
			s.throughIfAny(req, invoice.PaidVia), invoice.Plan.Name,
		}
	})
}

// decimal is an amount as Excel in Brazil reads it.
func decimal(amount money.Cents) string { return strings.TrimPrefix(amount.BR(), "R$ ") }

// sendCSV sends a file for a spreadsheet. Semicolons and the mark at the
// beginning are what Excel in Brazil wants.
func sendCSV(req *request, name string, rows func(write func([]string) error) error) {
	sendFile(req, name, "text/csv; charset=utf-8", func(to io.Writer) error {
		out := bufio.NewWriter(to)
		_, _ = out.WriteString("\ufeff") // the error stays until Flush
		err := rows(func(cells []string) error { return writeRow(out, cells) })
		return errors.Join(err, out.Flush())
	})
}

// sendBytes sends a file that is at hand; without a name a browser may show it.
func sendBytes(req *request, name, kind string, content []byte) error {
	if req.failed != nil {
		return req.failed
	}
	header := req.w.Header()
	header.Set("Content-Type", kind)
	header.Set("Content-Length", strconv.Itoa(len(content)))
	header.Set("Cache-Control", "no-store")
	if name != "" {
		header.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	}
	_, _ = req.w.Write(content) // a reader who has gone away is not our failure
	return nil
}

// sendFile sends a file that is written while it is read.
func sendFile(req *request, name, kind string, write func(io.Writer) error) {
	header := req.w.Header()
	header.Set("Content-Type", kind)
	header.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	header.Set("Cache-Control", "no-store")
	if err := write(patient{req.w, http.NewResponseController(req.w)}); err != nil {
		// Half a file must not pass for the whole: the connection is cut.
		web.ExchangeOf(req.Context()).Err = err
		panic(http.ErrAbortHandler)
	}
}

// writeRow writes a line of the file. A text with a comma is quoted as well: where
// that is what separates cells, the rest of it would be a cell of its own, and
// could be a formula.
func writeRow(out *bufio.Writer, cells []string) error {
	for i, cell := range cells {
		if i > 0 {
			_ = out.WriteByte(';') // the error stays until Flush
		}
		if cell != "" && !isNumber(cell) && needsQuotes(cell) {
			cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
		}
		_, _ = out.WriteString(cell)
	}
	_, err := out.WriteString("\n")
	return err
}

func needsQuotes(cell string) bool {
	return strings.ContainsAny(cell, ";,\"\r\n") || cell[0] == ' ' || cell[0] == '\t'
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
		{"whatsapp", func(record *customer.Customer) string { return dialledPhone(record.Whatsapp) }},
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
	return decimal(record.Plan.Value)
}

func ownPrice(record *customer.Customer) string {
	if !record.OwnPrice.Own {
		return ""
	}
	return decimal(record.OwnPrice.Amount)
}

// dialledPhone is a number as people write it, so that a spreadsheet takes it for
// a text; one of another country keeps its bare digits, which an import reads.
func dialledPhone(digits string) string {
	shown := page.FormatPhone(digits)
	if rest, ok := strings.CutPrefix(shown, "+55 "); ok {
		return rest
	}
	return digits
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
		row[i] = harmless(column.text(record))
	}
	return row
}

// harmless keeps a spreadsheet from running a text of ours as a formula.
func harmless(text string) string {
	if text != "" && (text[0] == '=' || text[0] == '+' || text[0] == '-' || text[0] == '@' || text[0] == '\t' || text[0] == '\r') {
		return "'" + text
	}
	return text
}

// patient moves the deadline on as long as the reader reads.
type patient struct {
	io.Writer
	control *http.ResponseController
}

func (p patient) Write(b []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(time.Minute))
	return p.Writer.Write(b)
}
