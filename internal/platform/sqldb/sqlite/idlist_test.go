package sqlite_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/platform/sqldb/sqlite"
)

// idList is the only value of a statement, as ids.
func idList(ctx context.Context, conn *sqlite.Conn, query sqlite.Query) (ids []int64, err error) {
	err = conn.Each(ctx, query, func(row *sqlite.Row) error {
		var list []byte
		err := row.Scan(&list)
		for ; len(list) > 0; list = list[8:] {
			ids = append(ids, int64(binary.BigEndian.Uint64(list)))
		}
		return err
	})
	return ids, err
}

func TestIDListHasAllIDsOfAResult(t *testing.T) {
	conn := open(t, sqlite.Options{})
	tests := map[string][]int64{
		"SELECT id_list(i) FROM (SELECT 1 AS i) WHERE i = 2":                                  nil,
		"SELECT id_list(i) FROM (SELECT 7 AS i)":                                              {7},
		"SELECT id_list(column1) FROM (VALUES (3), (-1), (258))":                              {3, -1, 258},
		"SELECT id_list(column1) FROM (VALUES (9223372036854775807), (-9223372036854775808))": {math.MaxInt64, math.MinInt64},
		"SELECT id_list(column1) FROM (VALUES ('12'), (NULL), (x'00'), (2.9))":                {12, 0, 0, 2},
	}
	for text, want := range tests {
		for range 2 { // the second time it is kept compiled
			if got, err := idList(t.Context(), conn, sqlite.Query{Text: text}); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %v, %v; want %v", text, got, err, want)
			}
		}
	}
}

func TestIDListsOfGroupsAreApart(t *testing.T) {
	conn := open(t, sqlite.Options{})
	const many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000) SELECT i % 3, id_list(i), id_list(-i) FROM n GROUP BY i % 3"
	sums := map[int64]int64{}
	err := conn.Each(t.Context(), sqlite.Query{Text: many}, func(row *sqlite.Row) error {
		var group int64
		var list, negative []byte
		err := row.Scan(&group, &list, &negative)
		for at := 0; at < len(list); at += 8 {
			id := int64(binary.BigEndian.Uint64(list[at:]))
			if id%3 != group || int64(binary.BigEndian.Uint64(negative[at:])) != -id {
				t.Fatalf("%d is in group %d", id, group)
			}
			sums[group]++
		}
		return err
	})
	if err != nil || sums[0] != 1666 || sums[1] != 1667 || sums[2] != 1667 {
		t.Errorf("%v, %v", sums, err)
	}
}

// endlessList is one that nothing ends but its watch.
const endlessList = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT id_list(i) FROM n"

func TestIDListThatIsInterruptedLeavesTheConnectionAsItWas(t *testing.T) {
	conn := open(t, sqlite.Options{})
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if _, err := idList(ctx, conn, sqlite.Query{Text: endlessList}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want the deadline", err)
		}
		cancel()
		_, err := idList(t.Context(), conn, sqlite.Query{Text: endlessList, Until: time.Now().Add(20 * time.Millisecond)})
		if !errors.Is(err, sqlite.ErrOverdue) {
			t.Errorf("%v, want ErrOverdue", err)
		}
		wantNumbers(t, conn, counting, 1, 2, 3)
	}
}

func TestIDListOfAStatementThatFails(t *testing.T) {
	conn := open(t, sqlite.Options{})
	const failing = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000)
		SELECT id_list(CASE WHEN i = 1999 THEN abs(-9223372036854775807 - 1) ELSE i END) FROM n`
	for range 2 {
		if _, err := idList(t.Context(), conn, sqlite.Query{Text: failing}); err == nil || !strings.Contains(err.Error(), "overflow") {
			t.Errorf("%v, want an overflow", err)
		}
	}
	wantNumbers(t, conn, counting, 1, 2, 3)
}

// A connection that closes takes its function along, and leaves that of others.
func TestIDListIsEveryConnectionsOwn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.db")
	stays := open(t, sqlite.Options{})
	for range 50 {
		conn, err := sqlite.Open(file, sqlite.Options{MaxCompiled: 10})
		if err != nil {
			t.Fatal(err)
		}
		got, err := idList(t.Context(), conn, sqlite.Query{Text: "SELECT id_list(i) FROM (SELECT 7 AS i)"})
		if err := errors.Join(err, conn.Close()); err != nil || !slices.Equal(got, []int64{7}) {
			t.Fatalf("%v, %v", got, err)
		}
	}
	if got, err := idList(t.Context(), stays, sqlite.Query{Text: "SELECT id_list(i) FROM (SELECT 7 AS i)"}); err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
	// No text that is stored in a file may call it: a trigger of a file from elsewhere.
	if _, err := stays.Exec(t.Context(), sqlite.Query{Text: "CREATE VIEW v AS SELECT id_list(i) FROM (SELECT 7 AS i)"}); err != nil {
		t.Fatal(err)
	}
	if _, err := idList(t.Context(), stays, sqlite.Query{Text: "SELECT * FROM v"}); err == nil {
		t.Error("a view may call it")
	}
}
