package sqldb

// Window is where the ids of a page are taken from: first the ids, from an
// index alone, then the rows that they name. Joining before the offset is
// applied would make page 20,000 a thousand times as dear as page 1.
type Window struct {
	Source
	First     string // a column that orders before Order, the same way; "": none
	Ascending bool   // Order from the smallest on
	Whole     bool   // every row matches
	Limit     int64
	Offset    int64
}

// nearOffset is up to where a page of a whole list is read on one walk along its
// rows. Past it the rows that are skipped would cost more than looking up those
// that are not.
const nearOffset = 200

// Reading is what is read of a row: columns of a table that is called by an
// alias, and of others that are joined to it.
type Reading struct{ Columns, Table, Alias, Joins string }

// Rows is the statement that reads the rows of the window in any order, with its
// arguments.
func (w Window) Rows(what Reading, companyID int64) (text string, args []any) {
	if w.Whole && w.Offset <= nearOffset {
		page, args := w.find(what.Alias + ".*")
		return `SELECT ` + what.Columns + ` FROM (` + page + `) AS ` + what.Alias + what.Joins, args
	}
	// CROSS JOIN makes SQLite begin with the ids; left to itself it reads all rows
	// of the company.
	page, args := w.IDs()
	return `WITH page AS MATERIALIZED (` + page + `)
		SELECT ` + what.Columns + ` FROM page CROSS JOIN ` + what.Table + ` ` + what.Alias + what.Joins + `
		WHERE ` + what.Alias + `.id = page.id AND ` + what.Alias + `.company_id = ?`, append(args, companyID)
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
