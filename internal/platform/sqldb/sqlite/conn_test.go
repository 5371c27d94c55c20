package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"carteira/internal/platform/sqldb/sqlite"
)

func open(t *testing.T, options sqlite.Options) *sqlite.Conn {
	t.Helper()
	conn, err := sqlite.Open(filepath.Join(t.TempDir(), "a ?#%.db"), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil { // a statement that was left open would be one
			t.Error(err)
		}
	})
	return conn
}

func numbers(ctx context.Context, conn *sqlite.Conn, text string, args []any) (list []int64, err error) {
	err = conn.Each(ctx, text, args, func(row *sqlite.Row) error {
		var number int64
		err := row.Scan(&number)
		list = append(list, number)
		return err
	})
	return list, err
}

func wantNumbers(t *testing.T, conn *sqlite.Conn, text string, want ...int64) {
	t.Helper()
	got, err := numbers(t.Context(), conn, text, nil)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: %v, %v; want %v", text, got, err, want)
	}
}

func code(err error) int { return int(sqlite.Code(err)) }

// endless is a statement that nothing ends but its watch.
const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

// counting is one with rows.
const counting = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3) SELECT i FROM n"

func TestEndedContextIsTheContextsOwnError(t *testing.T) {
	conn := open(t, sqlite.Options{})
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	late, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	for ctx, want := range map[context.Context]error{cancelled: context.Canceled, late: context.DeadlineExceeded} {
		_, err := numbers(ctx, conn, endless, nil)
		if !errors.Is(err, want) || code(err) != 0 {
			t.Errorf("a read: %v, want %v", err, want)
		}
		if _, err := conn.Exec(ctx, "CREATE TABLE t AS "+endless, nil); !errors.Is(err, want) {
			t.Errorf("a write: %v, want %v", err, want)
		}
	}
	wantNumbers(t, conn, counting, 1, 2, 3)
}

func TestContextThatEndsBetweenRowsEndsTheReading(t *testing.T) {
	conn := open(t, sqlite.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	rows := 0
	err := conn.Each(ctx, counting, nil, func(*sqlite.Row) error {
		rows++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || rows != 1 {
		t.Errorf("%v after %d rows, want the cancellation after one", err, rows)
	}
}

// What database/sql and its driver had to guard against: an interrupt that comes
// when the statement it was for has ended, and meets the next one.
func TestContextThatEndsLateReachesNobodyElse(t *testing.T) {
	conn := open(t, sqlite.Options{})
	const some = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000) SELECT count(*) FROM n"
	var cancelling sync.WaitGroup
	defer cancelling.Wait()
	for i := range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		cancelling.Go(func() {
			time.Sleep(time.Duration(i%50) * 10 * time.Microsecond)
			cancel()
		})
		if _, err := numbers(ctx, conn, some, nil); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("the statement of the context: %v", err)
		}
		if got, err := numbers(t.Context(), conn, some, nil); err != nil || got[0] != 3000 {
			t.Fatalf("the statement after it: %v, %v", got, err)
		}
	}
}

func TestInterruptedTransactionIsKnownToHaveEnded(t *testing.T) {
	conn := open(t, sqlite.Options{})
	must := func(text string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), text, nil); err != nil {
			t.Fatal(err)
		}
	}
	must("CREATE TABLE t (i INTEGER)")
	must("BEGIN")
	must("INSERT INTO t VALUES (1)")
	if changes, err := conn.TotalChanges(t.Context()); err != nil || !conn.InTransaction() || changes != 1 {
		t.Errorf("in a transaction %v with %d changes, %v", conn.InTransaction(), changes, err)
	}
	must("ROLLBACK")
	if conn.InTransaction() {
		t.Error("still in a transaction")
	}
	wantNumbers(t, conn, "SELECT count(*) FROM t", 0)
}

func TestStatementIsFreeAgainAfterItsReaderFailed(t *testing.T) {
	conn := open(t, sqlite.Options{})
	refused := errors.New("refused")
	err := conn.Each(t.Context(), counting, nil, func(*sqlite.Row) error { return refused })
	if !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = conn.Each(t.Context(), counting, nil, func(*sqlite.Row) error { panic("oops") })
	}()
	wantNumbers(t, conn, counting, 1, 2, 3)
	if n := conn.Compiled(); n != 1 {
		t.Errorf("%d statements compiled, want 1", n)
	}
}

func TestCompiledStatementsFollowTheSchema(t *testing.T) {
	conn := open(t, sqlite.Options{})
	if err := conn.Script(t.Context(), "CREATE TABLE t (a INTEGER); -- a comment\nINSERT INTO t VALUES (1);\n-- the end"); err != nil {
		t.Fatal(err)
	}
	wantNumbers(t, conn, "SELECT * FROM t", 1)
	if err := conn.Script(t.Context(), "ALTER TABLE t ADD COLUMN b INTEGER DEFAULT 2"); err != nil {
		t.Fatal(err)
	}
	var a, b int64
	err := conn.Each(t.Context(), "SELECT * FROM t", nil, func(row *sqlite.Row) error { return row.Scan(&a, &b) })
	if err != nil || a != 1 || b != 2 {
		t.Errorf("%d, %d, %v", a, b, err)
	}
}

