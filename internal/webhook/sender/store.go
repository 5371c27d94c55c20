package sender

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"carteira/internal/platform/crashpoint"
	"carteira/internal/platform/id"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/watch"
)

const (
	// leaseTime is how long a lease lasts that is not renewed, and renewEvery how
	// often a process renews its leases: a lane goes on a few seconds after its
	// process was killed, however long a request takes.
	leaseTime  = 8 * time.Second
	renewEvery = 2 * time.Second
	// waiterTime is how long a delivery is a waiting person's: longer than the
	// longest attempt, since nobody renews it.
	waiterTime = Timeout + 20*time.Second
	// callTime bounds every call of the store, so that a database that vanished
	// without a word is noticed.
	callTime = 15 * time.Second
)

// store is what the sender asks of the database, each in one transaction.
// Every one may be called again after it failed.
type store struct {
	db       *sqldb.DB
	delays   schedule
	metrics  *metrics
	instance string // begins the tokens of this process's leases
	leases   *atomic.Int64
	sent     watch.Watcher[Sent]
}

// Sent is an attempt at a delivery that was made and recorded.
type Sent struct {
	CompanyID, DeliveryID int64
	Accepted              bool
}

// insertAttempts records attempts, where those who count them see it.
func (s store) insertAttempts(ctx context.Context, tx *sqldb.Tx, list ...attempt) error {
	insertAttempts(tx, list...)
	if s.sent == nil {
		return nil
	}
	for _, attempt := range list {
		made := Sent{attempt.job.companyID, attempt.job.id, attempt.outcome.verdict == accepted}
		if err := s.sent(ctx, tx, made); err != nil {
			return err
		}
	}
	return nil
}

func newStore(db *sqldb.DB, delays schedule, metrics *metrics) store {
	return store{
		db:       db,
		delays:   delays,
		metrics:  metrics,
		instance: id.NewCode(12) + "-",
		leases:   &atomic.Int64{},
	}
}

// request asks for deliveries of a lane.
type request struct {
	lane  int64
	size  int
	token string  // of the lease to be extended; empty: the lane is to be leased
	open  []int64 // what that lease is for already
}

// grant is what a request brought.
type grant struct {
	lane       int64
	token      string
	jobs       []Job
	limit      int           // requests at once
	more       bool          // there may be more
	askedAt    time.Duration // by the dispatcher's clock, before the claim
	generation int64
}

