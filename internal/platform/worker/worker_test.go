package worker_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"carteira/internal/platform/worker"
)

// run starts a job, lets an hour pass and returns when its turns began.
func run(t *testing.T, every time.Duration, job func(turn int) error) (turns []time.Duration, log string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		began := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		wait := worker.Start(ctx, slog.New(slog.NewTextHandler(&out, nil)), worker.Job{Name: "sweep", Every: every, Run: func(context.Context) error {
			turns = append(turns, time.Since(began))
			return job(len(turns))
		}})
		time.Sleep(time.Hour)
		cancel()
		wait()
		log = out.String()
	})
	return turns, log
}

func TestJobRunsEverySoOften(t *testing.T) {
	turns, log := run(t, 10*time.Minute, func(int) error { return nil })
	if len(turns) != 5 && len(turns) != 6 || turns[0] != 10*time.Minute || turns[4] != 50*time.Minute {
		t.Errorf("turns at %v", turns)
	}
	if log != "" {
		t.Errorf("logged %q", log)
	}
}

func TestFailingJobIsLoggedWaitsLongerAndRecovers(t *testing.T) {
	turns, log := run(t, time.Second, func(turn int) error {
		if turn <= 8 {
			return errors.New("the database is away")
		}
		return nil
	})
	var pauses []time.Duration
	for i := 1; i < 11; i++ {
		pauses = append(pauses, (turns[i]-turns[i-1])/time.Second)
	}
	if want := []time.Duration{2, 4, 8, 16, 32, 60, 60, 60, 1, 1}; !slices.Equal(pauses, want) {
		t.Errorf("pauses of %v seconds, want %v", pauses, want)
	}
	if n := strings.Count(log, "the database is away"); n != 8 {
		t.Errorf("%d failures logged, want 8:\n%s", n, log)
	}
}

func TestPanickingJobDoesNotEndTheProgram(t *testing.T) {
	turns, log := run(t, time.Minute, func(turn int) error {
		if turn == 1 {
			panic("nil map")
		}
		return nil
	})
	if len(turns) < 10 {
		t.Errorf("it ran %d times", len(turns))
	}
	if !strings.Contains(log, "panic: nil map") || !strings.Contains(log, "job=sweep") {
		t.Errorf("logged %q", log)
	}
}
