// Package listing reads pages of one table of a company: which rows, in which
// order, how many in all. Every list of the program is a Table, and what a
// caller asks of it is a Query:
//
//	var table = listing.Table[Customer]{
//		From: "customers c", ID: "c.id", Owner: "c.company_id",
//		Columns: "c.id, c.name", Scan: scan, RowID: func(c Customer) int64 { return c.ID },
//		Orders: map[string]listing.Order{input.ByName: {Column: "c.name_key"}},
//		Texts:  listing.Texts{From: "customer_texts t", Owner: "t.company_id", Text: "t.text", ID: "t.id"},
//	}
//	query := listing.Query{CompanyID: 7, Sort: "-name", Search: []listing.Term{{"silva"}}}
//	query.Where.And("c.plan_id + 0 = ?", 3)
//	list, total, err := table.Page(ctx, db, query, page)
//
// There are two ways to a page. Without a search, the total comes from a counter
// or a count, and the ids of the page along the index of the order, from the
// nearer end of the list. With a search, the company's texts are read from end to
// end, which finds the ids of all matches in their order, and so the total. Rows
// are read by their ids at the end of both. Nothing is kept between two calls.
//
// The index of an order begins with the owner, then its column, then the id. It
// is best to have the columns of the usual conditions in it too: the conditions
// are then checked along the index, without the rows. A condition that another
// index has should keep planners from it by an expression, as in the example:
// they would find the rows there, and sort all of them.
package listing

