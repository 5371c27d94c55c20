package listing

import (
	"strings"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// ids is the statement that finds the ids of all matches in their order.
func (t *Table[T]) ids(engine sqldb.Engine, query Query) (text string, args []any) {
	query.hiding = true
	from, where := t.matches(engine, query)
	id := t.ID
	if t.textsAlone(query) {
		id = t.Texts.ID
	}
	return `SELECT ` + id + ` FROM ` + from + where.String() + ` ORDER BY ` + t.orderBy(id, query.sort()), where.Args
}

// page is the statement that reads the rows of a part of the list in their order.
// SQLite goes through a CROSS JOIN from left to right, so that the rows keep the
// order of the ids; another ORDER BY would have it sort whole rows. PostgreSQL
// promises no order without one, and sorts a page for next to nothing.
func (t *Table[T]) page(engine sqldb.Engine, query Query, part window) (text string, args []any) {
	from, where := t.matches(engine, query)
	id, sort := t.ID, query.sort()
	if t.textsAlone(query) {
		id = t.Texts.ID
	}
	column, order, outer := id+" AS id", id+sort.Direction(), "page.id"+sort.Direction()
	if by := t.Orders[sort.Field()].Column; by != "" {
		column, order, outer = column+", "+by+" AS place", by+sort.Direction()+", "+order, "page.place"+sort.Direction()+", "+outer
	}
	text = `SELECT ` + t.Columns + `
		FROM (SELECT ` + column + ` FROM ` + from + where.String() + ` ORDER BY ` + order + ` LIMIT ? OFFSET ?) AS page
		CROSS JOIN ` + t.From + t.Joins + ` WHERE ` + t.ID + ` = page.id AND ` + t.owned()
	if engine == sqldb.Postgres {
		text += ` ORDER BY ` + outer
	}
	return text, append(where.Args, part.limit, part.offset, query.CompanyID)
}

// owned is the condition that a row with a known id is the company's. SQLite has a
// primary key of the id alone, and the expression keeps it from another index; that
// of PostgreSQL begins with the company, and without it the whole table is read.
func (t *Table[T]) owned() string { return `{` + t.Owner + ` + 0 | ` + t.Owner + `} = ?` }

// textsAlone reports whether a search needs the table of texts and nothing else.
func (t *Table[T]) textsAlone(query Query) bool {
	return len(query.Search) > 0 && t.Texts.ID != "" && query.Where.String() == "" && query.sort().Field() == input.ByID
}

// matches is where the matches are found: a FROM clause and its conditions.
func (t *Table[T]) matches(engine sqldb.Engine, query Query) (from string, where sqldb.Where) {
	id, table := t.ID, t.From
	if order := t.Orders[query.sort().Field()]; order.From != "" {
		table = order.From
		where.And(order.On)
	}
	switch {
	case len(query.Search) == 0 || t.Texts.From == "":
		from = table
		where.And(t.Owner+" = ?", query.CompanyID)
	case t.textsAlone(query):
		from, id = t.Texts.From, t.Texts.ID
		where.And(t.Texts.Owner+" = ?", query.CompanyID)
	default:
		// CROSS JOIN makes SQLite begin with the texts, of which it reads all once.
		from = t.Texts.From + " CROSS JOIN " + table
		where.And(t.Texts.Owner+" = ?", query.CompanyID)
		where.And(t.on())
	}
	for _, term := range query.Search {
		condition, args := term.Contained(t.Texts.Text)
		where.And(condition, args...)
	}
	switch {
	case !t.hides(engine):
	case query.hiding:
		where.And(t.Hidden.Shown(id))
	default:
		from = t.Hidden.From + " CROSS JOIN " + from
		where.And(t.Hidden.None)
	}
	where.Join(query.Where)
	return from, where
}

// hides reports whether some rows may be hidden.
func (t *Table[T]) hides(engine sqldb.Engine) bool {
	return engine == sqldb.SQLite && t.Hidden.From != ""
}

// clear is 1 when what the statement finds is all there is to find, and 0 when
// some row is hidden and it has not looked at each.
func (t *Table[T]) clear(engine sqldb.Engine, query Query) string {
	if query.hiding || !t.hides(engine) {
		return "1"
	}
	return "(SELECT COUNT(*) FROM " + t.Hidden.From + " WHERE " + t.Hidden.None + ")"
}

// on joins the list's table to its texts.
func (t *Table[T]) on() string {
	if t.Texts.On != "" {
		return t.Texts.On
	}
	return t.ID + " = " + t.Texts.ID
}

// Contained is the condition that a text contains one of the spellings.
func (term Term) Contained(column string) (condition string, args []any) {
	parts := make([]string, len(term))
	for i, spelling := range term {
		parts[i], args = "{position}("+column+", ?) > 0", append(args, spelling)
	}
	return "(" + strings.Join(parts, " OR ") + ")", args
}

func (t *Table[T]) orderBy(id string, sort input.Sort) string {
	order, parts := t.Orders[sort.Field()], []string{}
	if order.Last != "" {
		parts = append(parts, "("+order.Last+")")
	}
	if order.Column != "" {
		parts = append(parts, order.Column+sort.Direction())
	}
	return strings.Join(append(parts, id+sort.Direction()), ", ")
}
