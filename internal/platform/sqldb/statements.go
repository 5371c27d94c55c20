package sqldb

import (
	"context"
	"database/sql"
	"sync"
)

// conn is a pool (*sql.DB) or one connection (*sql.Conn).
type conn interface {
	PrepareContext(ctx context.Context, text string) (*sql.Stmt, error)
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
}

// statements keeps SQLite statements compiled, which takes about half off a
// point select. PostgreSQL's driver does this by itself.
type statements struct {
	on       conn
	rewriter rewriter
	mu       sync.RWMutex
	compiled map[string]*sql.Stmt
}

// maxCompiled bounds the memory for statements whose text varies with the
// length of a list; past it a statement is compiled at every use.
const maxCompiled = 400

func newStatements(on conn) *statements {
	return &statements{on: on, rewriter: rewriter{rewrite: forSQLite}, compiled: map[string]*sql.Stmt{}}
}

// Engine tells which database answers.
func (s *statements) Engine() Engine { return SQLite }

func (s *statements) translate(err error) error { return sqliteError(err) }

func (s *statements) query(ctx context.Context, text string, args []any) (*sql.Rows, error) {
	stmt, err := s.compile(ctx, text)
	switch {
	case err != nil:
		return nil, err
	case stmt == nil:
		return s.on.QueryContext(ctx, s.rewriter.text(text), args...)
	}
	return stmt.QueryContext(ctx, args...)
}

func (s *statements) exec(ctx context.Context, text string, args []any) (int64, error) {
	stmt, err := s.compile(ctx, text)
	if err != nil {
		return 0, err
	}
	var res sql.Result
	if stmt == nil {
		res, err = s.on.ExecContext(ctx, s.rewriter.text(text), args...)
	} else {
		res, err = stmt.ExecContext(ctx, args...)
	}
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// compile returns the statement kept for text, or nil when there is no room
// for one more. It never returns a statement to be closed after its use: on a
// connection of its own that would end the rows that are still being read.
func (s *statements) compile(ctx context.Context, text string) (*sql.Stmt, error) {
	s.mu.RLock()
	stmt, room := s.compiled[text], len(s.compiled) < maxCompiled
	s.mu.RUnlock()
	if stmt != nil || !room {
		return stmt, nil
	}
	stmt, err := s.on.PrepareContext(ctx, s.rewriter.text(text))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if first, ok := s.compiled[text]; ok {
		return first, stmt.Close()
	}
	s.compiled[text] = stmt
	return stmt, nil
}
