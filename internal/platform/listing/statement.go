package listing

import (
	"strings"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// ids is the statement that finds the ids of all matches in their order.
func (t *Table[T]) ids(engine sqldb.Engine, query Query) (text string, args []any) {
	from, where := t.matches(engine, query)
	id := t.ID
	if t.textsAlone(query) {
		id = t.Texts.ID
	}
	return `SELECT ` + id + ` FROM ` + from + where.String() + ` ORDER BY ` + t.orderBy(id, query.sort()), where.Args
}

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
	if t.Visible != nil {
		where.And(t.Visible(id))
	}
	where.Join(query.Where)
	return from, where
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
