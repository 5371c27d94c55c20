package sqldb_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// crashVariable turns this test program into one that writes until it is killed.
const crashVariable = "SQLDB_TEST_WRITE_UNTIL_KILLED"

func TestAcknowledgedWritesSurviveKill(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		url := sqldbtest.URL(t, engine)
		if err := withNotes(t, sqldbtest.Open(t, url)).Close(); err != nil {
			t.Fatal(err)
		}
		var acknowledged []int64
		for range 3 {
			acknowledged = append(acknowledged, killedWith(t, crashVariable, url, 1+rand.IntN(400))...)
		}
		there := map[int64]bool{}
		err := sqldb.Each(t.Context(), sqldbtest.Open(t, url), "SELECT id FROM notes", nil, func(row sqldb.Row) error {
			var id int64
			err := row.Scan(&id)
			there[id] = true
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range acknowledged {
			if !there[id] {
				t.Errorf("note %d was acknowledged and is lost", id)
			}
		}
	})
}

// killedWith lets a child write until it has acknowledged so many rows, kills it
// in the middle of its work, and returns all that it acknowledged. The variable
// says what the child does.
func killedWith(t *testing.T, variable, url string, count int) (acknowledged []int64) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), variable+"="+url)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // the last line may be cut off: its writer did not get to say it
		}
		id, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if acknowledged = append(acknowledged, id); len(acknowledged) == count {
			_ = child.Process.Kill()
		}
	}
	_ = child.Wait()
	if status, ok := child.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the child ended by itself: %v", child.ProcessState)
	}
	return acknowledged
}

// writeUntilKilled is the child: many writers, each of which says on standard
// output what has been acknowledged to it.
func writeUntilKilled(url string) {
	ctx := context.Background()
	db, err := sqldb.Open(ctx, url, sqldb.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	last, err := sqldb.Value[int64](ctx, db, "SELECT COALESCE(MAX(id), 0) FROM notes")
	var id atomic.Int64
	id.Store(last)
	var writers sync.WaitGroup
	for range 16 {
		writers.Go(func() {
			for err == nil {
				id := id.Add(1)
				err := db.Write(ctx, func(tx *sqldb.Tx) error {
					_, err := tx.Exec(ctx, "INSERT INTO notes (id, body) VALUES (?, ?)", id, strconv.FormatInt(id, 10))
					return err
				})
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					return
				}
				fmt.Println(id) // one system call, so that lines do not mix
			}
		})
	}
	writers.Wait()
	os.Exit(1)
}
