package sender

import (
	"context"
	"net/http"
	"time"

	"carteira/internal/platform/outbound"
	"carteira/internal/platform/sqldb"
)

// What tests of another package see of this one.
const (
	LaneLimit        = laneLimit
	FailingLaneLimit = failingLaneLimit
	QuickSlots       = quickSlots
	MaxFailures      = maxFailures
	MaxPanics        = maxPanics
	LeaseTime        = leaseTime
	WaiterTime       = waiterTime
	PanicProblem     = panicProblem
)

// Claim leases the free lanes, and claims up to n deliveries, four of a lane at
// most.
func (s *Sender) Claim(ctx context.Context, count int) (jobs []Job, err error) {
	lanes, err := dueLanes(ctx, s.db)
	if err != nil {
		return nil, err
	}
	atCap := 0
	var requests []request
	for _, lane := range lanes {
		if lane.leased {
			if len(lane.sending) >= laneLimit || lane.failures > 0 {
				atCap++
			}
			continue
		}
		if size := min(laneLimit, count); size > 0 {
			requests = append(requests, request{lane: lane.lane, size: size})
			count -= size
		}
	}
	s.metrics.lanesAtCap.Set(float64(atCap))
	grants, err := s.store.claim(ctx, requests)
	for _, grant := range grants {
		jobs = append(jobs, grant.jobs...)
	}
	return jobs, err
}

// ClaimOne claims one delivery of a lane, if the lane is free, and reports
// whether it did.
func (s *Sender) ClaimOne(ctx context.Context, lane int64) (Claimed, bool, error) {
	grants, err := s.store.claim(ctx, []request{{lane: lane, size: 1}})
	if err != nil || len(grants) == 0 {
		return Claimed{}, false, err
	}
	return Claimed{grants[0].jobs[0], grants[0].token}, true, nil
}

// Claimed is a delivery with the lease of its lane.
type Claimed struct {
	Job
	token string
}

// GiveBack records a delivery as accepted, gives its lane back, and reports
// whether it was still to be recorded.
func (s *Sender) GiveBack(ctx context.Context, claimed Claimed, at time.Time) (bool, error) {
	kept, err := s.store.recordAccepted(ctx, []attempt{{claimed.Job, outcome{verdict: accepted, at: at}}})
	if err != nil {
		return false, err
	}
	return kept[claimed.id], s.store.release(ctx, []lease{{claimed.lane, claimed.token}})
}

// Try sends a claimed delivery without recording it.
func (s *Sender) Try(ctx context.Context, job Job) Tried { return Tried{s.send(ctx, job)} }

// Tried is an outcome.
type Tried struct{ o outcome }

// The outcomes that tests make up.
func Accepted(at time.Time) Tried { return Tried{outcome{verdict: accepted, at: at}} }
func Broken(at time.Time) Tried   { return Tried{outcome{verdict: broken, at: at, problem: "late"}} }
func Disabled() Tried             { return Tried{outcome{verdict: disabled}} }

// Record records an outcome, and reports whether it was still to be recorded.
func (s *Sender) Record(ctx context.Context, job Job, tried Tried) (bool, error) {
	return s.store.record(ctx, attempt{job: job, outcome: tried.o})
}

// RecordTogether records accepted attempts as one batch, and returns those that
// fell out of it.
func (s *Sender) RecordTogether(ctx context.Context, at time.Time, jobs []Job) (fallen []Job) {
	var batch []attempt
	for _, job := range jobs {
		batch = append(batch, attempt{job: job, outcome: outcome{verdict: accepted, at: at, response: outbound.Result{Status: http.StatusOK}}})
	}
	recorder := newRecorder(s.store, nil, nil)
	recorder.waiting = batch
	for len(recorder.waiting) > 0 {
		for _, report := range recorder.record(ctx, recorder.nextBatch()) {
			if report.alone {
				fallen = append(fallen, report.attempt.job)
			}
		}
	}
	return fallen
}

func (j Job) ID() int64           { return j.id }
func (j Job) Number() int         { return j.number }
func (j Job) Event() string       { return string(j.event) }
func (j Job) Lane() int64         { return j.lane }
func (j Job) Earlier() Job        { j.begun--; return j }
func (j Job) SameAs(job Job) bool { return j.id == job.id && j.begun == job.begun }

// PostWith replaces how requests are made.
func (s *Sender) PostWith(post func(ctx context.Context, url string, header http.Header, body []byte) (outbound.Result, error)) {
	s.post = post
}

// LaneRow is a lane as the database has it.
type LaneRow struct {
	Lane    int64
	Token   string
	Until   time.Time
	Sending []int64
}

// Lanes reads the lanes.
func (s *Sender) Lanes(ctx context.Context) ([]LaneRow, error) {
	return sqldb.All(ctx, s.db, func(row sqldb.Row) (laneRow LaneRow, err error) {
		var until int64
		var sending string
		err = row.Scan(&laneRow.Lane, &laneRow.Token, &until, &sending)
		laneRow.Until, laneRow.Sending = time.UnixMicro(until), splitIDs(sending)
		return laneRow, err
	}, `SELECT lane, token, until, sending FROM delivery_lanes WHERE lane > 0 ORDER BY lane`)
}

// Renew renews the leases of lanes.
func (s *Sender) Renew(ctx context.Context, lanes ...int64) ([]int64, error) {
	return s.store.renew(ctx, lanes)
}

// Delay is the wait before an attempt.
func Delay(delays []time.Duration, step int, asked time.Duration) time.Duration {
	return schedule(delays).delay(step, asked)
}
