package intake

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer/sheet"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/phone"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/workbook"
	"carteira/internal/platform/worker"
)

// MaxUpload is the largest file that can be uploaded: about a hundred thousand
// customers. Larger ones go in by the command line.
const MaxUpload = 16 << 20

const (
	// uploadLife is how long a file waits to be imported, and its outcome to be
	// looked at.
	uploadLife = 3 * 24 * time.Hour
	// uploadStall is after how long a running import that no process speaks for
	// counts as broken off.
	uploadStall = time.Minute
	// uploadPulse is how often the importing process reports that it is alive and
	// how far it is.
	uploadPulse = time.Second
	// maxProblems is how many bad lines are shown one by one.
	maxProblems = 200
	sampleRows  = 5
)

// UploadState is how far an upload has come.
type UploadState string

// The states.
const (
	UploadNew     UploadState = "new"
	UploadRunning UploadState = "running"
	UploadDone    UploadState = "done"
	UploadFailed  UploadState = "failed" // broken off; what was written stays written
)

// Upload is a file of customers on its way in.
type Upload struct {
	ID        int64
	Name      string
	State     UploadState
	Choices   Choices
	Outcome   UploadOutcome
	CreatedAt time.Time

	content   []byte
	rejected  []rejectedLine // what a check or an import has found; nil: nothing new
	updatedAt time.Time
}

// Choices are what a person decides about an upload.
type Choices struct {
	ImportOptions
	Fields     []string `json:"fields"` // of each column; "": passed over
	NinthDigit bool     `json:"ninth_digit"`
	AreaCode   string   `json:"area_code"` // of phones that have none
}

// UploadOutcome is what a check or an import found.
type UploadOutcome struct {
	Checked    bool      `json:"checked"` // of the choices as they are
	Lines      int       `json:"lines"`   // read so far
	Total      int       `json:"total"`   // lines of the file, as the check counted them
	Done       Imported  `json:"done"`
	Problems   []Group   `json:"groups"`     // why lines are refused
	Warnings   []Group   `json:"changes"`    // what is imported otherwise than the file has it
	Duplicates []Problem `json:"duplicates"` // the first of them
	Reason     string    `json:"reason"`     // why it was broken off
}

// SaveUpload keeps a file. It is refused when it cannot be read as a table.
func (s *Service) SaveUpload(ctx context.Context, actor account.Actor, name string, content []byte) (Upload, error) {
	if len(content) > MaxUpload {
		return Upload{}, fault.Field("file", "must not be larger than 16 MiB; use carteira import for larger files")
	}
	if workbook.Is(content) { // what is kept is read many times, and CSV is cheaper to read
		lines, err := sheet.FromWorkbook(content)
		if err != nil {
			return Upload{}, fault.Field("file", err.Error())
		}
		content = lines
	}
	file, err := sheet.Open(bytes.NewReader(content))
	if err != nil {
		return Upload{}, fault.Field("file", err.Error())
	}
	choices := Choices{ImportOptions: ImportOptions{LeaveOut: true, SkipDuplicates: true, Invoices: true}}
	upload := Upload{Name: name, State: UploadNew, content: content, Choices: choices}
	for _, column := range file.Columns {
		upload.Choices.Fields = append(upload.Choices.Fields, column.Field)
	}
	err = actor.Write(ctx, s.db, func(tx account.Tx) (err error) {
		if err := roomForUpload(ctx, tx, int64(len(content))); err != nil {
			return err
		}
		upload.CreatedAt, upload.updatedAt = tx.Real(), tx.Real()
		upload.ID, err = insertUpload(ctx, tx, upload)
		return err
	})
	return upload, err
}

// Upload finds an upload, with how far it is when it is being imported.
func (s *Service) Upload(ctx context.Context, actor account.Actor, id int64) (Upload, error) {
	upload, err := uploadByID(ctx, s.db, actor.Company.ID, id)
	if err == nil && upload.State == UploadRunning && s.db.Real().Sub(upload.updatedAt) > uploadStall {
		upload.State, upload.Outcome.Reason = UploadFailed, "the import was broken off; check what was imported before you try again"
	}
	return upload, err
}

// open reads the file with its columns as they were named.
func (u Upload) open() (*sheet.Reader, error) {
	file, err := sheet.Open(bytes.NewReader(u.content))
	if err != nil {
		return nil, err
	}
	file.Phones = sheet.Phones{Area: u.Choices.AreaCode, Ninth: u.Choices.NinthDigit}
	for i := range file.Columns {
		file.Columns[i].Field = u.Choices.Fields[i]
	}
	return file, nil
}

// Preview is a column of an upload with its first values.
type Preview struct {
	sheet.Column
	Values []string
}

// Preview shows the beginning of an upload, column by column.
func (u Upload) Preview() ([]Preview, error) {
	file, err := u.open()
	if err != nil {
		return nil, err
	}
	columns := make([]Preview, len(file.Columns))
	for i, column := range file.Columns {
		columns[i].Column = column
	}
	for _, record := range file.Records() {
		if record == nil || len(columns[0].Values) == sampleRows { // what cannot be read ends it too
			break
		}
		record = append(record, make([]string, len(columns))...) // lines may end before the last column
		for i := range columns {
			columns[i].Values = append(columns[i].Values, record[i])
		}
	}
	return columns, nil
}

// UsualArea is the area code of most phones of the file that have one; "" where none has.
func (u Upload) UsualArea() string {
	times, usual := map[string]int{}, ""
	for row, err := range u.rows(func(int) {})() {
		if err != nil { // the check says what is wrong with the file
			break
		}
		number, brazilian := strings.CutPrefix(row.Values["whatsapp"], "+55")
		if !brazilian || len(number) < 10 || row.Faults.Get("whatsapp") != nil {
			continue
		}
		if times[number[:2]]++; times[number[:2]] > times[usual] {
			usual = number[:2]
		}
	}
	return usual
}

