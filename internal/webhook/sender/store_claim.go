package sender

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"carteira/internal/platform/crashpoint"
	"carteira/internal/platform/sqldb"
)

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
// another process has is passed over, and so is one with a locked row. Nothing
// waits for the disk to have a lease: a process that finds it lost sends again.
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

// newToken names a lease, and the process that has it.
func (s store) newToken() string { return s.instance + strconv.FormatInt(s.leases.Add(1), 10) }

func lanesOf(requests []request) []int64 {
	lanes := make([]int64, len(requests))
	for i, request := range requests {
		lanes[i] = request.lane
	}
	return lanes
}

// leaseLanes chooses the requests for lanes that this process can lease, each with
// the token of its lease. The attempts of a lease that expired are burned.
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
			request.token = s.newToken()
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
func (s store) fill(ctx context.Context, tx *sqldb.Tx, requests []request, due map[int64][]int64) ([]grant, error) {
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
		row := laneRow{lane: request.lane, token: request.token, sending: slices.Clone(request.open)}
		for _, job := range grant.jobs {
			row.sending = append(row.sending, job.id)
		}
		grants, leases = append(grants, grant), append(leases, row)
	}
	return grants, saveLeases(ctx, tx, leases)
}

// burnLateClaims ends the claims for waiting persons that got no answer in
// time.
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
	g := grant{lane: r.lane, token: r.token, limit: laneLimit, more: len(chosen) == r.size}
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