import (
	"context"
	"slices"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// Table is a table that can be listed.
type Table[T any] struct {
	From  string // with its alias: "customers c"
	ID    string // "c.id"
	Owner string // the column of the owner: "c.company_id"
	// Visible is a condition on the id of a row, in whichever column it is, that
	// every row of the list meets; nil: there is none.
	Visible func(id string) string
	Columns string
	Joins   string // what Columns need besides From
	Scan    func(sqldb.Row) (T, error)
	RowID   func(T) int64
	Orders  map[string]Order // by the field of a sort; ids need none
	Texts   Texts
	// Refs completes the rows of a page with what they refer to; nil: nothing.
	Refs func(ctx context.Context, querier sqldb.Querier, companyID int64, page []T) error
}

// Order is what a list can be sorted by. The id breaks ties, in the same
// direction.
type Order struct {
	Column string
	// Last is a condition: rows for which it holds come after all others, in
	// either direction. "": there are none.
	Last string
	// From begins with another table and walks along its index, and On joins the
	// list's table to it. "": Column is one of the list's table.
	From, On string
}

// Texts is where the folded texts are that a search reads; the zero Texts has
// none.
type Texts struct {
	From  string // a narrow table with its alias; "": Text is a column of the list's table
	Owner string // its column of the company
	Text  string
	ID    string // its column with the id of the list's row, where each row has one text
	On    string // joins the list's table to it; "": the ids are equal
}

// Term is a text that must be contained, as it is or in another spelling.
type Term []string

// Query is what is wanted of a table.
type Query struct {
	CompanyID int64
	Where     sqldb.Where
	Search    []Term     // all of which must be contained; empty: anything
	Sort      input.Sort // "": newest first
	// Total knows how many rows match without a search; nil: they are counted.
	Total func(ctx context.Context) (int64, error)
}

// Page returns the rows of a page, and how many there are on all pages.
func (t *Table[T]) Page(ctx context.Context, querier sqldb.Querier, query Query, page input.Page) ([]T, int64, error) {
	if page.Sort != "" {
		query.Sort = page.Sort
	}
	if len(query.Search) > 0 {
		ids, err := t.IDs(ctx, querier, query)
		if err != nil {
			return nil, 0, err
		}
		total := int64(len(ids))
		list, err := t.Rows(ctx, querier, query.CompanyID, ids[min(page.Offset(), total):min(page.Offset()+page.Size, total)])
		return list, total, err
	}
	total, err := t.Count(ctx, querier, query)
	if err != nil || page.Offset() >= total {
		return []T{}, total, err
	}
	list, err := t.window(ctx, querier, query, window{page.Offset(), min(page.Size, total-page.Offset())}, total)
	return list, total, err
}

// First returns the first rows, without a look at how many there are.
func (t *Table[T]) First(ctx context.Context, querier sqldb.Querier, query Query, limit int64) ([]T, error) {
	text, args := t.ids(querier.Engine(), query)
	ids, err := sqldb.Values[int64](ctx, querier, text+" LIMIT ?", append(args, limit)...)
	if err != nil {
		return nil, err
	}
	return t.Rows(ctx, querier, query.CompanyID, ids)
}

// Count is how many rows match.
func (t *Table[T]) Count(ctx context.Context, querier sqldb.Querier, query Query) (int64, error) {
	if len(query.Search) == 0 && query.Total != nil {
		return query.Total(ctx)
	}
	query.Sort = input.Newest
	from, where := t.matches(querier.Engine(), query)
	return sqldb.Value[int64](ctx, querier, `SELECT COUNT(*) FROM `+from+where.String(), where.Args...)
}

// IDs returns the ids of all rows that match, in their order.
func (t *Table[T]) IDs(ctx context.Context, querier sqldb.Querier, query Query) ([]int64, error) {
	text, args := t.ids(querier.Engine(), query)
	return sqldb.Values[int64](ctx, querier, text, args...)
}

// eachBatch is how many rows Each has in memory.
const eachBatch = 500

// Each calls do for every row that matches when it is called, in their order. No
// statement is open while do runs, so a slow reader keeps nothing waiting. A row
// that is deleted meanwhile is left out.
func (t *Table[T]) Each(ctx context.Context, querier sqldb.Querier, query Query, do func(T) error) error {
	ids, err := t.IDs(ctx, querier, query)
	if err != nil {
		return err
	}
	for batch := range slices.Chunk(ids, eachBatch) {
		list, err := t.Rows(ctx, querier, query.CompanyID, batch)
		if err != nil {
			return err
		}
		for _, row := range list {
			if err := do(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// Rows reads rows by their ids, in the order of the ids.
func (t *Table[T]) Rows(ctx context.Context, querier sqldb.Querier, companyID int64, ids []int64) ([]T, error) {
	if len(ids) == 0 {
		return []T{}, nil
	}
	// The expression keeps SQLite from reading all rows of the company.
	list, err := sqldb.All(ctx, querier, t.Scan, `SELECT `+t.Columns+` FROM `+t.From+t.Joins+`
		WHERE `+t.ID+` {in ?} AND `+t.Owner+` + 0 = ?`, ids, companyID)
	if err != nil {
		return nil, err
	}
	place := make(map[int64]int, len(ids))
	for i, id := range ids {
		place[id] = i
	}
	slices.SortFunc(list, func(a, b T) int { return place[t.RowID(a)] - place[t.RowID(b)] })
	return list, t.complete(ctx, querier, companyID, list)
}

func (t *Table[T]) complete(ctx context.Context, querier sqldb.Querier, companyID int64, list []T) error {
	if t.Refs == nil || len(list) == 0 {
		return nil
	}
	return t.Refs(ctx, querier, companyID, list)
}

// window is a part of a list.
type window struct{ offset, limit int64 }

// window reads a part of a list without a search and with a known total: the ids
// first, along an index, then their rows. Joining before the offset is applied
// would read every row that is skipped. Where some rows come last, no index has
// that order: the list is read as two, one after the other.
func (t *Table[T]) window(ctx context.Context, querier sqldb.Querier, query Query, part window, total int64) ([]T, error) {
	last := t.Orders[query.sort().Field()].Last
	if last == "" {
		ids, err := t.part(ctx, querier, query, part, total)
		if err != nil {
			return nil, err
		}
		return t.Rows(ctx, querier, query.CompanyID, ids)
	}
	front, back := query.with("NOT ("+last+")"), query.with(last)
	behind, err := t.Count(ctx, querier, back)
	if err != nil {
		return nil, err
	}
	ahead := total - behind
	ids, err := t.part(ctx, querier, front, part, ahead)
	if err != nil {
		return nil, err
	}
	rest := window{max(0, part.offset-ahead), part.limit - int64(len(ids))}
	more, err := t.part(ctx, querier, back, rest, behind)
	if err != nil {
		return nil, err
	}
	return t.Rows(ctx, querier, query.CompanyID, append(ids, more...))
}

// with is the query with one more condition, and without a total.
func (q Query) with(condition string) Query {
	var where sqldb.Where
	where.Join(q.Where)
	where.And(condition)
	q.Where, q.Total = where, nil
	return q
}

// part finds ids along the index of the order, from the end of the list that is
// nearer.
func (t *Table[T]) part(ctx context.Context, querier sqldb.Querier, query Query, part window, total int64) ([]int64, error) {
	if part.limit = min(part.limit, total-part.offset); part.limit <= 0 {
		return nil, nil
	}
	sort, turned := query.sort(), part.offset > total/2
	if turned {
		sort, part.offset = sort.Turned(), total-part.offset-part.limit
	}
	from, where := t.matches(querier.Engine(), query)
	order := t.ID + sort.Direction()
	if column := t.Orders[sort.Field()].Column; column != "" {
		order = column + sort.Direction() + ", " + order
	}
	ids, err := sqldb.Values[int64](ctx, querier, `SELECT `+t.ID+` FROM `+from+where.String()+` ORDER BY `+order+` LIMIT ? OFFSET ?`,
		append(where.Args, part.limit, part.offset)...)
	if turned {
		slices.Reverse(ids)
	}
	return ids, err
}

func (q Query) sort() input.Sort {
	if q.Sort == "" {
		return input.Newest
	}
	return q.Sort
}
