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
// statement with a bare placeholder after LIMIT or LIKE again at every use,
// in the hope of a plan that fits the value.
//
//	?                      placeholder
//	{in ?}                 among a list, which is one argument: []int64 or []string
//	{clock ?}              the database's own time in microseconds; its argument is Clock()
//	{position}(a, b)       where the text b begins in a; 0: it does not
//	{this transaction}     its number, greater than of all that began to write before; 0 on SQLite
//	{oldest transaction}   the smallest number of those that have not ended; 0 on SQLite
//	{for update of c skip locked}   PostgreSQL's lock of the selected rows, in its own words
//	{a | b}                a on SQLite, b on PostgreSQL
var postgresWords = strings.NewReplacer("{in ?}", "= ANY(?)", "{clock ?}",
	"COALESCE(CAST(? AS BIGINT), CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT))", "{position}",
	"strpos", "{this transaction}", "CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT)", "{oldest transaction}",
	"CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT)")

var sqliteWords = strings.NewReplacer("{in ?}", "IN (SELECT value FROM json_each(?))", "{clock ?}", "?", "{position}",
	"instr", "{this transaction}", "0", "{oldest transaction}", "0", "LIMIT ?", "LIMIT CAST(? AS INTEGER)", "OFFSET ?",
	"OFFSET CAST(? AS INTEGER)", "LIKE ?", "LIKE CAST(? AS TEXT)")

var (
	rowLock = regexp.MustCompile(`\{for [a-z ]+\}`)
	either  = regexp.MustCompile(`\{([^{}|]+) \| ([^{}|]+)\}`)
)

// rewriter remembers the rewritten form of each statement. The number of
// distinct texts is bounded by the code: they hold no values.
type rewriter struct {
	known   sync.Map
	rewrite func(string) string
}

func (r *rewriter) text(text string) string {
	if t, ok := r.known.Load(text); ok {
		return t.(string) // only strings are stored
	}
	t := r.rewrite(text)
	r.known.Store(text, t)
	return t
}

func forSQLite(text string) string {
	text = rowLock.ReplaceAllString(sqliteWords.Replace(text), "")
	return either.ReplaceAllString(text, "$1")
}

// forPostgres numbers the placeholders outside quotes.
func forPostgres(text string) string {
	text = rowLock.ReplaceAllStringFunc(postgresWords.Replace(text), func(lock string) string {
		return strings.ToUpper(strings.Trim(lock, "{}"))
	})
	text = either.ReplaceAllString(text, "$2")
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
