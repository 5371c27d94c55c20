package intake

import (
	"context"
	"iter"
	"slices"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
)

// maxRejected is how many lines are kept with their reasons: more than the
// largest upload of customers has. A file of empty names has more.
const maxRejected = 100_000

// rejectedLine is a line with what is wrong with it. The values are in the file.
type rejectedLine struct {
	Line     int       `json:"line"`
	Problems []Problem `json:"problems"`
}

// reject keeps a problem. Those of a line come one after the other.
func (u *Upload) reject(problem Problem) {
	problem.Value = ""
	last := len(u.rejected) - 1
	switch {
	case last >= 0 && u.rejected[last].Line == problem.Line:
		u.rejected[last].Problems = append(u.rejected[last].Problems, problem)
	case len(u.rejected) < maxRejected:
		u.rejected = append(u.rejected, rejectedLine{problem.Line, []Problem{problem}})
	}
}

// RejectedRecord is a line of an upload that was not imported.
type RejectedRecord struct {
	Line     int
	Fields   []string // as the file has them, until the next; none where the line cannot be read
	Problems []Problem
}

// Rejected returns the headings of an upload, and the lines that its last check
// refused or its import left out, once and in their order, so that a person can
// correct them and upload them again.
func (s *Service) Rejected(ctx context.Context, actor account.Actor, id int64) ([]string, iter.Seq[RejectedRecord], error) {
	upload, err := uploadByID(ctx, s.db, actor.Company.ID, id)
	if err != nil {
		return nil, nil, err
	}
	lines, err := rejectedOf(ctx, s.db, actor.Company.ID, id)
	if err != nil {
		return nil, nil, err
	}
	problems := make(map[int][]Problem, len(lines))
	for _, line := range lines {
		problems[line.Line] = append(problems[line.Line], line.Problems...)
	}
	file, err := upload.open()
	if err != nil {
		return nil, nil, err
	}
	var headings []string
	for _, column := range file.Columns {
		headings = append(headings, column.Heading)
	}
	return headings, func(yield func(RejectedRecord) bool) {
		for line, fields := range file.Records() {
			if wrong := problems[line]; wrong != nil && !yield(RejectedRecord{line, fields, wrong}) {
				return
			}
		}
	}, nil
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
	if n < 0 && len(groups) < maxGroups {
		groups = append(groups, Group{Field: problem.Field, Value: value, Reason: problem.Reason})
	}
	if n < 0 {
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
	bytes := size
	for _, upload := range kept {
		bytes += upload.bytes
	}
	for int64(len(kept)) >= bounds.Uploads || bytes > bounds.UploadBytes {
		next := kept[0]
		if next.state == UploadRunning {
			return fault.Field("file", "too many files are being imported; wait until one is done")
		}
		if err := deleteUpload(ctx, tx, next.id); err != nil {
			return err
		}
		kept, bytes = kept[1:], bytes-next.bytes
	}
	return nil
}
