package sqldb

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Late is work that a transaction puts off to its end, because nobody reads
// back what it writes: audit lines, events, counts. It is written together, on
// SQLite in one statement for each table, on PostgreSQL in one flight with
// COMMIT. On SQLite transactions that share a commit share their work, too. A
// statement that names one of the tables before that has all put-off work done
// first, and so sees it.
type Late interface {
	// Tables are those that the work reads and writes.
	Tables() []string
	// Statements are the work, in the order in which it is to be done.
	Statements() []Statement
	// Merge takes over work under the same key from another transaction, with
	// which this one shares its commit.
	Merge(other Late)
}

// Statement is a part of put-off work.
type Statement struct {
	Text string
	Args []any
	// Scan reads each row that the statement returns; nil: it returns none. Where
	// it fails, PostgreSQL may have committed.
	Scan func(Row) error
	// Needless reports, after the statements before it, that this one has nothing
	// to do. PostgreSQL gets all at once, and runs it all the same. nil: it has.
	Needless func() bool
}

// maxLate is how many rows a transaction puts off. An import would else keep all
// of its file in memory.
const maxLate = 512

// putOff is work by the key under which it is found again.
type putOff struct {
	key  any
	work Late
}

// lateWork is all that is put off.
type lateWork struct {
	list   []putOff
	tables tableSet
	texts  lateTexts // of rows of the list
}

func (l *lateWork) under(key any) Late {
	for _, late := range l.list {
		if late.key == key {
			return late.work
		}
	}
	return nil
}

func (l *lateWork) add(late putOff) {
	l.list = append(l.list, late)
	l.tables |= lateTables.set(late.work.Tables())
}

// awaits reports whether a statement names a table of the work. A text that only
// looks like it costs a statement more.
func (l *lateWork) awaits(text string) bool {
	return l.tables != 0 && l.tables&lateTables.namedIn(text) != 0
}

// take is the work, which is now the caller's to do.
func (l *lateWork) take() lateWork {
	taken := *l
	*l = lateWork{}
	return taken
}

// statements are the rows first: other work may be made of them, whichever was
// put off before.
func (l *lateWork) statements() []Statement {
	var rows, rest []Statement
	for _, late := range l.list {
		if inserted, ok := late.work.(*appended); ok {
			rows = append(rows, inserted.Statements()...)
		} else {
			rest = append(rest, late.work.Statements()...)
		}
	}
	return append(rows, rest...)
}

// merge takes over the work of another transaction.
func (l *lateWork) merge(other lateWork) {
	for _, late := range other.list {
		if known := l.under(late.key); known != nil {
			known.Merge(late.work)
		} else {
			l.add(late)
		}
	}
}

// Later returns the work that the transaction has put off under a key, or begins
// it. The caller adds to it.
func Later[W Late](tx *Tx, key any, begin func() W) W {
	if known := tx.late.under(key); known != nil {
		return known.(W) //nolint:forcetypeassert // a key is of one kind of work
	}
	work := begin()
	tx.late.add(putOff{key, work})
	tx.changed = true
	return work
}

// Appending is an INSERT of rows that a transaction may put off.
type Appending struct {
	Table string
	Into  string // INSERT INTO table (columns) VALUES
	Row   string // the tuple of one row: (?, ?)

	texts sync.Map // of statements, by how many rows they insert
}

// Append puts off the insertion of a row, whose values are those of the tuple.
func (tx *Tx) Append(ctx context.Context, into *Appending, values ...any) error {
	rows := Later(tx, into, func() *appended { return &appended{into: into} })
	rows.count++
	rows.values = append(rows.values, values...)
	if rows.count < maxLate {
		return nil
	}
	return tx.CatchUp(ctx)
}

// CatchUp does what was put off, for work that has become too much to keep.
func (tx *Tx) CatchUp(ctx context.Context) error {
	ctx, finish := tx.bound(ctx)
	return finish(tx.translate(tx.catchUp(ctx)))
}

// appended are the rows that a transaction has put off of one table.
type appended struct {
	into   *Appending
	count  int
	values []any
}

// Tables is the table of the rows.
func (a *appended) Tables() []string { return []string{a.into.Table} }

// Statements insert the rows, in the order in which they came.
func (a *appended) Statements() []Statement {
	width := len(a.values) / a.count
	statements := make([]Statement, 0, 1)
	for row := 0; row < a.count; {
		size := PieceOf(a.count - row)
		statements = append(statements, Statement{
			Text: a.into.text(size),
			Args: a.values[row*width : (row+size)*width],
		})
		row += size
	}
	return statements
}

// Merge adds the rows of another transaction.
func (a *appended) Merge(other Late) {
	more := other.(*appended) //nolint:forcetypeassert // the key is the Appending
	a.count += more.count
	a.values = append(a.values, more.values...)
}

func (a *Appending) text(rows int) string {
	if known, ok := a.texts.Load(rows); ok {
		return known.(string) //nolint:forcetypeassert // only strings are stored
	}
	text := a.Into + strings.TrimSuffix(strings.Repeat(a.Row+", ", rows), ", ")
	a.texts.Store(rows, text)
	return text
}

// each does what was put off, if the statement is about one of its tables.
func (tx *Tx) each(ctx context.Context, text string, args []any, scan func(Row) error) error {
	if tx.late.awaits(text) {
		if err := tx.catchUp(ctx); err != nil {
			return err
		}
	}
	return tx.Querier.each(ctx, text, args, scan)
}

// exec does what was put off, as each does.
func (tx *Tx) exec(ctx context.Context, text string, args []any) (int64, error) {
	if tx.late.awaits(text) {
		if err := tx.catchUp(ctx); err != nil {
			return 0, err
		}
	}
	return tx.Querier.exec(ctx, text, args)
}

// batch does what was put off, as each does.
func (tx *Tx) batch(ctx context.Context, statements []Statement) error {
	for _, statement := range statements {
		if !tx.late.awaits(statement.Text) {
			continue
		}
		if err := tx.catchUp(ctx); err != nil {
			return err
		}
	}
	return tx.Querier.batch(ctx, statements)
}

// catchUp does what was put off. Its error is the engine's own.
func (tx *Tx) catchUp(ctx context.Context) error {
	late := tx.late.take()
	return tx.Querier.batch(ctx, late.statements())
}

// oneByOne runs statements where nothing is gained by sending them together.
func oneByOne(ctx context.Context, querier Querier, statements []Statement) error {
	for _, statement := range statements {
		if statement.Needless != nil && statement.Needless() {
			continue
		}
		if err := statement.run(ctx, querier); err != nil {
			return fmt.Errorf("%s: %w", statement.words(), err)
		}
	}
	return nil
}

func (s Statement) run(ctx context.Context, querier Querier) error {
	if s.Scan != nil {
		return querier.each(ctx, s.Text, s.Args, s.Scan)
	}
	_, err := querier.exec(ctx, s.Text, s.Args)
	return err
}

// words are the beginning of the text, for an error that comes long after the
// call that put the statement off.
func (s Statement) words() string {
	words := strings.Fields(s.Text)
	return strings.Join(slices.Clip(words[:min(3, len(words))]), " ")
}
