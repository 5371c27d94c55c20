package panel

import (
	"encoding/csv"
	"io"
	"net/http"
	"time"

	"carteira/internal/customer"
	"carteira/internal/platform/address"
	"carteira/internal/platform/taxid"
	"carteira/internal/web"
	"carteira/internal/web/page"
)

// exportCustomers writes the customers of a filter as CSV, a batch at a time,
// under headings that an import understands. Semicolons and the mark at the
// beginning are what Excel in Brazil wants.
func (s *Server) exportCustomers(req *request) error {
	in := req.query()
	f := customer.ReadFilter(in)
	if err := in.Err(); err != nil {
		return err
	}
	own, err := s.Customers.CustomNames(req.Context(), req.Actor)
	if err != nil {
		return err
	}
	h := req.w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="clientes-`+req.today.String()+`.csv"`)
	h.Set("Cache-Control", "no-store")
	out := csv.NewWriter(patient{req.w, http.NewResponseController(req.w)})
	out.Comma = ';'
	if _, err := io.WriteString(req.w, "\ufeff"); err != nil {
		return nil //nolint:nilerr // the reader has gone away
	}
	headings := []string{
		"nome", "whatsapp", "e-mail", "usuário", "vencimento", "status",
		"plano", "valor", "produto", "observações", "código", "cpf/cnpj", "preço próprio",
		"cep", "rua", "número", "complemento", "bairro", "cidade", "uf",
	}
	for _, name := range own {
		headings = append(headings, "custom."+name)
	}
	if err = out.Write(headings); err == nil {
		err = s.Customers.Walk(req.Context(), req.Actor, f, func(c customer.Customer) error { return out.Write(csvRow(req, c, own)) })
	}
	out.Flush()
	if err != nil {
		// Half a file must not pass for the whole: the connection is cut.
		web.ExchangeOf(req.Context()).Err = err
		panic(http.ErrAbortHandler)
	}
	return nil
}

// csvRow is a customer as a line of the file; own are the company's own fields.
func csvRow(req *request, c customer.Customer, own []string) []string {
	value := ""
	if c.Plan.ID != 0 {
		value = c.Plan.Value.String()
	}
	row := []string{
		c.Name, c.Whatsapp, c.Email, c.Usuario, page.FormatDate(c.DueOn), string(c.Status(req.today)),
		c.Plan.Name, value, c.Product.Name, c.Notes, c.ExternalID, taxid.Format(c.CpfCnpj), c.OwnPrice.String(),
	}
	for _, part := range address.Parts() {
		row = append(row, *c.Address.Part(part))
	}
	texts := c.Custom.Map()
	for _, name := range own {
		row = append(row, texts[name])
	}
	for i := range row {
		row[i] = harmless(row[i])
	}
	return row
}

// harmless keeps a spreadsheet from running a text of ours as a formula.
func harmless(s string) string {
	if s != "" && (s[0] == '=' || s[0] == '+' || s[0] == '-' || s[0] == '@' || s[0] == '\t' || s[0] == '\r') {
		return "'" + s
	}
	return s
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
