package webhook

import (
	"context"
	"slices"
	"time"

	"carteira/internal/platform/crashpoint"
	"carteira/internal/platform/id"
	"carteira/internal/platform/sqldb"
)

// look finds the lanes with something due, each once. It reads only: an idle
// engine writes nothing.
func (s *Service) look(ctx context.Context) ([]dueLane, error) {
	found, err := dueLanes(ctx, s.db, s.db.Now())
	if err != nil {
		return nil, err
	}
	var lanes []dueLane
	full, seen := 0, make(map[int64]bool, len(found))
	for _, l := range found {
		if seen[l.lane] {
			continue
		}
		seen[l.lane] = true
		lanes = append(lanes, l)
		if l.until.After(s.db.Now()) && len(l.sending) >= capOf(l.failures) {
			full++
		}
	}
	s.metrics.lanesAtCap.Set(float64(full))
	return lanes, nil
}

// capOf is how many deliveries of a lane may be under way.
func capOf(failures int) int {
	if failures > 0 {
		return failingLaneCap
	}
	return laneCap
}

// ask is how many deliveries of a lane are wanted.
type ask struct {
	lane  int64
	n     int
	token string  // of the hold that is to be filled up; empty: the lane is to be taken
	open  []int64 // what that hold has at hand or under way
}

// taken is what became of an ask.
type taken struct {
	row  laneRow
	jobs []job
	cap  int
	dry  bool // there is no more
	at   time.Time
}

// hold makes a hold of a lane that was taken.
func (t taken) hold() *hold {
	h := &hold{open: make(map[int64]bool, len(t.jobs)), cap: t.cap}
	h.add(t)
	return h
}

// take takes lanes for the length of a lease, and fills up those that are
// held, in one transaction. It passes over a lane that somebody else has.
func (s *Service) take(ctx context.Context, asks []ask) (all []taken, err error) {
	if len(asks) == 0 {
		return nil, nil
	}
	slices.SortFunc(asks, func(a, b ask) int { return int(a.lane - b.lane) })
	err = s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		all, err = takeTx(ctx, tx, asks)
		crashpoint.Here("before-claim-commit")
		return err
	})
	if err != nil {
		return nil, err
	}
	crashpoint.Here("after-claim-commit")
	return all, nil
}

func takeTx(ctx context.Context, tx *sqldb.Tx, asks []ask) ([]taken, error) {
	lanes := make([]int64, len(asks))
	for i, a := range asks {
		lanes[i] = a.lane
	}
	rows, err := lockLanes(ctx, tx, lanes)
	if err != nil {
		return nil, err
	}
	var ours []ask
	lanes, most := lanes[:0], 0
	for _, a := range asks {
		row, ok, err := takeLane(ctx, tx, a, rows[a.lane])
		if err != nil {
			return nil, err
		}
		if ok {
			rows[a.lane] = row
			ours, lanes, most = append(ours, a), append(lanes, a.lane), max(most, a.n+len(a.open))
		}
	}
	if len(ours) == 0 {
		return nil, nil
	}
	due, err := dueIn(ctx, tx, lanes, most)
	if err != nil {
		return nil, err
	}
	return fill(ctx, tx, ours, rows, due)
}

// takeLane makes a lane that is locked the asker's, if it is or can be.
func takeLane(ctx context.Context, tx *sqldb.Tx, a ask, row laneRow) (laneRow, bool, error) {
	ours := a.token != "" && row.token == a.token
	switch {
	case !ours && (row.until.After(tx.Now()) || a.token != ""):
		return row, false, nil
	case !ours:
		// Whoever had it has not given it back in time.
		if err := forfeit(ctx, tx, row.sending); err != nil {
			return row, false, err
		}
		row.token = id.NewCode(16)
	}
	row.until = tx.Now().Add(lease)
	return row, true, nil
}

// fill chooses among what is due in lanes that are the askers', reads it and
// writes whose it is. A lane of which nothing is due is left as it was.
func fill(ctx context.Context, tx *sqldb.Tx, asks []ask, rows map[int64]laneRow, due map[int64][]int64) ([]taken, error) {
	var wanted []int64
	chosen := make([][]int64, len(asks))
	for i, a := range asks {
		for _, one := range due[a.lane] {
			if len(chosen[i]) < a.n && !slices.Contains(a.open, one) {
				chosen[i] = append(chosen[i], one)
			}
		}
		wanted = append(wanted, chosen[i]...)
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	jobs, err := readJobs(ctx, tx, wanted)
	if err != nil {
		return nil, err
	}
	if err := forfeitClaims(ctx, tx, jobs); err != nil {
		return nil, err
	}
	var all []taken
	var held []laneRow
	for i, a := range asks {
		if len(chosen[i]) == 0 {
			continue
		}
		t := taken{row: rows[a.lane], dry: len(chosen[i]) < a.n, at: tx.Now()}
		t.pick(jobs, chosen[i], len(a.open))
		t.row.sending = slices.Clone(a.open)
		for _, j := range t.jobs {
			t.row.sending = append(t.row.sending, j.id)
		}
		all, held = append(all, t), append(held, t.row)
	}
	return all, holdLanes(ctx, tx, held)
}

// forfeitClaims ends the claims of those who waited for one delivery, and whose
// time has passed.
func forfeitClaims(ctx context.Context, tx *sqldb.Tx, jobs map[int64]job) error {
	var late []int64
	for _, j := range jobs {
		if j.claimed {
			late = append(late, j.id)
			j.begun++
			jobs[j.id] = j
		}
	}
	return forfeit(ctx, tx, late)
}

// pick takes the jobs of a lane in their order. A failing lane gets no more
// than may be under way.
func (t *taken) pick(jobs map[int64]job, chosen []int64, open int) {
	for _, one := range chosen {
		j, ok := jobs[one]
		if !ok {
			continue
		}
		t.cap = capOf(j.to.failures)
		if j.to.failures > 0 && open+len(t.jobs) >= t.cap {
			t.dry = true
			break
		}
		j.number = j.begun + 1
		t.jobs = append(t.jobs, j)
	}
}

// Inherit ends the holds of a process that is no more, so that nobody waits for
// them to run out. It is for a process that knows itself to be the only one.
func (s *Service) Inherit(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error { return endHolds(ctx, tx) })
}
