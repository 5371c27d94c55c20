package worker_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"carteira/internal/platform/worker"
)

// hour runs a task under a supervisor for an hour of a clock that does not
// wait, and returns what was logged and counted.
func hour(t *testing.T, task func(log *slog.Logger) worker.Task) (log string, metrics map[string]float64) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&out, nil))
		supervisor := worker.NewSupervisor(logger)
		ctx, cancel := context.WithCancel(t.Context())
		supervisor.Start(ctx, task(logger))
		time.Sleep(time.Hour)
		cancel()
		supervisor.Wait()
		log, metrics = out.String(), scrape(t, supervisor)
		if last, ok := metrics["carteira_worker_last_success_timestamp_seconds"]; ok {
			metrics["age"] = float64(time.Now().UnixMilli())/1000 - last
		}
	})
	return log, metrics
}

// scrape reads the metrics of a supervisor with one task.
func scrape(t *testing.T, supervisor *worker.Supervisor) map[string]float64 {
	t.Helper()
	reg := prometheus.NewRegistry()
	reg.MustRegister(supervisor.Metrics()...)
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		metric := family.GetMetric()[0]
		values[family.GetName()] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
	}
	return values
}

// turns runs a job for an hour and returns when its turns began.
func turns(t *testing.T, every time.Duration, job func(turn int) error) (at []time.Duration, log string, metrics map[string]float64) {
	t.Helper()
	log, metrics = hour(t, func(log *slog.Logger) worker.Task {
		began := time.Now()
		return worker.Job{Name: "sweep", Every: every, Run: func(context.Context) error {
			at = append(at, time.Since(began))
			return job(len(at))
		}}.Task(log)
	})
	return at, log, metrics
}

func TestJobRunsEverySoOften(t *testing.T) {
	at, log, metrics := turns(t, 10*time.Minute, func(int) error { return nil })
	if len(at) != 5 && len(at) != 6 || at[0] != 10*time.Minute || at[4] != 50*time.Minute {
		t.Errorf("turns at %v", at)
	}
	if log != "" {
		t.Errorf("logged %q", log)
	}
	if age := metrics["age"]; age > 601 {
		t.Errorf("last success %v s ago", age)
	}
}

func TestJobSleepsUntilItIsWokenAndAtMostHalfAMinute(t *testing.T) {
	var at []time.Duration
	hour(t, func(log *slog.Logger) worker.Task {
		began, wake := time.Now(), worker.NewWake()
		time.AfterFunc(10*time.Second, wake.Hint)
		return worker.Job{Name: "sweep", Every: 2 * time.Second, Wake: wake, Run: func(context.Context) error {
			if at = append(at, time.Since(began)); len(at) == 1 {
				wake.Hint() // while it runs: it is not lost
			}
			if len(at) == 3 {
				return errors.New("the database is away")
			}
			return nil
		}}.Task(log)
	})
	want := []time.Duration{10, 12, 44, 48, 80}
	for i := range want {
		want[i] *= time.Second
	}
	if len(at) < len(want) || !slices.Equal(at[:len(want)], want) {
		t.Errorf("turns at %v, want first %v", at, want)
	}
}

// What there is to do at the start is not put off by the pace of the job, which goes on
// from there.
func TestJobThatIsWokenAtTheStartRunsAtOnce(t *testing.T) {
	var at []time.Duration
	hour(t, func(log *slog.Logger) worker.Task {
		began, wake := time.Now(), worker.NewWake()
		wake.Hint()
		return worker.Job{Name: "sweep", Every: 2 * time.Second, Wake: wake, Run: func(context.Context) error {
			at = append(at, time.Since(began))
			wake.Hint()
			return nil
		}}.Task(log)
	})
	if want := []time.Duration{0, 2 * time.Second, 4 * time.Second}; len(at) < len(want) || !slices.Equal(at[:len(want)], want) {
		t.Errorf("turns at %v, want first %v", at, want)
	}
}

func TestLoopThatIsAttendedToLooksSeldom(t *testing.T) {
	var at []time.Duration
	hour(t, func(log *slog.Logger) worker.Task {
		began, wake := time.Now(), worker.NewWake()
		time.AfterFunc(10*time.Second, wake.Hint)
		task := loopTask(worker.Loop{Name: "settle", Wake: wake, Poll: time.Second, Log: log}, func() (time.Duration, error) {
			if at = append(at, time.Since(began)); len(at) == 2 {
				return 500 * time.Millisecond, nil
			}
			return time.Second, nil
		})
		task.Attended = true
		return task
	})
	want := []time.Duration{0, 10 * time.Second, 10500 * time.Millisecond, 40500 * time.Millisecond}
	if len(at) < len(want) || !slices.Equal(at[:len(want)], want) {
		t.Errorf("rounds at %v, want first %v", at, want)
	}
}

func TestFailingJobIsLoggedWaitsLongerAndRecovers(t *testing.T) {
	at, log, metrics := turns(t, time.Second, func(turn int) error {
		if turn <= 8 {
			return errors.New("the database is away")
		}
		return nil
	})
	var pauses []time.Duration
	for i := 1; i < 11; i++ {
		pauses = append(pauses, (at[i]-at[i-1])/time.Second)
	}
	if want := []time.Duration{2, 4, 8, 10, 10, 10, 10, 10, 1, 1}; !slices.Equal(pauses, want) {
		t.Errorf("pauses of %v seconds, want %v", pauses, want)
	}
	if n := strings.Count(log, "the database is away"); n != 8 || metrics["carteira_worker_failures_total"] != 8 {
		t.Errorf("%d failures logged, %v counted, want 8:\n%s", n, metrics, log)
	}
}

