package sqldb

import (
	"cmp"
	"context"
	"slices"
)

// Window is where the ids of a page are taken from: first the ids, from an
// index alone, then the rows that they name. Joining before the offset is
// applied would make page 20,000 a thousand times as dear as page 1.
type Window struct {
	Source
	First     string // a column that orders before Order, the same way; "": none
	Ascending bool   // Order from the smallest on
	Whole     bool   // every row matches
	Planned   bool   // one plan is the best, whatever the values, as Planned has it
	Limit     int64
	Offset    int64
}

// NearOffset is up to where a page of a whole list is read on one walk along its
// rows. Past it the rows that are skipped would cost more than looking up those
// that are not.
const NearOffset = 200

// Reading is how the rows of a page are read: columns of a table that is called
// by an alias, and of others that are joined to it.
type Reading[T any] struct {
	Columns, Table, Alias, Joins string
	Owner                        string                     // the column that says whose rows they are; "": company_id
	Scanner                      func() func(Row, *T) error // for the rows of one page, one after the other
	ID                           func(T) int64
	// Beside reads what many rows have in common, in place of a join that would
	// look it up for each of them; nil: nothing.
	Beside func(ownerID int64) Beside[T]
}

// Beside is what the rows of a page refer to, read with them.
type Beside[T any] interface {
	// Statements read what the rows most likely refer to. They run before the rows
	// are read: what a row refers to was then there, or is new.
	Statements() []Statement
	// Complete puts it into the rows, and looks up what is missing. It changes
	// nothing that the statements have read: other pages are completed with it.
	Complete(ctx context.Context, querier Querier, list []T) error
}

// besideKey is under which what pages of a table refer to is remembered.
type besideKey struct {
	table   string
	ownerID int64
}

// roomForRows is for how many rows there is room from the beginning.
const roomForRows = 64

// Rows reads the owner's rows of a window, those with the greatest ids first. On
// PostgreSQL the statements before them are sent in the same flight.
func (r Reading[T]) Rows(
	ctx context.Context,
	querier Querier,
	ownerID int64,
	window Window,
	before ...Statement,
) ([]T, error) {
	var beside Beside[T]
	known := true
	if r.Beside != nil {
		if beside, known = Recall[Beside[T]](ctx, besideKey{r.Table, ownerID}); !known {
			beside = r.Beside(ownerID)
			before = append(before, beside.Statements()...)
		}
	}
	if window.Planned {
		before = append(planOnce(querier), before...)
	}
	list := make([]T, 0, max(0, min(window.Limit, roomForRows)))
	scan := r.Scanner()
	text, args := r.statement(ownerID, window)
	err := Together(ctx, querier, append(before, Statement{Text: text, Args: args, Scan: func(row Row) error {
		var empty T
		list = append(list, empty)
		return scan(row, &list[len(list)-1])
	}})...)
	if err == nil && !known {
		Remember(ctx, besideKey{r.Table, ownerID}, beside)
	}
	if err == nil && beside != nil {
		err = beside.Complete(ctx, querier, list)
	}
	if !r.walks(window) || window.Ascending {
		slices.SortFunc(list, func(a, b T) int { return cmp.Compare(r.ID(b), r.ID(a)) })
	}
	return list, err
}

// walks reports whether the rows of a window are read in their order, along the
// index of the whole list.
func (r Reading[T]) walks(window Window) bool {
	return window.Whole && window.Offset <= NearOffset && r.Joins == ""
}

// statement reads the rows of a window, in any order unless it walks.
func (r Reading[T]) statement(ownerID int64, window Window) (text string, args []any) {
	if r.walks(window) {
		return window.find(r.Columns)
	}
	if window.Whole && window.Offset <= NearOffset {
		page, args := window.find(r.Alias + ".*")
		return `SELECT ` + r.Columns + ` FROM (` + page + `) AS ` + r.Alias + r.Joins, args
	}
	// CROSS JOIN makes SQLite begin with the ids; left to itself it reads all rows
	// of the company.
	page, args := window.IDs()
	return `WITH page AS MATERIALIZED (` + page + `)
		SELECT ` + r.Columns + ` FROM page CROSS JOIN ` + r.Table + ` ` + r.Alias + r.Joins + `
		WHERE ` + r.Alias + `.id = page.id AND ` + r.Alias + `.` + cmp.Or(r.Owner, "company_id") + ` = ?`, append(args, ownerID)
}

// IDs is the statement that finds the ids, as id, with its arguments.
func (w Window) IDs() (text string, args []any) { return w.find(w.ID + " AS id") }

func (w Window) find(columns string) (text string, args []any) {
	direction := " DESC"
	if w.Ascending {
		direction = " ASC"
	}
	order := w.Order + direction
	if w.First != "" {
		order = w.First + direction + ", " + order
	}
	text = `SELECT ` + columns + ` FROM ` + w.From + w.Where.String() + ` ORDER BY ` + order + ` LIMIT ? OFFSET ?`
	return text, append(append([]any{}, w.Where.Args...), w.Limit, w.Offset)
}

// FromNearerEnd is the same part of so many matches, counted from the end of the
// list that is nearer to it.
func (w Window) FromNearerEnd(matches int64) Window {
	if w.Offset > matches/2 {
		w.Ascending = !w.Ascending
		w.Limit = min(w.Limit, matches-w.Offset)
		w.Offset = matches - w.Offset - w.Limit
	}
	return w
}
