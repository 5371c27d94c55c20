package sender

import (
	"context"
	"slices"

	"carteira/internal/platform/crashpoint"
	"carteira/internal/platform/sqldb"
)

// maxIdle is how many lanes are claimed as idle ones at once: each has
// statements of its own.
const maxIdle = 4

// idleLane is what the claim of an idle lane brought.
type idleLane struct {
	chosen []int64
	jobs   map[int64]Job
	to     map[int64]*recipient
}

// claimIdle claims for lanes that nobody has, in one flight to the server and
// back: it stands between the commit of an event and its arrival. rest are the
// requests for lanes about which anything is out of the ordinary.
func (s store) claimIdle(ctx context.Context, requests []request) (grants []grant, rest []request, err error) {
	var found []idleLane
	requests = slices.Clone(requests) // the caller's may be tried again
	for i := range requests {
		requests[i].token = s.newToken()
	}
	err = s.db.WriteRelaxed(ctx, func(tx *sqldb.Tx) error {
		found = make([]idleLane, len(requests))
		for i, request := range requests {
			found[i].claim(tx, request)
		}
		crashpoint.Here("before-claim-commit")
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	var lost []lease
	for i, request := range requests {
		grant := request.pick(found[i].chosen, found[i].read())
		switch {
		case len(grant.jobs) > 0:
			grants = append(grants, grant)
		case len(found[i].chosen) > 0: // another process sent them just before
			lost = append(lost, lease{request.lane, request.token})
		default:
			request.token = ""
			rest = append(rest, request)
		}
	}
	if len(lost) > 0 {
		err = s.release(ctx, lost)
	}
	return grants, rest, err
}

// claim leases a lane and reads what it is leased for, with the commit.
func (l *idleLane) claim(tx *sqldb.Tx, request request) {
	l.jobs, l.to = map[int64]Job{}, map[int64]*recipient{}
	late := lateRecordsOf(tx)
	late.statements = append(late.statements,
		leasingIdle(tx, request, func(row sqldb.Row) error {
			var sending string
			err := row.Scan(&sending)
			l.chosen = splitIDs(sending)
			return err
		}),
		readingLeased(tx, request, l.jobs))
	late.statements = append(late.statements, readingRecipients([]int64{request.lane}, l.to)...)
}

// read are the deliveries with where they go.
func (l *idleLane) read() map[int64]Job {
	addRecipients(l.jobs, l.to)
	return l.jobs
}
