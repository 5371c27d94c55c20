package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"
)

// conn is a pool (*sql.DB) or one connection (*sql.Conn).
type conn interface {
	PrepareContext(ctx context.Context, text string) (*sql.Stmt, error)
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
}

// statement is a text ready to run: kept compiled (*sql.Stmt) or not (passing).
type statement interface {
	QueryContext(ctx context.Context, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, args ...any) (sql.Result, error)
}

// statements keeps SQLite statements compiled, which takes about half off a
// point select. PostgreSQL's driver does this by itself.
type statements struct {
	on       conn
	rewriter rewriter
	mu       sync.RWMutex
	compiled map[string]statement
	limit    time.Duration // of a statement whose context has no deadline; 0: none
	troubles *troubleLog   // nil for the writer, whose transactions count as a whole
}

// maxCompiled bounds the memory for statements whose text varies with the
// length of a list; past it a statement is compiled at every use.
const maxCompiled = 400

func newStatements(on conn) *statements {
	return &statements{
		on:       on,
		rewriter: rewriter{rewrite: forSQLite},
		compiled: map[string]statement{},
	}
}

// Engine tells which database answers.
func (s *statements) Engine() Engine { return SQLite }

func (s *statements) translate(err error) error { return sqliteError(err) }

// bound gives a deadline to reading that has none: a disk can hang too. Writing
// is not interrupted, since SQLite would take the whole transaction back.
func (s *statements) bound(ctx context.Context) (bounded context.Context, finish func(error) error) {
	if _, ok := ctx.Deadline(); ok || s.limit == 0 || !hasDeadline(ctx) {
		return ctx, s.troubles.note
	}
	bounded, cancel := context.WithTimeoutCause(ctx, s.limit, errNoAnswer)
	return bounded, func(err error) error {
		defer cancel()
		return s.troubles.note(unanswered(bounded, err))
	}
}

func (s *statements) query(ctx context.Context, text string, args []any) (*sql.Rows, error) {
	stmt, err := s.compile(ctx, text)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, withLists(SQLite, args)...)
}

func (s *statements) exec(ctx context.Context, text string, args []any) (int64, error) {
	stmt, err := s.compile(ctx, text)
	if err != nil {
		return 0, err
	}
	res, err := stmt.ExecContext(ctx, withLists(SQLite, args)...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (s *statements) compile(ctx context.Context, text string) (statement, error) {
	s.mu.RLock()
	known, room := s.compiled[text], len(s.compiled) < maxCompiled
	s.mu.RUnlock()
	if known != nil {
		return known, nil
	}
	rewritten := s.rewriter.text(text)
	if !room {
		return passing{s.on, rewritten}, nil
	}
	stmt, err := s.on.PrepareContext(ctx, rewritten)
	if err != nil {
		return nil, err
	}
	return s.keep(text, stmt), nil
}

// keep returns the statement that was first to be compiled for text.
func (s *statements) keep(text string, stmt *sql.Stmt) statement {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first, ok := s.compiled[text]; ok {
		_ = stmt.Close()
		return first
	}
	s.compiled[text] = stmt
	return stmt
}

// close gives the compiled statements back. A connection with statements that
// nobody closed goes on in secret, and with it the files and their locks.
func (s *statements) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var failures []error
	for _, stmt := range s.compiled {
		if kept, ok := stmt.(*sql.Stmt); ok {
			failures = append(failures, kept.Close())
		}
	}
	clear(s.compiled)
	return errors.Join(failures...)
}

// passing is a text that is compiled for one use. The driver does it: closing
// a *sql.Stmt of a single connection would end the rows still being read.
type passing struct {
	on   conn
	text string
}

// QueryContext runs a statement that returns rows.
func (p passing) QueryContext(ctx context.Context, args ...any) (*sql.Rows, error) {
	return p.on.QueryContext(ctx, p.text, args...)
}

// ExecContext runs a statement that returns none.
func (p passing) ExecContext(ctx context.Context, args ...any) (sql.Result, error) {
	return p.on.ExecContext(ctx, p.text, args...)
}
