package sqldb

// Window is where the ids of a page are taken from: first the ids, from an
// index alone, then the rows that they name. Joining before the offset is
// applied would make page 20,000 a thousand times as dear as page 1.
type Window struct {
	Source
	First     string // a column that orders before Order, the same way; "": none
	Ascending bool   // Order from the smallest on
	Limit     int64
	Offset    int64
}

// IDs is the statement that finds the ids, as id, with its arguments.
func (w Window) IDs() (text string, args []any) {
	direction := " DESC"
	if w.Ascending {
		direction = " ASC"
	}
	order := w.Order + direction
	if w.First != "" {
		order = w.First + direction + ", " + order
	}
	text = `SELECT ` + w.ID + ` AS id FROM ` + w.From + w.Where.String() + ` ORDER BY ` + order + ` LIMIT ? OFFSET ?`
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
