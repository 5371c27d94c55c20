package intake

import (
	"bytes"
	"context"
	"encoding/json"

	"carteira/internal/account"
	"carteira/internal/customer/sheet"
)

// maxRejected is how many lines are kept with their reasons: more than the
// largest upload of customers has. A file of empty names has more.
const maxRejected = 100_000

// rejected are the lines of an upload that were not imported, in their order.
type rejected struct{ lines []rejectedLine }

// rejectedLine is a line with what is wrong with it. The values are in the file.
type rejectedLine struct {
	Line     int       `json:"line"`
	Problems []Problem `json:"problems"`
}

// add keeps a problem. Those of a line come one after the other.
func (r *rejected) add(problem Problem) {
	problem.Value = ""
	last := len(r.lines) - 1
	switch {
	case last >= 0 && r.lines[last].Line == problem.Line:
		r.lines[last].Problems = append(r.lines[last].Problems, problem)
	case len(r.lines) < maxRejected:
		r.lines = append(r.lines, rejectedLine{problem.Line, []Problem{problem}})
	}
}

// column is the stored form; nil leaves what is stored.
func (r *rejected) column() (any, error) {
	if r == nil {
		return nil, nil //nolint:nilnil // NULL is the value
	}
	text, err := json.Marshal(r.lines)
	return string(text), err
}

// RejectedRecord is a line of an upload that was not imported.
type RejectedRecord struct {
	Line     int
	Fields   []string // as the file has them; none where the line cannot be read
	Problems []Problem
}

// RejectedFile are the lines of an upload that were not imported.
type RejectedFile struct {
	Headings []string // of the upload

	upload Upload
	by     map[int][]Problem
}

// Rejected returns the lines of an upload that its last check refused or its
// import left out, so that a person can correct them and upload them again.
func (s *Service) Rejected(ctx context.Context, actor account.Actor, id int64) (RejectedFile, error) {
	upload, err := uploadByID(ctx, s.db, actor.Company.ID, id)
	if err != nil {
		return RejectedFile{}, err
	}
	found, err := rejectedOf(ctx, s.db, actor.Company.ID, id)
	if err != nil {
		return RejectedFile{}, err
	}
	file := RejectedFile{upload: upload, by: make(map[int][]Problem, len(found.lines))}
	for _, line := range found.lines {
		file.by[line.Line] = append(file.by[line.Line], line.Problems...)
	}
	columns, err := upload.Preview()
	for _, column := range columns {
		file.Headings = append(file.Headings, column.Heading)
	}
	return file, err
}

// Each calls visit for each line, in their order. The fields are good until it
// returns.
func (f RejectedFile) Each(visit func(RejectedRecord) error) error {
	file, err := sheet.Open(bytes.NewReader(f.upload.content))
	if err != nil {
		return err
	}
	for line, fields := range file.Records() {
		problems, rejected := f.by[line]
		if !rejected {
			continue
		}
		if err := visit(RejectedRecord{line, fields, problems}); err != nil {
			return err
		}
	}
	return nil
}
