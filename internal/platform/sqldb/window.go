package sqldb

// Window is where the ids of a page are taken from: first the ids, from an
// index alone, then the rows that they name. Joining before the offset is
// applied would make page 20,000 a thousand times as dear as page 1.
type Window struct {
	Source
	Ascending bool // counted from the end of the list
	Limit     int64
	Offset    int64
}

// IDs is the statement that finds the ids, as id, with its arguments.
func (w Window) IDs() (text string, args []any) {
	direction := " DESC"
	if w.Ascending {
		direction = " ASC"
	}
	text = `SELECT ` + w.ID + ` AS id FROM ` + w.From + w.Where.String() + ` ORDER BY ` + w.Order + direction +
		` LIMIT ? OFFSET ?`
	return text, append(append([]any{}, w.Where.Args...), w.Limit, w.Offset)
}
