package panel

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"carteira/internal/customer"
	"carteira/internal/customer/intake"
	"carteira/internal/customer/sheet"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
	"carteira/internal/platform/phone"
	"carteira/internal/platform/taxid"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
)

func (s *Server) importPage(req *kit.Request) error {
	return req.Show("import", "Import customers", page.NewForm())
}

// upload takes the file. Its size is bounded before it is read.
func (s *Server) upload(req *kit.Request) error {
	_ = http.NewResponseController(req.Writer).SetReadDeadline(time.Now().Add(2 * time.Minute))
	req.Body = http.MaxBytesReader(req.Writer, req.Body, intake.MaxUpload+kit.MaxForm)
	name, content, err := readCells(req)
	var upload intake.Upload
	if err == nil {
		upload, err = s.Intake.SaveUpload(req.Context(), req.Actor, name, content)
	}
	if kit.Refused(err) || fault.KindOf(err) == fault.KindTooLarge {
		form := page.NewForm()
		form.Fail(err)
		return req.ShowForm("import", "Import customers", err, form)
	}
	if err != nil {
		return err
	}
	// Most files need no word about their columns: what was guessed is checked at once.
	_, err = s.Intake.CheckUpload(req.Context(), req.Actor, upload.ID, upload.Choices)
	if err != nil && !kit.Refused(err) {
		return err
	}
	page.Go(req.Writer, req.Request, importPath(upload.ID))
	return nil
}

// readCells reads the uploaded file or, without one, the cells that were pasted.
func readCells(req *kit.Request) (name string, content []byte, err error) {
	name, content, err = readFile(req.Request)
	if pasted := req.FormValue("cells"); err != nil && strings.TrimSpace(pasted) != "" {
		return req.Lang.T("pasted cells"), []byte(pasted), nil
	}
	return name, content, err
}

func importPath(id int64) string { return "/imports/" + kit.IDText(id) }

func readFile(r *http.Request) (name string, content []byte, err error) {
	name, content, err = kit.ReadFileOf(r, "file")
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return "", nil, fault.Field("file", "must not be larger than 16 MiB; use carteira import for larger files")
	}
	if err != nil {
		return "", nil, fault.Field("file", "choose a file")
	}
	return name, content, nil
}

type uploadData struct {
	Upload  intake.Upload
	Columns []columnData
	Passed  string // headings of columns that are passed over
	Lacks   string // fields that most files have and this one does not
	Form    *page.Form
	Percent int
	Ready   bool // checked, with something to import

	Problems   []groupData // with the names that the page has for fields
	Warnings   []groupData
	Duplicates []intake.Problem
	Rejected   bool // there are lines that were not, or will not be, imported
}

// groupData is some lines that have the same wrong with them, and what to do.
type groupData struct {
	intake.Group
	Fix, Label string // a choice of the form, and its button; "": a person must correct the file
}

type columnData struct {
	intake.Preview
	Options []page.Option
}

func (s *Server) uploadPage(req *kit.Request) error {
	return s.showUpload(req, page.NewForm(), nil)
}

func (s *Server) showUpload(req *kit.Request, form *page.Form, refusal error) error {
	upload, err := s.Intake.Upload(req.Context(), req.Actor, req.ID)
	if err != nil {
		return err
	}
	data := uploadDataOf(req, upload)
	data.Form = form
	if upload.State != intake.UploadNew {
		return req.Show("import_progress", "Import customers", data)
	}
	out := upload.Outcome
	data.Ready = out.Checked && out.Done.Skipped > 0
	if refusal == nil {
		data.Form = choicesForm(upload.Choices)
	}
	if data.Columns, err = columns(req, upload); err != nil {
		return err
	}
	data.Passed, data.Lacks = unread(req, data.Columns)
	return req.ShowForm("import_columns", "Import customers", refusal, data)
}

// uploadDataOf is what every page of an upload shows.
func uploadDataOf(req *kit.Request, upload intake.Upload) uploadData {
	out := upload.Outcome
	data := uploadData{
		Upload:     upload,
		Duplicates: namedProblems(req, out.Duplicates),
		Rejected:   out.Done.Failed > 0 || upload.Choices.SkipDuplicates && out.Done.Duplicates > 0,
	}
	area := ""
	lacksArea := func(group intake.Group) bool { return group.Reason == phone.ErrNoArea.Error() }
	if slices.ContainsFunc(out.Warnings, lacksArea) || slices.ContainsFunc(out.Problems, lacksArea) {
		area = upload.UsualArea()
	}
	data.Problems, data.Warnings = groupRows(req, out.Problems, area), groupRows(req, out.Warnings, area)
	passes := 2                       // the file is read once to check and once to write
	if upload.Choices.CreateMissing { // the plans' prices are read first
		passes++
	}
	data.Percent = min(100, 100*out.Lines/max(out.Total*passes, 1))
	return data
}

