package intake

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"

	"carteira/internal/account"
	"carteira/internal/customer/sheet"
	"carteira/internal/platform/fault"
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
		return nil, nil // NULL is the value
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

// Group is what several lines have in common: a plan that does not exist, phones
// without a ninth digit.
type Group struct {
	Field  string    `json:"field"`
	Value  string    `json:"value"` // that all of them have; "": it differs
	Reason string    `json:"reason"`
	Count  int       `json:"count"`
	First  []Problem `json:"first"` // the first of them
}

const (
	maxGroups = 40
	maxFirst  = 8 // lines that are shown of a group
)

// addTo counts a problem among those that are alike. A missing plan or product is
// another problem for each name. What fits no group any more is counted with the last.
func addTo(groups []Group, problem Problem) []Group {
	value := ""
	if problem.Field == "plan" || problem.Field == "product" {
		value = problem.Value
	}
	n := slices.IndexFunc(groups, func(group Group) bool {
		return group.Field == problem.Field && group.Reason == problem.Reason && group.Value == value
	})
	switch {
	case n >= 0:
	case len(groups) == maxGroups:
		n = maxGroups - 1
	default:
		groups = append(groups, Group{Field: problem.Field, Value: value, Reason: problem.Reason})
		n = len(groups) - 1
	}
	groups[n].Count++
	if len(groups[n].First) < maxFirst {
		groups[n].First = append(groups[n].First, problem)
	}
	return groups
}

// roomForUpload makes room for a file by removing those that were imported
// longest ago and then those that were uploaded longest ago, and refuses it when
// those that are being imported leave none. A person who corrects a file uploads
// it many times. The company is locked, so that two at once cannot both be the last.
func roomForUpload(ctx context.Context, tx account.Tx, size int64) error {
	if err := account.LockTx(ctx, tx); err != nil {
		return err
	}
	bounds := tx.Company.Bounds()
	if size > bounds.UploadBytes {
		return fault.Field("file", "is larger than the company may upload")
	}
	kept, err := uploadSizes(ctx, tx, tx.Company.ID)
	if err != nil {
		return err
	}
	count, bytes := int64(len(kept)), size
	for _, uploadSize := range kept {
		bytes += uploadSize.bytes
	}
	slices.SortStableFunc(kept, func(a, b uploadSize) int { return cmp.Compare(a.state.rank(), b.state.rank()) }) // the oldest of each first
	for _, uploadSize := range kept {
		if count < bounds.Uploads && bytes <= bounds.UploadBytes || uploadSize.state == UploadRunning {
			break
		}
		if err := deleteUpload(ctx, tx, uploadSize.id); err != nil {
			return err
		}
		count, bytes = count-1, bytes-uploadSize.bytes
	}
	if count >= bounds.Uploads || bytes > bounds.UploadBytes {
		return fault.Field("file", "too many files are being imported; wait until one is done")
	}
	return nil
}

// runningUploads is how far the imports of this process have come.
type runningUploads struct {
	mu   sync.Mutex
	read map[int64]int
}

func (r *runningUploads) begin(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.read == nil {
		r.read = map[int64]int{}
	}
	r.read[id] = 0
}

func (r *runningUploads) step(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read[id]++
}

func (r *runningUploads) end(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.read, id)
}

func (r *runningUploads) lines(id int64) (int, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, ok := r.read[id]
	return n, ok
}
