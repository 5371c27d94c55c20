package intake

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer/sheet"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/phone"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/workbook"
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
	// uploadPulse is how often the importing process reports that it is alive.
	uploadPulse = 5 * time.Second
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

// rank is how dear an upload is: one that was imported goes first when room is needed.
func (s UploadState) rank() int { return slices.Index([]UploadState{UploadNew, UploadRunning}, s) }

// Upload is a file of customers on its way in.
type Upload struct {
	ID        int64
	Name      string
	State     UploadState
	Choices   Choices
	Outcome   UploadOutcome
	CreatedAt time.Time

	content   []byte
	rejected  *rejected // what a check or an import has found; nil: nothing new
	updatedAt time.Time
}

// Choices are what a person decides about an upload.
type Choices struct {
	Fields         []string `json:"fields"` // of each column; "": passed over
	KeepGoing      bool     `json:"keep_going"`
	CreateMissing  bool     `json:"create_missing"`
	Invoices       bool     `json:"invoices"`
	Events         bool     `json:"events"`
	LeaveOut       bool     `json:"leave_out"`
	SkipDuplicates bool     `json:"skip_duplicates"`
	NinthDigit     bool     `json:"ninth_digit"`
	AreaCode       string   `json:"area_code"` // of phones that have none
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
	upload := Upload{
		Name:    name,
		State:   UploadNew,
		content: content,
		Choices: Choices{LeaveOut: true, SkipDuplicates: true, Invoices: true},
	}
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

// Upload finds an upload, with its progress when this process runs it.
func (s *Service) Upload(ctx context.Context, actor account.Actor, id int64) (Upload, error) {
	upload, err := uploadByID(ctx, s.db, actor.Company.ID, id)
	if err != nil || upload.State != UploadRunning {
		return upload, err
	}
	if lines, here := s.running.lines(id); here {
		upload.Outcome.Lines = lines
	} else if s.db.Real().Sub(upload.updatedAt) > uploadStall {
		upload.State, upload.Outcome.Reason = UploadFailed, "the import was broken off; check what was imported before you try again"
	}
	return upload, nil
}

// Preview is the columns of an upload with their first values.
type Preview struct {
	Heading string
	Field   string
	Values  []string
}

// Preview shows the beginning of an upload, column by column.
func (u Upload) Preview() ([]Preview, error) {
	file, err := sheet.Open(bytes.NewReader(u.content))
	if err != nil {
		return nil, err
	}
	columns := make([]Preview, len(file.Columns))
	for i, column := range file.Columns {
		columns[i] = Preview{Heading: column.Heading, Field: u.Choices.Fields[i]}
	}
	for _, record := range file.Sample(sampleRows) {
		for i := range columns {
			value := ""
			if i < len(record) {
				value = record[i]
			}
			columns[i].Values = append(columns[i].Values, value)
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
		if !brazilian || len(number) < 10 {
			continue
		}
		if times[number[:2]]++; times[number[:2]] > times[usual] {
			usual = number[:2]
		}
	}
	return usual
}

// rows reads the file with its columns as they were named.
func (u Upload) rows(seen func(n int)) Rows {
	return func() iter.Seq2[sheet.Row, error] {
		return func(yield func(sheet.Row, error) bool) {
			file, err := sheet.Open(bytes.NewReader(u.content))
			if err != nil {
				yield(sheet.Row{}, err)
				return
			}
			file.LeaveOut = u.Choices.LeaveOut
			file.Phones = sheet.Phones{Area: u.Choices.AreaCode, Ninth: u.Choices.NinthDigit}
			for i := range file.Columns {
				file.Columns[i].Field = u.Choices.Fields[i]
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
	upload.rejected = &rejected{}
	options := upload.options(&out)
	options.DryRun = true
	out.Done, err = s.Import(ctx, actor, upload.rows(func(n int) { out.Total = max(out.Total, n) }), options)
	if err != nil {
		return upload, fault.Field("file", err.Error())
	}
	upload.Outcome = out
	return upload, s.saveUpload(ctx, actor, upload, UploadNew)
}

func (u *Upload) choose(choices Choices) error {
	if len(choices.Fields) != len(u.Choices.Fields) {
		return fault.Field("columns", "every column must be named or passed over")
	}
	named := map[string]bool{}
	for _, field := range choices.Fields {
		if field != "" && !sheet.IsField(field) {
			return fault.Field("columns", "every column must be named or passed over")
		}
		named[field] = true
	}
	if !named["name"] {
		return fault.Field("columns", "one column must be the customer's name")
	}
	if choices.AreaCode != "" && !phone.IsArea(choices.AreaCode) {
		return fault.Field("area_code", "must be an area code of two digits that exists in Brazil")
	}
	u.Choices = choices
	return nil
}

func (u Upload) options(out *UploadOutcome) ImportOptions {
	choices := u.Choices
	return ImportOptions{
		KeepGoing:      choices.KeepGoing,
		CreateMissing:  choices.CreateMissing,
		Invoices:       choices.Invoices,
		Events:         choices.Events,
		LeaveOut:       choices.LeaveOut,
		SkipDuplicates: choices.SkipDuplicates,
		Problem: func(problem Problem) {
			out.Problems = addTo(out.Problems, problem)
			u.rejected.add(problem)
		},
		Warning: func(problem Problem) { out.Warnings = addTo(out.Warnings, problem) },
		Duplicate: func(problem Problem) {
			out.Duplicates = addFirst(out.Duplicates, problem)
			if choices.SkipDuplicates {
				u.rejected.add(problem)
			}
		},
	}
}

// addFirst adds a problem, unless there are enough to show.
func addFirst(list []Problem, problem Problem) []Problem {
	if len(list) == maxProblems {
		return list
	}
	return append(list, problem)
}

func (s *Service) saveUpload(ctx context.Context, actor account.Actor, upload Upload, from UploadState) error {
	return actor.Write(ctx, s.db, func(tx account.Tx) error {
		changed, err := updateUpload(ctx, tx, upload, from)
		if err == nil && !changed { // by another request at this moment
			err = fault.Conflict("this file is being imported already")
		}
		return err
	})
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
	s.running.begin(id)
	go s.runUpload(context.WithoutCancel(ctx), actor, upload)
	return nil
}

func (s *Service) runUpload(ctx context.Context, actor account.Actor, upload Upload) {
	defer s.running.end(upload.ID)
	out := UploadOutcome{Checked: true, Total: upload.Outcome.Total}
	quiet := s.pulse(ctx, actor, upload)
	upload.rejected = &rejected{}
	options := upload.options(&out)
	options.finished = func(ctx context.Context, tx *sqldb.Tx, done Imported) error {
		return s.endUpload(ctx, actor.In(tx), upload.ended(out, done, nil))
	}
	done, err := s.Import(ctx, actor, upload.rows(func(int) { s.running.step(upload.ID) }), options)
	quiet()
	// What was not written down shows as broken off. An import of all rows was,
	// together with them.
	_ = s.saveUpload(ctx, actor, upload.ended(out, done, err), UploadRunning)
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

// endUpload writes down in the transaction of an import that the upload has
// been imported: after a crash it shows as broken off if it was not, and only
// then.
func (s *Service) endUpload(ctx context.Context, tx account.Tx, upload Upload) error {
	running, err := updateUpload(ctx, tx, upload, UploadRunning)
	if err == nil && !running {
		err = fault.Conflict("this file is not being imported any more")
	}
	return err
}

// pulse writes down how far an import has come, so that other processes know
// that it goes on, until what it returns is called.
func (s *Service) pulse(ctx context.Context, actor account.Actor, upload Upload) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		ticker := time.NewTicker(uploadPulse)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				upload.Outcome.Lines, _ = s.running.lines(upload.ID)
				_ = s.saveUpload(ctx, actor, upload, UploadRunning) // the next one may do better
			}
		}
	})
	return func() {
		cancel()
		done.Wait()
	}
}

// PruneUploads removes files that are not needed any more.
func (s *Service) PruneUploads(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		return pruneUploads(ctx, tx, tx.Real().Add(-uploadLife))
	})
}