// groupRows are groups of lines as the page shows them, with the button that deals
// with each.
func groupRows(req *kit.Request, groups []intake.Group, area string) []groupData {
	rows := make([]groupData, len(groups))
	for n, group := range groups {
		row := groupData{Group: group}
		switch {
		case group.Reason == "does not exist" && group.Value != "":
			row.Fix, row.Label = "create_missing", req.Lang.T("Create")
		case group.Reason == phone.ErrNinth.Error():
			row.Fix, row.Label = "ninth_digit", req.Lang.T("Complete the ninth digit")
		case group.Reason == phone.ErrNoArea.Error() && area != "":
			row.Fix, row.Label = areaFix+area, req.Lang.T("Use the area code %s", area)
		}
		row.First = namedProblems(req, group.First)
		if name, known := fieldNames[group.Field]; known {
			row.Field = req.Lang.T(name.Label)
		}
		rows[n] = row
	}
	return rows
}

// areaFix comes before the area code in the value of a button.
const areaFix = "area_code="

func choicesForm(choices intake.Choices) *page.Form {
	return page.NewForm("keep_going", kit.BoolText(choices.KeepGoing), "create_missing", kit.BoolText(choices.CreateMissing),
		"invoices", kit.BoolText(choices.Invoices), "events", kit.BoolText(choices.Events), "leave_out",
		kit.BoolText(choices.LeaveOut), "skip_duplicates", kit.BoolText(choices.SkipDuplicates), "ninth_digit",
		kit.BoolText(choices.NinthDigit), "area_code", choices.AreaCode)
}

// namedProblems have the names that the page has for fields.
func namedProblems(req *kit.Request, list []intake.Problem) []intake.Problem {
	var named []intake.Problem
	for _, problem := range list {
		problem.Value = asWritten(problem.Field, problem.Value)
		if name, ok := fieldNames[problem.Field]; ok {
			problem.Field = req.Lang.T(name.Label)
		}
		named = append(named, problem)
	}
	return named
}

// asWritten is a value that was read as people write it; one that could not be read is as it was.
func asWritten(field, value string) string {
	switch field {
	case "value", "price":
		if amount, err := money.Parse(value); err == nil {
			return amount.BR()
		}
	case "whatsapp":
		if digits, read := strings.CutPrefix(value, "+"); read {
			return page.LocalPhone(digits)
		}
	case "data_de_vencimento":
		if day, err := civil.Parse(value); err == nil {
			return day.BR()
		}
	case "cpf_cnpj":
		if number, err := taxid.Parse(value); err == nil {
			return taxid.Format(number)
		}
	}
	return value
}

// fieldNames are what the fields of a file are called on a page.
var fieldNames = func() map[string]page.Option {
	names := map[string]page.Option{
		"name": {Label: "Name"}, "whatsapp": {Label: "WhatsApp"}, "email": {Label: "E-mail"},
		"usuario":            {Label: "Login"},
		"data_de_vencimento": {Label: "Due date"}, "plan": {Label: "Plan (by name)"},
		"value":   {Label: "Amount of the plan"},
		"product": {Label: "Product (by name)"}, "plan_id": {Label: "Plan (by id)"},
		"product_id": {Label: "Product (by id)"},
		"price":      {Label: "Own price"}, "cpf_cnpj": {Label: "CPF or CNPJ"},
		"address.cep": {Label: "CEP"}, "address.street": {Label: "Street"},
		"address.number": {Label: "House number"}, "address.complement": {Label: "Complement"},
		"address.district": {Label: "District"},
		"address.city":     {Label: "City"}, "address.state": {Label: "State"},
	}
	for _, text := range customer.Texts() {
		names[text.Name] = page.Option{Label: text.Label}
	}
	return names
}()

