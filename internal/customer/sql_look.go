package customer

import (
	"strings"

	"carteira/internal/platform/sqldb"
)

// The kinds of rows of a look.
const (
	rowSealed    int64 = iota // up to where segments are sealed, and how many customers are newer
	rowPosting                // of a segment
	rowGrams                  // of a segment, or of a block of them
	rowChanged                // a customer who has none of the terms
	rowChangedTo              // one who has
	rowNewer                  // who has
)

// statement is one, so that a segment which is being sealed is read before or
// after, not half.
func (l *look) statement(engine sqldb.Engine, companyID int64) (text string, args []any) {
	s := lookText{span: l.span, company: companyID}
	contains, values := containsOne(engine, textColumn, l.terms)
	s.add(`SELECT 0, `).lastSealed().add(`, (SELECT count(*) FROM (
			SELECT id FROM customers WHERE company_id = ? AND {visible id} AND id > `, companyID).lastSealed().add(`
				AND id <= ? ORDER BY id LIMIT ?) some_of_them), CAST(NULL AS BYTEA), ''`, l.span.last, l.counted())
	if len(l.short) > 0 {
		s.add(` UNION ALL
		SELECT 1, g.last_id, 0, p.ids, '' FROM search_segments g
		LEFT JOIN search_postings p ON p.company_id = g.company_id AND p.last_id = g.last_id AND p.term {in ?}
		WHERE g.company_id = ? AND g.sealed AND `, l.short, companyID).inSpan("g.")
	}
	if len(l.long) > 0 {
		s.add(` UNION ALL
		SELECT 2, p.last_id, p.gram, p.places, COALESCE(b.partly, '') FROM (
			SELECT block AS last_id, string_agg(`).partly().add(`, ' ') AS partly FROM search_segments
			WHERE company_id = ? AND sealed AND block < 0 AND `, companyID).inSpan("").add(` GROUP BY block
			UNION ALL SELECT last_id, `).partly().add(` FROM search_segments
			WHERE company_id = ? AND sealed AND moved < ? AND `, companyID, allMoved).inSpan("").add(`) b
		CROSS JOIN search_grams p WHERE p.company_id = ? AND p.last_id = b.last_id AND p.gram {in ?}`, companyID, l.keys())
	}
	s.add(` UNION ALL
		SELECT CASE WHEN `).add(contains, values...).add(` THEN 4 ELSE 3 END, h.id, 0, CAST(NULL AS BYTEA), '' FROM search_changes h
		LEFT JOIN customers c ON c.company_id = ? AND c.id = h.id AND {visible c.id}
		WHERE h.company_id = ? AND h.id > ? AND h.id <= ?`, companyID, companyID, l.span.after, l.span.last)
	s.add(` UNION ALL
		SELECT 5, c.id, 0, CAST(NULL AS BYTEA), '' FROM customers c
		WHERE c.company_id = ? AND {visible c.id} AND c.id > `, companyID).lastSealed().add(` AND c.id <= ? AND `, l.span.last)
	s.add(contains, values...)
	return s.text.String(), s.args
}

// counted is up to how many of the newer ones are counted before any is read.
func (l *look) counted() int64 {
	if l.first {
		return mostNewer
	}
	return 0
}

// lookText is a statement to which each piece brings its own arguments.
type lookText struct {
	span    idSpan
	company int64
	text    strings.Builder
	args    []any
}

func (t *lookText) add(text string, args ...any) *lookText {
	t.text.WriteString(text)
	t.args = append(t.args, args...)
	return t
}

// lastSealed is up to where segments of the span are sealed: newer ones are read.
// Ids that have an upper end, too, PostgreSQL takes for few, and reads an
// index; it would else read all customers.
func (t *lookText) lastSealed() *lookText {
	return t.add(`COALESCE((
	SELECT last_id FROM search_segments WHERE company_id = ? AND sealed AND last_id > ? ORDER BY last_id DESC LIMIT 1), ?)`,
		t.company, t.span.after, t.span.after)
}

// inSpan has the segments that the span is in, of a table with an alias.
func (t *lookText) inSpan(alias string) *lookText {
	return t.add(alias+`last_id > ? AND `+alias+`last_id <= COALESCE((
	SELECT last_id FROM search_segments WHERE company_id = ? AND last_id >= ? ORDER BY last_id LIMIT 1), ?)`,
		t.span.after, t.company, t.span.last, t.span.last)
}

// partly is a segment that is not wholly in its block, and how far it is.
func (t *lookText) partly() *lookText {
	return t.add(`CASE WHEN block < 0 AND moved < ? THEN CAST(last_id AS TEXT) || ' ' || CAST(moved AS TEXT) END`, allMoved)
}