// claim leases lanes, and extends leases, for their due deliveries. A lane that
// another process has is passed over, and so is one whose row is locked. Nothing
// waits for the disk to have a lease: whoever finds it lost sends again.
func (s store) claim(ctx context.Context, requests []request) (grants []grant, err error) {
	slices.SortFunc(requests, func(a, b request) int { return cmp.Compare(a.lane, b.lane) })
	err = s.db.WriteRelaxed(ctx, func(tx *sqldb.Tx) (err error) {
		grants, err = s.claimTx(ctx, tx, requests)
		crashpoint.Here("before-claim-commit")
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("claim deliveries: %w", err)
	}
	crashpoint.Here("after-claim-commit")
	return grants, nil
}

func (s store) claimTx(ctx context.Context, tx *sqldb.Tx, requests []request) ([]grant, error) {
	most := 0
	for _, request := range requests {
		most = max(most, request.size+len(request.open))
	}
	rows, due := map[int64]laneRow{}, map[int64][]int64{}
	lanes := lanesOf(requests)
	err := sqldb.Together(ctx, tx, lockingLanes(tx, lanes, passOver, rows), findingDue(tx, lanes, most, due))
	if err != nil {
		return nil, err
	}
	requests, err = s.leaseLanes(ctx, tx, requests, rows)
	if err != nil || len(requests) == 0 {
		return nil, err
	}
	return s.fill(ctx, tx, requests, due)
}

func lanesOf(requests []request) []int64 {
	lanes := make([]int64, len(requests))
	for i, request := range requests {
		lanes[i] = request.lane
	}
	return lanes
}

// leaseLanes chooses the requests whose lanes can be this process's, each with the
// token of its lease. The attempts of a lease that expired are burned.
func (s store) leaseLanes(
	ctx context.Context,
	tx *sqldb.Tx,
	requests []request,
	rows map[int64]laneRow,
) ([]request, error) {
	var orphans []int64
	var ours []request
	for _, request := range requests {
		row, locked := rows[request.lane]
		switch {
		case !locked:
		case request.token != "" && row.token == request.token:
			ours = append(ours, request)
		case request.token == "" && !row.leased:
			orphans = append(orphans, row.sending...)
			request.token = s.instance + strconv.FormatInt(s.leases.Add(1), 10)
			ours = append(ours, request)
		}
	}
	busy, err := burnAttempts(ctx, tx, orphans)
	if err != nil || len(busy) == 0 {
		return ours, err
	}
	return slices.DeleteFunc(ours, func(request request) bool {
		return slices.ContainsFunc(rows[request.lane].sending, func(id int64) bool {
			return slices.Contains(busy, id)
		})
	}), nil
}

// fill loads the due deliveries of leased lanes and saves the leases. A lane
// with nothing due is left untouched.
func (s store) fill(
	ctx context.Context,
	tx *sqldb.Tx,
	requests []request,
	due map[int64][]int64,
) ([]grant, error) {
	var wanted, lanes []int64
	for i, request := range requests {
		chosen := slices.DeleteFunc(due[request.lane], func(id int64) bool {
			return slices.Contains(request.open, id)
		})
		due[request.lane] = chosen[:min(len(chosen), requests[i].size)]
		if len(due[request.lane]) > 0 {
			wanted, lanes = append(wanted, due[request.lane]...), append(lanes, request.lane)
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	jobs, err := readJobs(ctx, tx, wanted, lanes)
	if err != nil {
		return nil, err
	}
	if err := burnLateClaims(ctx, tx, jobs); err != nil {
		return nil, err
	}
	var grants []grant
	var leases []laneRow
	for _, request := range requests {
		grant := request.pick(due[request.lane], jobs)
		if len(grant.jobs) == 0 {
			continue
		}
		row := laneRow{
			lane:    request.lane,
			token:   request.token,
			sending: slices.Clone(request.open),
		}
		for _, job := range grant.jobs {
			row.sending = append(row.sending, job.id)
		}
		grants, leases = append(grants, grant), append(leases, row)
	}
	saveLeases(tx, leases)
	return grants, nil
}

// burnLateClaims ends the claims of persons who waited for a delivery, and were
// not answered in time.
func burnLateClaims(ctx context.Context, tx *sqldb.Tx, jobs map[int64]Job) error {
	var late []int64
	for id, job := range jobs {
		if job.lateClaim {
			late = append(late, id)
			job.begun++
			jobs[id] = job
		}
	}
	busy, err := burnAttempts(ctx, tx, late)
	for _, id := range busy {
		delete(jobs, id)
	}
	return err
}

// pick takes the jobs of a lane in their order. A failing lane gets no more
// than may be in flight.
func (r request) pick(chosen []int64, jobs map[int64]Job) grant {
	g := grant{
		lane:  r.lane,
		token: r.token,
		limit: laneLimit,
		more:  len(chosen) == r.size,
	}
	for _, one := range chosen {
		job, ok := jobs[one]
		if !ok {
			continue
		}
		if job.to.failures > 0 {
			g.limit = failingLaneLimit
			if len(r.open)+len(g.jobs) >= g.limit {
				g.more = true
				break
			}
		}
		job.number = job.begun + 1
		g.jobs = append(g.jobs, job)
	}
	return g
}

// renew lengthens the leases of lanes, and returns those that this process has.
func (s store) renew(ctx context.Context, lanes []int64) (renewed []int64, err error) {
	err = s.db.WriteRelaxed(ctx, func(tx *sqldb.Tx) (err error) {
		renewed, err = renewLeases(ctx, tx, s.instance, lanes)
		return err
	})
	return renewed, err
}

// lease is a lane that a process has, and the token by which it has it.
type lease struct {
	lane  int64
	token string
}

// release gives lanes back.
func (s store) release(ctx context.Context, leases []lease) error {
	return s.db.WriteRelaxed(ctx, func(tx *sqldb.Tx) error {
		endLeases(tx, leases)
		return nil
	})
}

// inherit ends the leases of processes that are no more: those whose tokens
// begin so.
func (s store) inherit(ctx context.Context, instance string) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error { return expireLeases(ctx, tx, instance) })
}

// openMissing makes rows for lanes that have none.
func (s store) openMissing(ctx context.Context, lanes []dueLane) error {
	var missing []int64
	for _, lane := range lanes {
		if lane.missing {
			missing = append(missing, lane.lane)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return s.db.Write(ctx, func(tx *sqldb.Tx) error { return insertLanes(ctx, tx, missing) })
}

// recordAccepted records accepted attempts at different deliveries in one
// transaction, and returns which it has recorded. It leaves out those whose
// webhook has failures to forget, and those whose rows are locked. Lanes of
// which nothing is left out are released if their attempts ask for it. A record that
// the disk has lost is a delivery that is made again, with the same id.
func (s store) recordAccepted(
	ctx context.Context,
	batch []attempt,
) (kept map[int64]bool, err error) {
	slices.SortStableFunc(batch, func(a, b attempt) int {
		return cmp.Compare(a.job.begun, b.job.begun)
	})
	err = s.db.WriteRelaxed(ctx, func(tx *sqldb.Tx) error {
		kept = make(map[int64]bool, len(batch))
		for list := range groupByFence(batch) {
			if err := s.recordGroup(ctx, tx, list, kept); err != nil {
				return err
			}
		}
		endLeases(tx, releasable(batch, kept))
		return nil
	})
	return kept, err
}

// releasable returns the leases of lanes whose last attempt is in a batch of which all
// their attempts were recorded.
func releasable(batch []attempt, kept map[int64]bool) (leases []lease) {
	incomplete := map[int64]bool{}
	for _, attempt := range batch {
		if !kept[attempt.job.id] {
			incomplete[attempt.job.lane] = true
		}
	}
	for _, attempt := range batch {
		if attempt.release && !incomplete[attempt.job.lane] {
			leases = append(leases, lease{attempt.job.lane, attempt.token})
		}
	}
	return leases
}

// groupByFence splits a list that is sorted by the number of begun attempts
// into runs of equal number.
func groupByFence(list []attempt) iter.Seq[[]attempt] {
	return func(yield func([]attempt) bool) {
		for len(list) > 0 {
			n := 1
			for n < len(list) && list[n].job.begun == list[0].job.begun {
				n++
			}
			if !yield(list[:n]) {
				return
			}
			list = list[n:]
		}
	}
}

func (s store) recordGroup(ctx context.Context, tx *sqldb.Tx, list []attempt, kept map[int64]bool) error {
	settled, err := settleAccepted(ctx, tx, list)
	if err != nil {
		return err
	}
	for _, id := range settled {
		kept[id] = true
	}
	ours := make([]attempt, 0, len(list))
	for _, attempt := range list {
		if kept[attempt.job.id] {
			ours = append(ours, attempt)
		}
	}
	return s.insertAttempts(ctx, tx, ours...)
}