func TestMistakesAreErrors(t *testing.T) {
	conn := open(t, sqlite.Options{})
	tests := map[string]struct {
		text string
		args []any
		want string
	}{
		"too few arguments":      {"SELECT ?, ?", []any{1}, "2 placeholders"},
		"too many arguments":     {"SELECT ?", []any{1, 2}, "2 arguments"},
		"a time":                 {"SELECT ?", []any{time.Now()}, "cannot be stored"},
		"an unknown type":        {"SELECT ?", []any{func() {}}, "argument 1"},
		"several statements":     {"SELECT 1; SELECT 2", nil, "several statements"},
		"several with arguments": {"SELECT ?; SELECT 2", []any{1}, "several statements"},
		"no statement":           {" -- nothing", nil, "no statement"},
		"no text":                {"", nil, "no statement"},
		"a zero byte":            {"SELECT 1\x00; DROP TABLE t", nil, "zero byte"},
		"another row":            {"SELECT 1, 2", nil, "2 columns"},
		"no SQL":                 {"SELEKT", nil, "syntax error"},
	}
	for name, tt := range tests {
		if _, err := numbers(t.Context(), conn, tt.text, tt.args); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	wantNumbers(t, conn, counting, 1, 2, 3)
}

func TestSeveralStatementsRunAsAScriptOnly(t *testing.T) {
	conn := open(t, sqlite.Options{})
	const several = "CREATE TABLE t (i INTEGER); INSERT INTO t VALUES (1), (2); "
	if _, err := conn.Exec(t.Context(), several, nil); err == nil || !strings.Contains(err.Error(), "several statements") {
		t.Errorf("got %v, want a refusal", err)
	}
	if err := conn.Script(t.Context(), several); err != nil {
		t.Error(err)
	}
	if err := conn.Script(t.Context(), "INSERT INTO t VALUES (3); INSERT INTO nowhere VALUES (4)"); err == nil {
		t.Error("no error of the second statement")
	}
	wantNumbers(t, conn, "SELECT i FROM t ORDER BY i", 1, 2, 3)
}

func TestExecGoesThroughAllRowsOfReturning(t *testing.T) {
	conn := open(t, sqlite.Options{})
	if err := conn.Script(t.Context(), "CREATE TABLE t (i INTEGER)"); err != nil {
		t.Fatal(err)
	}
	n, err := conn.Exec(t.Context(), "INSERT INTO t VALUES (1), (2), (3) RETURNING i", nil)
	if err != nil || n != 3 {
		t.Errorf("%d rows, %v; want 3", n, err)
	}
	wantNumbers(t, conn, "SELECT count(*) FROM t", 3)
}

func TestErrorsHaveTheExtendedCode(t *testing.T) {
	conn := open(t, sqlite.Options{})
	if err := conn.Script(t.Context(), "CREATE TABLE t (i INTEGER PRIMARY KEY, x TEXT UNIQUE)"); err != nil {
		t.Fatal(err)
	}
	const insert = "INSERT INTO t VALUES (?, ?)"
	if _, err := conn.Exec(t.Context(), insert, []any{1, "one"}); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), insert, []any{1, "one"}); code(err) != sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY {
		t.Errorf("got %v, want a broken primary key", err)
	}
	if _, err := conn.Exec(t.Context(), insert, []any{2, "one"}); code(err) != sqlite3.SQLITE_CONSTRAINT_UNIQUE || !strings.Contains(err.Error(), "t.x") {
		t.Errorf("got %v, want a broken unique text", err)
	}
}

func TestLongTextsAreBoundAndGivenBack(t *testing.T) {
	conn := open(t, sqlite.Options{})
	for _, size := range []int{0, 1, 100, 5000, 1 << 20, 7} {
		text, blob := strings.Repeat("é", size), slices.Repeat([]byte{0}, size)
		const query = "SELECT ?, ?, ?, typeof(?), typeof(?)"
		args := []any{text, blob, text, text, blob}
		var first, third, kind, other string
		var second []byte
		err := conn.Each(t.Context(), query, args, func(row *sqlite.Row) error { return row.Scan(&first, &second, &third, &kind, &other) })
		if err != nil || first != text || !slices.Equal(second, blob) || third != text || kind != "text" || other != "blob" {
			t.Errorf("size %d: %d, %d, %d, %s, %s, %v", size, len(first), len(second), len(third), kind, other, err)
		}
	}
}

func TestArgumentsOfTheCallerStayAsTheyAre(t *testing.T) {
	conn := open(t, sqlite.Options{})
	args := []any{status("open"), 1, date{3}}
	if err := conn.Each(t.Context(), "SELECT ?, ?, ?", args, func(*sqlite.Row) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%T %T %T", args...); got != "sqlite_test.status int sqlite_test.date" {
		t.Errorf("they are %s now", got)
	}
}

func TestImmutableFileIsReadWithoutATrace(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "copy.db")
	made, err := sqlite.Open(file, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(made.Script(t.Context(), "CREATE TABLE t AS SELECT 1 AS i"), made.Close()); err != nil {
		t.Fatal(err)
	}
	conn, err := sqlite.Open(file, sqlite.Options{Immutable: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	wantNumbers(t, conn, "SELECT i FROM t", 1)
	if _, err := conn.Exec(t.Context(), "DELETE FROM t", nil); code(err)&0xff != sqlite3.SQLITE_READONLY {
		t.Errorf("a write: %v, want it refused", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v beside it, %v", entries, err)
	}
}

func TestFileThatCannotBeOpenedIsAnError(t *testing.T) {
	_, err := sqlite.Open(filepath.Join(t.TempDir(), "missing", "a.db"), sqlite.Options{})
	if code(err) != sqlite3.SQLITE_CANTOPEN {
		t.Errorf("got %v, want that it cannot be opened", err)
	}
	if _, err := sqlite.Open(filepath.Join(t.TempDir(), "a.db"), sqlite.Options{Pragmas: []string{"nonsense("}}); err == nil {
		t.Error("a pragma that is none was accepted")
	}
}
