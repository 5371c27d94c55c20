package sqldb

import (
	"context"
	"encoding/binary"
)

// EachID calls visit for the id of every match, in any order. The ids come in one
// value: a row that leaves the database costs more than to walk over it.
func (s Source) EachID(ctx context.Context, querier Querier, visit func(id int64)) error {
	var list []byte
	text := `SELECT {list of ` + s.ID + `} FROM ` + s.From + s.Where.String()
	if err := Each(ctx, querier, text, s.Where.Args, func(row Row) error { return row.Scan(&list) }); err != nil {
		return err
	}
	for ; len(list) >= idSize; list = list[idSize:] {
		visit(int64(binary.BigEndian.Uint64(list))) //nolint:gosec // its bits
	}
	return nil
}

// idSize is how many bytes an id has in a list of them.
const idSize = 8
