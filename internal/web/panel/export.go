package panel

import (
	"encoding/csv"
	"io"
	"net/http"
	"time"

	"carteira/internal/customer"
	"carteira/internal/platform/address"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/taxid"
	"carteira/internal/web"
	"carteira/internal/web/page"
)

// exportCustomers writes the customers of a filter as CSV, a batch at a time,
// under headings that an import understands.
func (s *Server) exportCustomers(req *request) error {
	in := req.query()
	filter := customer.ReadFilter(in)
	if err := in.Err(); err != nil {
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

// sendCSV sends a file for a spreadsheet. Semicolons and the mark at the
// beginning are what Excel in Brazil wants.
func sendCSV(req *request, name string, rows func(write func([]string) error) error) {
	header := req.w.Header()
	header.Set("Content-Type", "text/csv; charset=utf-8")
	header.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	header.Set("Cache-Control", "no-store")
	out := csv.NewWriter(patient{req.w, http.NewResponseController(req.w)})
	out.Comma = ';'
	if _, err := io.WriteString(req.w, "\ufeff"); err != nil {
		return // the reader has gone away
	}
	err := rows(out.Write)
	out.Flush()
	if err != nil {
		// Half a file must not pass for the whole: the connection is cut.
		web.ExchangeOf(req.Context()).Err = err
		panic(http.ErrAbortHandler)
	}
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
		{"whatsapp", func(record *customer.Customer) string { return record.Whatsapp }},
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
		column{"preço próprio", func(record *customer.Customer) string { return record.OwnPrice.String() }},
	)
	for i, part := range address.Parts() {
		columns = append(
			columns,
			column{addressHeadings[i], func(record *customer.Customer) string { return *record.Address.Part(part) }},
		)
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
	return record.Plan.Value.String()
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
	_ = p.control.SetWriteDeadline(time.Now().Add(time.Minute)) //nolint:forbidigo // a deadline of the connection
	return p.Writer.Write(b)
}
