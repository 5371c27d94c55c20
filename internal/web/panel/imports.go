package panel

import (
	"errors"
	"io"
	"net/http"
	"time"

	"carteira/internal/customer"
	"carteira/internal/customer/sheet"
	"carteira/internal/platform/fault"
	"carteira/internal/web/page"
)

func (s *Server) importPage(req *request) error {
	return s.show(req, page.View{Name: "import", Title: "Import customers", Data: page.NewForm()})
}

// upload takes the file. Its size is bounded before it is read.
func (s *Server) upload(req *request) error {
	_ = http.NewResponseController(req.w).SetReadDeadline(time.Now().Add(2 * time.Minute)) //nolint:forbidigo // a deadline of the connection
	req.Body = http.MaxBytesReader(req.w, req.Body, customer.MaxUpload+maxForm)
	name, content, err := readFile(req.Request)
	var u customer.Upload
	if err == nil {
		u, err = s.Customers.SaveUpload(req.Context(), req.Actor, name, content)
	}
	if refused(err) || fault.KindOf(err) == fault.KindTooLarge {
		form := page.NewForm()
		form.Fail(err)
		return s.show(req, page.View{Name: "import", Title: "Import customers", Status: statusOf(err), Data: form})
	}
	if err != nil {
		return err
	}
	page.Go(req.w, req.Request, importPath(u.ID))
	return nil
}

func importPath(id int64) string { return "/imports/" + idText(id) }

func readFile(r *http.Request) (name string, content []byte, err error) {
	file, header, err := r.FormFile("file")
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return "", nil, fault.Field("file", "must not be larger than 16 MiB; use carteira import for larger files")
	}
	if err != nil {
		return "", nil, fault.Field("file", "choose a file")
	}
	defer func() {
		_ = file.Close() // it was only read
		_ = r.MultipartForm.RemoveAll()
	}()
	content, err = io.ReadAll(file)
	return header.Filename, content, err
}

type uploadData struct {
	Upload  customer.Upload
	Columns []columnData
	Rows    [][]string
	Form    *page.Form
	Percent int
	Ready   bool // checked, with something to import

	Problems []customer.Problem // with the names that the page has for fields
}

type columnData struct {
	customer.Preview
	Options []page.Option
}

func (s *Server) uploadPage(req *request) error { return s.showUpload(req, page.NewForm(), nil) }

func (s *Server) showUpload(req *request, form *page.Form, refusal error) error {
	u, err := s.Customers.Upload(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	d := uploadData{Upload: u, Form: form}
	for _, p := range u.Outcome.Problems {
		if name, ok := fieldNames[p.Field]; ok {
			p.Field = req.lang.T(name.Label)
		}
		d.Problems = append(d.Problems, p)
	}
	if u.State != customer.UploadNew {
		d.Percent = 100 * u.Outcome.Lines / max(u.Outcome.Total*2, 1) // it is read twice: to check and to write
		if u.Choices.KeepGoing {
			d.Percent *= 2
		}
		return s.show(req, page.View{Name: "import_progress", Title: "Import customers", Data: d})
	}
	out := u.Outcome
	d.Ready = out.Checked && out.Done.Skipped > 0 && (out.Done.Failed == 0 || u.Choices.KeepGoing)
	if refusal == nil {
		d.Form = page.NewForm("keep_going", boolText(u.Choices.KeepGoing), "create_missing", boolText(u.Choices.CreateMissing),
			"invoices", boolText(u.Choices.Invoices), "events", boolText(u.Choices.Events))
	}
	if d.Columns, err = columns(req, u); err != nil {
		return err
	}
	return s.show(req, page.View{Name: "import_columns", Title: "Import customers", Status: statusOf(refusal), Data: d})
}

// fieldNames are what the fields of a file are called on a page.
var fieldNames = map[string]page.Option{
	"name": {Label: "Name"}, "whatsapp": {Label: "WhatsApp"}, "email": {Label: "E-mail"}, "usuario": {Label: "Login"},
	"data_de_vencimento": {Label: "Due date"}, "plan": {Label: "Plan (by name)"}, "value": {Label: "Amount of the plan"},
	"product": {Label: "Product (by name)"}, "notes": {Label: "Notes"}, "external_id": {Label: "Your own code"},
	"plan_id": {Label: "Plan (by id)"}, "product_id": {Label: "Product (by id)"},
}

func columns(req *request, u customer.Upload) ([]columnData, error) {
	preview, err := u.Preview()
	if err != nil {
		return nil, err
	}
	options := []page.Option{{Value: "", Label: req.lang.T("(pass over)")}}
	for _, field := range sheet.Fields() {
		options = append(options, page.Option{Value: field, Label: req.lang.T(fieldNames[field].Label)})
	}
	list := make([]columnData, len(preview))
	for i, p := range preview {
		list[i] = columnData{p, options}
	}
	return list, nil
}

func (s *Server) checkUpload(req *request) error {
	on := func(name string) bool { return page.Sent(req.Request, nil).Value(name) == "true" }
	_, err := s.Customers.CheckUpload(req.Context(), req.Actor, req.id, customer.Choices{
		Fields: req.PostForm["column"], KeepGoing: on("keep_going"), CreateMissing: on("create_missing"),
		Invoices: on("invoices"), Events: on("events"),
	})
	if refused(err) {
		return s.showUpload(req, page.Sent(req.Request, err), err)
	}
	if err != nil {
		return err
	}
	page.Go(req.w, req.Request, importPath(req.id)+"#checked")
	return nil
}

func (s *Server) startUpload(req *request) error {
	if err := s.Customers.StartUpload(req.Context(), req.Actor, req.id); err != nil {
		return req.complain(importPath(req.id), err)
	}
	page.Go(req.w, req.Request, importPath(req.id))
	return nil
}
