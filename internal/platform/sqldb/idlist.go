package sqldb

import (
	"context"
	"encoding/binary"
)

// EachID calls visit for the id of every match, in any order. The ids come in one
// value: a row that leaves the database costs more than to walk over it.
func (s Source) EachID(ctx context.Context, querier Querier, visit func(id int64)) error {
	return eachListed(ctx, querier, `SELECT {list of `+s.ID+`} FROM `+s.From+s.Where.String(), s.Where.Args, func(id int64) error {
		visit(id)
		return nil
	})
}

// eachListed calls visit for every id of the list that a statement returns, in the order
// in which it was made.
func eachListed(ctx context.Context, querier Querier, text string, args []any, visit func(id int64) error) error {
	var list []byte
	if err := Each(ctx, querier, text, args, func(row Row) error { return row.Scan(&list) }); err != nil {
		return err
	}
	for ; len(list) >= idSize; list = list[idSize:] {
		if err := visit(int64(binary.BigEndian.Uint64(list))); err != nil { //nolint:gosec // its bits
			return err
		}
	}
	return nil
}

// idSize is how many bytes an id has in a list of them.
const idSize = 8