// rows walks the file, and counts the lines of every walk.
func (u Upload) rows(seen func(n int)) Rows {
	return func() iter.Seq2[sheet.Row, error] {
		return func(yield func(sheet.Row, error) bool) {
			file, err := u.open()
			if err != nil {
				yield(sheet.Row{}, err)
				return
			}
			n := 0
			for row, err := range file.All() {
				n++
				seen(n)
				if !yield(row, err) {
					return
				}
			}
		}
	}
}

// CheckUpload keeps what was chosen and says what an import would find.
func (s *Service) CheckUpload(ctx context.Context, actor account.Actor, id int64, choices Choices) (Upload, error) {
	upload, err := uploadByID(ctx, s.db, actor.Company.ID, id)
	if err != nil {
		return upload, err
	}
	if upload.State != UploadNew {
		return upload, fault.Conflict("this file has been imported already; upload it again to import it again")
	}
	if err := upload.choose(choices); err != nil {
		return upload, err
	}
	out := UploadOutcome{Checked: true}
	options := upload.options(&out)
	options.DryRun = true
	out.Done, err = s.Import(ctx, actor, upload.rows(func(n int) { out.Total = n }), options)
	if err != nil {
		return upload, fault.Field("file", err.Error())
	}
	upload.Outcome = out
	return upload, s.saveUpload(ctx, actor, upload, UploadNew)
}

func (u *Upload) choose(choices Choices) error {
	unknown := func(field string) bool { return field != "" && !sheet.IsField(field) }
	switch {
	case len(choices.Fields) != len(u.Choices.Fields) || slices.ContainsFunc(choices.Fields, unknown):
		return fault.Field("columns", "every column must be named or passed over")
	case !slices.Contains(choices.Fields, "name"):
		return fault.Field("columns", "one column must be the customer's name")
	case choices.AreaCode != "" && !phone.IsArea(choices.AreaCode):
		return fault.Field("area_code", "must be an area code of two digits that exists in Brazil")
	}
	u.Choices = choices
	return nil
}

// options are those of an import that writes down what it finds.
func (u *Upload) options(out *UploadOutcome) ImportOptions {
	u.rejected = []rejectedLine{}
	options := u.Choices.ImportOptions
	options.Problem = func(problem Problem) {
		out.Problems = addTo(out.Problems, problem)
		u.reject(problem)
	}
	options.Warning = func(problem Problem) { out.Warnings = addTo(out.Warnings, problem) }
	options.Duplicate = func(problem Problem) {
		if len(out.Duplicates) < maxProblems {
			out.Duplicates = append(out.Duplicates, problem)
		}
		if options.SkipDuplicates {
			u.reject(problem)
		}
	}
	return options
}

func (s *Service) saveUpload(ctx context.Context, actor account.Actor, upload Upload, from UploadState) error {
	return actor.Write(ctx, s.db, func(tx account.Tx) error { return updateUpload(ctx, tx, upload, from) })
}

// StartUpload imports a file that was checked, in the background. It is
// started once, however often it is asked for. With keepGoing the good lines are
// imported although others are bad.
func (s *Service) StartUpload(ctx context.Context, actor account.Actor, id int64, keepGoing bool) error {
	upload, err := uploadByID(ctx, s.db, actor.Company.ID, id)
	if err != nil {
		return err
	}
	if upload.State != UploadNew || !upload.Outcome.Checked {
		return fault.Conflict("check the file first; a file is imported once")
	}
	upload.State = UploadRunning
	upload.Choices.KeepGoing = upload.Choices.KeepGoing || keepGoing
	if err := s.saveUpload(ctx, actor, upload, UploadNew); err != nil {
		return err
	}
	go s.runUpload(context.WithoutCancel(ctx), actor, upload)
	return nil
}

// runUpload imports a file and writes down how far it is, so that other processes
// know that it goes on.
func (s *Service) runUpload(ctx context.Context, actor account.Actor, upload Upload) {
	running := upload
	out := UploadOutcome{Checked: true, Total: upload.Outcome.Total}
	options := upload.options(&out)
	options.finished = func(ctx context.Context, tx *sqldb.Tx, done Imported) error {
		return updateUpload(ctx, actor.In(tx), upload.ended(out, done, nil), UploadRunning)
	}
	var lines atomic.Int64
	over := make(chan Upload)
	go func() {
		var done Imported
		err := worker.Guard(ctx, func() (err error) {
			done, err = s.Import(ctx, actor, upload.rows(func(int) { lines.Add(1) }), options)
			return err
		})
		over <- upload.ended(out, done, err)
	}()
	for pulse := time.Tick(uploadPulse); ; {
		select {
		case ended := <-over:
			// What was not written down shows as broken off. An import of all rows was,
			// together with them.
			_ = s.saveUpload(ctx, actor, ended, UploadRunning)
			return
		case <-pulse:
			running.Outcome.Lines = int(lines.Load())
			_ = s.saveUpload(ctx, actor, running, UploadRunning) // the next one may do better
		}
	}
}

// ended is the upload after its import.
func (u Upload) ended(out UploadOutcome, done Imported, err error) Upload {
	out.Done, out.Lines = done, out.Total
	u.State, u.Outcome = UploadDone, out
	if err != nil {
		u.State, u.Outcome.Reason = UploadFailed, fault.Public(err)
	}
	return u
}

// PruneUploads removes files that are not needed any more.
func (s *Service) PruneUploads(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		return pruneUploads(ctx, tx, tx.Real().Add(-uploadLife))
	})
}