func columns(req *kit.Request, upload intake.Upload) ([]columnData, error) {
	preview, err := upload.Preview()
	if err != nil {
		return nil, err
	}
	options := []page.Option{{Value: "", Label: req.Lang.T("(pass over)")}}
	for _, field := range sheet.Fields() {
		options = append(options, page.Option{Value: field, Label: req.Lang.T(fieldNames[field].Label)})
	}
	list := make([]columnData, len(preview))
	for i, p := range preview {
		list[i] = columnData{p, options}
		if _, known := fieldNames[p.Field]; p.Field != "" && !known { // a field of the company's own
			list[i].Options = append(slices.Clone(options), page.Option{Value: p.Field, Label: p.Field})
		}
	}
	return list, nil
}

// unread says what an import would leave out without a word: columns, and what is charged by.
func unread(req *kit.Request, columns []columnData) (passed, lacks string) {
	var headings, fields []string
	has := map[string]bool{}
	for _, column := range columns {
		if has[column.Field] = true; column.Field == "" && column.Heading != "" {
			headings = append(headings, column.Heading)
		}
	}
	has["plan"] = has["plan"] || has["plan_id"] || has["value"]
	for _, field := range []string{"whatsapp", "data_de_vencimento", "plan"} {
		if !has[field] {
			fields = append(fields, req.Lang.T(fieldNames[field].Label))
		}
	}
	return strings.Join(headings, ", "), strings.Join(fields, ", ")
}

func (s *Server) checkUpload(req *kit.Request) error {
	fix := req.PostFormValue("fix")
	on := func(name string) bool { return fix == name || page.Sent(req.Request, nil).Value(name) == "true" }
	area, given := strings.CutPrefix(fix, areaFix)
	if !given {
		area = strings.TrimSpace(req.PostFormValue("area_code"))
	}
	_, err := s.Intake.CheckUpload(req.Context(), req.Actor, req.ID, intake.Choices{
		Fields:     req.PostForm["column"],
		NinthDigit: on("ninth_digit"),
		AreaCode:   area,
		ImportOptions: intake.ImportOptions{
			KeepGoing: on("keep_going"), CreateMissing: on("create_missing"), Invoices: on("invoices"), Events: on("events"),
			LeaveOut: on("leave_out"), SkipDuplicates: on("skip_duplicates"),
		},
	})
	if kit.Refused(err) {
		return s.showUpload(req, page.Sent(req.Request, err), err)
	}
	if err != nil {
		return err
	}
	page.Go(req.Writer, req.Request, importPath(req.ID)+"#checked")
	return nil
}

func (s *Server) startUpload(req *kit.Request) error {
	if err := s.Intake.StartUpload(req.Context(), req.Actor, req.ID, req.PostFormValue("keep_going") == "true"); err != nil {
		return req.Complain(importPath(req.ID), err)
	}
	page.Go(req.Writer, req.Request, importPath(req.ID))
	return nil
}

// rejectedRows sends the lines of an upload that are not imported: the columns
// of the file, the number of the line and what is wrong with it. Corrected, it
// can be uploaded again, since an import passes over columns that it does not
// know.
func (s *Server) rejectedRows(req *kit.Request) error {
	headings, records, err := s.Intake.Rejected(req.Context(), req.Actor, req.ID)
	if err != nil {
		return err
	}
	kit.SendCSV(req, "linhas-nao-importadas-"+kit.IDText(req.ID)+".csv", func(write func([]string) error) error {
		if err := write(kit.HarmlessRow(append(slices.Clone(headings), "linha", "motivo"))); err != nil {
			return err
		}
		for record := range records {
			if err := write(rejectedRow(req, len(headings), record)); err != nil {
				return err
			}
		}
		return nil
	})
	return nil
}

// rejectedRow is a line with its number and the reasons under their headings.
// Cells that no heading is for come behind them.
func rejectedRow(req *kit.Request, headings int, record intake.RejectedRecord) []string {
	row := make([]string, headings, headings+2)
	beyond := record.Fields[min(headings, len(record.Fields)):]
	copy(row, record.Fields)
	row = append(row, strconv.Itoa(record.Line), reasonsOf(req, record.Problems))
	return kit.HarmlessRow(append(row, beyond...))
}

func reasonsOf(req *kit.Request, problems []intake.Problem) string {
	var reasons []string
	for _, problem := range namedProblems(req, problems) {
		reason := req.Lang.Reason(problem.Reason)
		if problem.Field != "" {
			reason = problem.Field + ": " + reason
		}
		reasons = append(reasons, reason)
	}
	return strings.Join(reasons, "; ")
}
