package sqldb

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Statements are written once, in a text that both engines take after small
// changes made here: PostgreSQL numbers its placeholders; SQLite has no row
// locks, since its one writer already has the whole database, and compiles a
// statement anew at every use whose LIMIT or LIKE is a bare placeholder, in the
// hope of a plan that fits the value.
//
//	?                          placeholder
//	{in ?}                     among a list, which is one argument: []int64 or []string
//	{clock ?}                  the database's own time in microseconds; its argument is Clock()
//	{visible c.id}             the customer of this id is none that an import has staged
//	{this transaction}         its number, greater than of all that began to write before; 0 on SQLite
//	{oldest transaction}       the smallest number of those that have not ended; 0 on SQLite
//	{for key share}            keep the selected rows from being deleted until the commit
//	{for key share of p}       the same, of the rows of the table p alone
//	{for key share of w}       the same, of the rows of the table w alone
//	{for no key update}        lock the selected rows, and let others refer to them
//	{for no key update skip locked}   the same, passing over rows that others hold
//	{for update}               lock the selected rows until the commit
//	{for update skip locked}   the same, passing over rows that others hold
//	{for update of c skip locked}   the same, of the rows of the table c alone
var postgresWords = strings.NewReplacer(
	"{in ?}", "= ANY(?)",
	"{clock ?}",
	"COALESCE(CAST(? AS BIGINT), CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT))",
	"{this transaction}", "CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT)",
	"{oldest transaction}", "CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT)",
	"{for key share}", "FOR KEY SHARE",
	"{for key share of p}", "FOR KEY SHARE OF p",
	"{for key share of w}", "FOR KEY SHARE OF w",
	"{for no key update}", "FOR NO KEY UPDATE",
	"{for no key update skip locked}", "FOR NO KEY UPDATE SKIP LOCKED",
	"{for update}", "FOR UPDATE",
	"{for update skip locked}", "FOR UPDATE SKIP LOCKED",
	"{for update of c skip locked}", "FOR UPDATE OF c SKIP LOCKED",
)

var sqliteWords = strings.NewReplacer(
	"{in ?}", "IN (SELECT value FROM json_each(?))",
	"{clock ?}", "?",
	"{this transaction}", "0", "{oldest transaction}", "0",
	"{for key share}", "", "{for key share of p}", "", "{for key share of w}", "",
	"{for no key update}", "", "{for update}", "",
	"{for no key update skip locked}", "",
	"{for update skip locked}", "",
	"{for update of c skip locked}", "",
	"LIMIT ?", "LIMIT CAST(? AS INTEGER)", "OFFSET ?", "OFFSET CAST(? AS INTEGER)", "LIKE ?",
	"LIKE CAST(? AS TEXT)",
)

// visible hides the customers that an import on SQLite has staged. It is no
// range that an index could be searched by, so no plan changes with it; all
// indexes hold the id. On PostgreSQL an import is one transaction.
var visible = regexp.MustCompile(`\{visible ([a-z.]+)\}`)

const (
	visibleInSQLite = "$1 NOT BETWEEN (SELECT hidden_from FROM customer_staging WHERE id = 1)" +
		" AND (SELECT hidden_to FROM customer_staging WHERE id = 1) /* every company_id */"
	visibleAlways = "TRUE"
)

// rewriter remembers the rewritten form of each statement. The number of
// distinct texts is bounded by the code: they hold no values.
type rewriter struct {
	known   sync.Map
	rewrite func(string) string
}

func (r *rewriter) text(text string) string {
	if t, ok := r.known.Load(text); ok {
		return t.(string) //nolint:forcetypeassert // only strings are stored
	}
	t := r.rewrite(text)
	r.known.Store(text, t)
	return t
}

func forSQLite(s string) string {
	return visible.ReplaceAllString(sqliteWords.Replace(s), visibleInSQLite)
}

// forPostgres numbers the placeholders outside quotes.
func forPostgres(text string) string {
	text = visible.ReplaceAllString(postgresWords.Replace(text), visibleAlways)
	var out strings.Builder
	n, quoted := 0, false
	for _, c := range text {
		switch {
		case c == '\'':
			quoted = !quoted
		case c == '?' && !quoted:
			n++
			out.WriteByte('$')
			out.WriteString(strconv.Itoa(n))
			continue
		}
		out.WriteRune(c)
	}
	return out.String()
}