func TestPanickingJobRunsAgainAndIsCounted(t *testing.T) {
	at, log, metrics := turns(t, time.Minute, func(turn int) error {
		if turn == 1 {
			panic("nil map")
		}
		return nil
	})
	if len(at) < 10 {
		t.Errorf("it ran %d times", len(at))
	}
	for _, words := range []string{"panic: nil map", "task=sweep", "worker_test.go"} {
		if !strings.Contains(log, words) {
			t.Errorf("%q is not logged in %q", words, log)
		}
	}
	if metrics["carteira_worker_panics_total"] != 1 {
		t.Errorf("counted %v", metrics)
	}
}

func TestTaskThatAlwaysPanicsRestartsLaterAndLater(t *testing.T) {
	starts := 0
	log, metrics := hour(t, func(*slog.Logger) worker.Task {
		return worker.Task{Name: "sender", Run: func(context.Context) error {
			starts++
			panic("nil pointer")
		}}
	})
	if starts < 60 || starts > 80 || metrics["carteira_worker_panics_total"] != float64(starts) {
		t.Errorf("%d starts in an hour, counted %v", starts, metrics)
	}
	if n := strings.Count(log, "task restarts"); n != starts {
		t.Errorf("%d restarts logged", n)
	}
	if _, ok := metrics["carteira_worker_last_success_timestamp_seconds"]; ok {
		t.Error("a task that reports no successes has a time of the last one")
	}
}

func TestTaskThatEndsTooEarlyStartsAgain(t *testing.T) {
	starts := 0
	log, _ := hour(t, func(*slog.Logger) worker.Task {
		return worker.Task{Name: "sender", Run: func(ctx context.Context) error {
			if starts++; starts == 1 {
				return nil
			}
			<-ctx.Done()
			return nil
		}}
	})
	if starts != 2 || !strings.Contains(log, "it ended by itself") {
		t.Errorf("%d starts, logged %q", starts, log)
	}
}

func TestTaskThatHasNotSucceededForLongIsSaidAloud(t *testing.T) {
	at, log, metrics := turns(t, time.Minute, func(turn int) error {
		if turn > 3 {
			return errors.New("no right to write")
		}
		return nil
	})
	if n := strings.Count(log, "task has not succeeded for long"); n < 2 || n > 10 {
		t.Errorf("said %d times after %d turns", n, len(at))
	}
	if metrics["age"] < 3000 {
		t.Errorf("last success %v s ago", metrics["age"])
	}
}

func TestLoopRunsWhenWokenAndElseAfterItsPause(t *testing.T) {
	var rounds atomic.Int64
	hour(t, func(log *slog.Logger) worker.Task {
		wake := worker.NewWake()
		go func() {
			time.Sleep(35 * time.Minute)
			wake.Hint()
			wake.Hint() // one hint is as good as two
		}()
		return loopTask(worker.Loop{Name: "settle", Wake: wake, Poll: 10 * time.Minute, Log: log}, func() (time.Duration, error) {
			rounds.Add(1)
			return time.Hour, nil
		})
	})
	if n := rounds.Load(); n < 7 || n > 8 {
		t.Errorf("%d rounds", n)
	}
}

func TestLoopThatFailsWaitsLongerAndRecovers(t *testing.T) {
	rounds := 0
	log, metrics := hour(t, func(log *slog.Logger) worker.Task {
		return loopTask(worker.Loop{Name: "settle", Poll: time.Minute, Log: log}, func() (time.Duration, error) {
			if rounds++; rounds <= 10 {
				return 0, errors.New("the database is away")
			}
			return time.Minute, nil
		})
	})
	if n := strings.Count(log, "loop failed"); n != 10 || metrics["carteira_worker_failures_total"] != 10 {
		t.Errorf("%d failures logged, %v counted", n, metrics)
	}
	if rounds < 60 {
		t.Errorf("%d rounds", rounds)
	}
}

func loopTask(loop worker.Loop, round func() (time.Duration, error)) worker.Task {
	return worker.Task{Name: loop.Name, Stale: time.Minute, Run: func(ctx context.Context) error {
		loop.Run(ctx, func(context.Context) (time.Duration, error) { return round() })
		return nil
	}}
}

func TestRowIsSetAsideAfterItsThirdPanic(t *testing.T) {
	var strikes worker.Strikes
	got := []bool{strikes.Add(7), strikes.Add(7), strikes.Add(8), strikes.Add(7)}
	if !slices.Equal(got, []bool{false, false, false, true}) {
		t.Errorf("set aside: %v", got)
	}
	strikes.Clear(7)
	if strikes.Add(7) {
		t.Error("a row that was cleared is set aside after one panic")
	}
}

func TestJitterAddsAtMostATenth(t *testing.T) {
	for range 100 {
		if span := worker.Jitter(time.Minute); span < time.Minute || span > 66*time.Second {
			t.Fatalf("a minute became %s", span)
		}
	}
}
