package sqldb

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Substring search is the one thing for which the engines need statements of
// their own. Both search a column named search, which holds text folded in Go:
// SQLite through an FTS5 table of trigrams, PostgreSQL through a trigram index
// that its planner finds for LIKE. Companies are found so; customers, who are
// many more, have an index of their own (customer/segment.go).

// Substring is the LIKE pattern, with ESCAPE '!', for text that contains term.
func Substring(term string) string {
	return "%" + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(term) + "%"
}

// Contains is the condition, with one placeholder, that a column's text contains
// a term.
func Contains(engine Engine, column string) string {
	if engine == Postgres {
		return "strpos(" + column + ", ?) > 0"
	}
	return "instr(" + column + ", ?) > 0"
}

// Source is where rows are searched: a FROM clause, the condition that finds
// them and the column that orders them.
type Source struct {
	From  string // the arguments of Where begin with those of From
	ID    string // column of the record's id
	Order string // column that orders by it
	Where Where
	rows  string // joins the table to an index that is searched without it
}

// Rows is the source with the rows of its table, as c, for conditions on their
// columns.
func (s Source) Rows() Source {
	s.From += s.rows
	s.rows = ""
	return s
}

// Count counts the matches.
func (s Source) Count(ctx context.Context, querier Querier) (int64, error) {
	return Value[int64](ctx, querier, `SELECT count(*) FROM `+s.From+s.Where.String(), s.Where.Args...)
}

// EachID calls visit for the id of every match, in any order.
func (s Source) EachID(ctx context.Context, querier Querier, visit func(id int64)) error {
	return Each(ctx, querier, `SELECT `+s.ID+` FROM `+s.From+s.Where.String(), s.Where.Args, func(row Row) error {
		var id int64
		err := row.Scan(&id)
		visit(id)
		return err
	})
}

// IndexedTerm reports whether a term is long enough for an index of trigrams.
func IndexedTerm(term string) bool { return utf8.RuneCountInString(term) >= 3 }

// SearchBy finds the rows of table whose search column contains one of the
// terms, of the company that a column names. Short terms, and those of a company
// with so few rows that reading them all is as fast, are looked for row by row.
func SearchBy(
	engine Engine,
	table, column string,
	companyID int64,
	indexed bool,
	terms []string,
) Source {
	source := Source{From: table + " c", ID: "c.id", Order: "c.id"}
	for _, term := range terms {
		indexed = indexed && IndexedTerm(term)
	}
	if engine == SQLite && indexed {
		return searchIndex(table, companyID, terms)
	}
	contains, args := make([]string, len(terms)), make([]any, len(terms))
	for i, term := range terms {
		contains[i], args[i] = "c.search LIKE ? ESCAPE '!'", Substring(term)
		if engine == Postgres && !indexed {
			// For LIKE a plan that is kept takes the index, and reads all of it
			// for a term that is too short.
			contains[i], args[i] = "strpos(c.search, ?) > 0", term
		}
	}
	// All ids are above 0. That it is said leads SQLite along the ids, where it
	// would else count by way of any index and so read the table back and forth.
	source.Where.And("c."+column+" = ? AND c.id > 0", companyID)
	source.Where.And("("+strings.Join(contains, " OR ")+")", args...)
	return source
}

// searchIndex finds rows through SQLite's index.
func searchIndex(table string, companyID int64, terms []string) Source {
	source := Source{
		From: fmt.Sprintf("(SELECT rowid AS id FROM %[1]s_search WHERE %[1]s_search MATCH ?) f", table),
		ID:   "f.id", Order: "f.id", rows: fmt.Sprintf(" CROSS JOIN %s c ON c.id = f.id", table),
	}
	source.Where.Args = []any{ftsQuery(companyID, terms)}
	return source
}

// ftsQuery asks for documents that hold the company's token and a term.
func ftsQuery(companyID int64, terms []string) string {
	quoted := make([]string, len(terms))
	for i, term := range terms {
		quoted[i] = `"` + strings.ReplaceAll(term, `"`, `""`) + `"`
	}
	return `"` + companyToken(companyID) + `" AND (` + strings.Join(quoted, " OR ") + ")"
}

// companyToken stands for a company in the FTS5 index: three characters from
// the private-use area, which searchable text does not contain. Triggers
// make the same one (migration 0005).
func companyToken(id int64) string {
	const base, size = 0xE000, 6400
	return string([]rune{rune(base + id%size), rune(base + id/size%size), rune(base + id/size/size%size)})
}

// Searchable takes out the characters that company tokens are made of.
func Searchable(folded string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0xE000 && r <= 0xF8FF {
			return -1
		}
		return r
	}, folded)
}
