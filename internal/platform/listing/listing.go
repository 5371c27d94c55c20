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
// There are two ways to a page. A list whose order has an index, and a search of
// texts alone, newest first, is counted, by a counter where there is one, and its
// page is read along the index from the nearer end of the list. A search next to
// other conditions, or in another order, reads the company's texts from end to
// end and joins the rows that match: that gives the order and the total at once.
// Nothing is kept between two calls.
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
	"strings"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
)

// Table is a table that can be listed.
type Table[T any] struct {
	From    string // with its alias: "customers c"
	ID      string // "c.id"
	Owner   string // the column of the owner: "c.company_id"
	Hidden  Hidden
	Columns string
	Joins   string // what Columns need besides From
	Scan    func(sqldb.Row) (T, error)
	RowID   func(T) int64
	Orders  map[string]Order // by the field of a sort; ids need none
	Texts   Texts
	// Refs completes the rows of a page with what they refer to; nil: nothing.
	Refs func(ctx context.Context, querier sqldb.Querier, companyID int64, page []T) error
}

// Hidden says which rows of a table lists pass over on SQLite, where an import is
// many transactions. The zero value: none, ever.
type Hidden struct {
	From  string                 // one row that knows: "customer_staging s"
	None  string                 // holds while no row is hidden: "s.id = 1 AND s.hidden_to < s.hidden_from"
	Shown func(id string) string // a condition on the id of a row, in whichever column it is
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

// TermsOf are what a text must contain for a search: what was typed, or its number when it is punctuated like a phone.
func TermsOf(search string, number func(typed string) string) []Term {
	term := text.Searchable(text.Fold(search))
	if term == "" {
		return nil
	}
	spellings := Term{term}
	if strings.Trim(term, "0123456789+-.()/ ") == "" {
		if digits := number(term); digits != "" && digits != term {
			spellings = append(spellings, digits)
		}
	}
	return []Term{spellings}
}

// Query is what is wanted of a table.
type Query struct {
	CompanyID int64
	Where     sqldb.Where
	Search    []Term     // all of which must be contained; empty: anything
	Sort      input.Sort // "": newest first
	// Total knows how many rows match without a search; nil: they are counted.
	Total func(ctx context.Context) (int64, error)
	// Most is how many rows are counted and paged through at most; 0: all of them.
	// It is not for orders in which some rows come last.
	Most int64

	// hiding checks each row. Without it the statement finds nothing while any row
	// is hidden, which spares all others the check: it doubles the cost of a row
	// that is skipped.
	hiding bool
}

// Page returns the rows of a page, and how many there are on all pages.
func (t *Table[T]) Page(ctx context.Context, querier sqldb.Querier, query Query, page input.Page) ([]T, int64, error) {
	if page.Sort != "" {
		query.Sort = page.Sort
	}
	if len(query.Search) > 0 && !t.textsAlone(query) {
		return t.found(ctx, querier, query, page)
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
	var count, clear int64
	counted, args := from+where.String(), where.Args
	if query.Most > 0 {
		counted, args = `(SELECT 1 FROM `+counted+` LIMIT ?) AS counted`, append(args, query.Most)
	}
	err := sqldb.Each(ctx, querier, `SELECT COUNT(*), `+t.clear(querier.Engine(), query)+` FROM `+counted, args,
		func(row sqldb.Row) error { return row.Scan(&count, &clear) })
	if err == nil && clear == 0 {
		query.hiding = true
		return t.Count(ctx, querier, query)
	}
	return count, err
}

// found reads the page of a search in one pass over all matches, of which it keeps
// no more than the page.
func (t *Table[T]) found(ctx context.Context, querier sqldb.Querier, query Query, page input.Page) ([]T, int64, error) {
	text, args := t.ids(querier.Engine(), query)
	var ids []int64
	total, first := int64(0), page.Offset()
	err := sqldb.Each(ctx, querier, text, args, func(row sqldb.Row) error {
		if total++; total <= first || total > first+page.Size {
			return nil
		}
		var id int64
		err := row.Scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	list, err := t.Rows(ctx, querier, query.CompanyID, ids)
	return list, total, err
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
	place := make(map[int64]int, len(ids))
	for i, id := range ids {
		place[id] = i
	}
	list, found := make([]T, len(ids)), make([]bool, len(ids))
	err := sqldb.Each(ctx, querier, t.rowsText(), []any{ids, companyID}, func(row sqldb.Row) error {
		value, err := t.Scan(row)
		if err == nil {
			i := place[t.RowID(value)]
			list[i], found[i] = value, true
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	kept := list[:0] // without rows that have been deleted since
	for i := range list {
		if found[i] {
			kept = append(kept, list[i])
		}
	}
	return kept, t.complete(ctx, querier, companyID, kept)
}

// rowsText is the statement that reads rows by their ids.
func (t *Table[T]) rowsText() string {
	return `SELECT ` + t.Columns + ` FROM ` + t.From + t.Joins + ` WHERE ` + t.ID + ` {in ?} AND ` + t.owned()
}

func (t *Table[T]) complete(ctx context.Context, querier sqldb.Querier, companyID int64, list []T) error {
	if t.Refs == nil || len(list) == 0 {
		return nil
	}
	return t.Refs(ctx, querier, companyID, list)
}

// window is a part of a list.
type window struct{ offset, limit int64 }

// window reads a part of a list with a known total. Where some rows come last, no
// index has that order: the list is read as two, one after the other.
func (t *Table[T]) window(ctx context.Context, querier sqldb.Querier, query Query, part window, total int64) ([]T, error) {
	list := make([]T, 0, part.limit)
	if last := t.Orders[query.sort().Field()].Last; last != "" {
		back := query.with(last)
		behind, err := t.Count(ctx, querier, back)
		if err != nil {
			return nil, err
		}
		ahead := total - behind
		if list, err = t.part(ctx, querier, query.with("NOT ("+last+")"), part, ahead, list); err != nil {
			return nil, err
		}
		query, total = back, behind
		part = window{max(0, part.offset-ahead), part.limit - int64(len(list))}
	}
	list, err := t.part(ctx, querier, query, part, total, list)
	if err != nil {
		return nil, err
	}
	return list, t.complete(ctx, querier, query.CompanyID, list)
}

// with is the query with one more condition, and without a total.
func (q Query) with(condition string) Query {
	var where sqldb.Where
	where.Join(q.Where)
	where.And(condition)
	q.Where, q.Total = where, nil
	return q
}

// part adds rows to a list: it finds their ids along the index of the order, from
// the end that is nearer, and joins the rows to the ids. Joining before the offset
// is applied would read every row that is skipped.
func (t *Table[T]) part(
	ctx context.Context, querier sqldb.Querier, query Query, part window, total int64, list []T,
) ([]T, error) {
	if part.limit = min(part.limit, total-part.offset); part.limit <= 0 {
		return list, nil
	}
	asked, offset, turned := query, part.offset, part.offset > total/2 && total != query.Most
	if turned {
		asked.Sort, offset = query.sort().Turned(), total-part.offset-part.limit
	}
	before := len(list)
	text, args := t.page(querier.Engine(), asked, window{offset, part.limit})
	err := sqldb.Each(ctx, querier, text, args, func(row sqldb.Row) error {
		value, err := t.Scan(row)
		list = append(list, value)
		return err
	})
	if err == nil && len(list) == before && !query.hiding && t.hides(querier.Engine()) {
		query.hiding = true
		return t.part(ctx, querier, query, part, total, list)
	}
	if turned {
		slices.Reverse(list[before:])
	}
	return list, err
}

func (q Query) sort() input.Sort {
	if q.Sort == "" {
		return input.Newest
	}
	return q.Sort
}
