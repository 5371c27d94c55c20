package customer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"carteira/internal/platform/sqldb"
)

// A search, and a count of all whom it finds, would read the text of every customer:
// of a few thousand that is the way. The customers of a large company are
// cut into segments by their ids, and for each segment the postings of all
// letters and pairs of letters are kept (posting.go), and where any three letters
// are in the texts (gram.go). Triggers record who of a segment has
// changed since (search_changes); a search takes those, and who is newer than
// the last sealed segment, from the rows (hits.go).
//
//	marked    the end of the segment is committed     transactions that begin to write now record changes in it
//	ripe      all that began to write before ended    who is in it is visible, or is recorded
//	sealed    its postings and grams are written      searches use them
//
// On SQLite, which has one writer, a marked segment is ripe.

// sealer says when segments are cut, and when they are sealed anew.
type sealer struct {
	size    int64 // how many customers a segment has when it is cut
	changes int   // how many changes a company may have, besides one for each segment, before segments are sealed anew
	block   int   // how many segments are merged (block.go)
	row     int   // how long a row is that several of these share
}

// newSealer is the usual one. PostgreSQL keeps what is longer than a page in many small
// rows beside the table, and takes three times as long to read it.
func newSealer(engine sqldb.Engine) sealer {
	usual := sealer{size: 2048, changes: 256, block: 16, row: math.MaxInt}
	if engine == sqldb.Postgres {
		usual.row = 8000
	}
	return usual
}

// markedAtOnce is how many segments are cut in one step.
const markedAtOnce = 16

// sealing is what a step of the work on a company's segments leaves to do.
type sealing int

const (
	sealingOver   sealing = iota // nothing
	sealingWaits                 // more, after something of others has ended
	sealingGoesOn                // more
)

// segment is a segment that is not sealed yet, or has changed.
type segment struct {
	companyID int64
	after     int64 // the last id of the one before
	last      int64
}

// segmentText is the search text of a customer of a segment.
type segmentText struct {
	distance int64 // from the segment's last id down to the customer's
	letters  []rune
}

// SealSegments keeps what searches go by. Any number of processes may
// run it: a company is one process's at a time.
func (s *Service) SealSegments(ctx context.Context) error {
	companies, err := dueForSealing(ctx, s.db)
	if err != nil {
		return err
	}
	var failures []error
	for _, companyID := range companies {
		if err := s.sealCompany(ctx, companyID); err != nil {
			failures = append(failures, fmt.Errorf("seal the segments of company %d: %w", companyID, err))
		}
	}
	return errors.Join(failures...)
}

// SealLook finds whether there are segments to seal.
func (s *Service) SealLook() sqldb.Look { return sqldb.Look{Text: anySealing} }

func (s *Service) sealCompany(ctx context.Context, companyID int64) error {
	for left := sealingGoesOn; left == sealingGoesOn; {
		err := s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
			left = sealingOver
			claimed, err := claimSealing(ctx, tx, companyID)
			if err != nil || !claimed {
				return err
			}
			if left, err = s.sealer.step(ctx, tx, companyID); err != nil || left == sealingOver {
				return err
			}
			return askSealing(ctx, tx, companyID)
		})
		if err != nil {
			return err
		}
		if err := s.db.Yield(ctx); err != nil {
			return err
		}
	}
	return nil
}

// step does the next thing there is to do.
func (s sealer) step(ctx context.Context, tx *sqldb.Tx, companyID int64) (sealing, error) {
	next, state, err := firstUnsealed(ctx, tx, companyID)
	if err != nil {
		return 0, err
	}
	switch state {
	case segmentMarked:
		return sealingGoesOn, setHorizon(ctx, tx, companyID)
	case segmentUnripe:
		return sealingWaits, nil
	case segmentRipe:
		return sealingGoesOn, next.seal(ctx, tx)
	}
	if left, err := s.mark(ctx, tx, companyID); err != nil || left != sealingOver {
		return left, err
	}
	if sealed, err := sealDeleted(ctx, tx, companyID); err != nil || sealed {
		return sealingGoesOn, err
	}
	if left, err := s.sealMostChanged(ctx, tx, companyID); err != nil || left != sealingOver {
		return left, err
	}
	return s.merge(ctx, tx, companyID)
}

// sealDeleted seals a segment anew of which a customer was deleted: no letter of
// the text is to stay behind.
func sealDeleted(ctx context.Context, tx *sqldb.Tx, companyID int64) (sealed bool, err error) {
	deleted, err := anyDeleted(ctx, tx, companyID)
	if err != nil || deleted == 0 {
		return false, err
	}
	return true, errors.Join(sealAround(ctx, tx, companyID, deleted), mergeSoon(ctx, tx, companyID, deleted))
}

// sealAround seals the segment anew that a customer is in, or was.
func sealAround(ctx context.Context, tx *sqldb.Tx, companyID, id int64) error {
	around, found, err := segmentAround(ctx, tx, companyID, id)
	if err != nil || !found {
		return err
	}
	return around.seal(ctx, tx)
}

// mark cuts the customers who are in no segment. While an import has staged
// customers it waits for its end, since they appear without a change.
func (s sealer) mark(ctx context.Context, tx *sqldb.Tx, companyID int64) (sealing, error) {
	ends, err := segmentEnds(ctx, tx, companyID, s.size)
	if err != nil || len(ends) == 0 {
		return sealingOver, err
	}
	staged, err := sqldb.Value[int64](ctx, tx,
		`SELECT COUNT(*) FROM customer_staging WHERE hidden_from <= hidden_to /* every company_id */`)
	if err != nil || staged > 0 {
		return sealingWaits, err
	}
	for _, last := range ends {
		if err := markSegment(ctx, tx, companyID, last); err != nil {
			return sealingOver, err
		}
	}
	return sealingGoesOn, nil
}

// sealMostChanged seals that segment anew in which the most has changed, when
// searches have too many changes to read.
func (s sealer) sealMostChanged(ctx context.Context, tx *sqldb.Tx, companyID int64) (sealing, error) {
	changed, err := changedIDs(ctx, tx, companyID)
	if err != nil || len(changed) <= s.changes {
		return sealingOver, err
	}
	ends, err := sealedEnds(ctx, tx, companyID)
	if err != nil || len(changed) <= s.changes+len(ends) {
		return sealingOver, err
	}
	most, count := 0, map[int]int{}
	for _, id := range changed {
		at, _ := slices.BinarySearch(ends, id)
		if count[at]++; at < len(ends) && count[at] > count[most] {
			most = at
		}
	}
	if count[most] == 0 {
		return sealingOver, nil
	}
	again := segment{companyID: companyID, last: ends[most]}
	if most > 0 {
		again.after = ends[most-1]
	}
	return sealingGoesOn, again.seal(ctx, tx)
}

// seal writes what searches go by in a segment. Changes are forgotten before the
// texts are read, so that one which commits in between is kept.
func (s segment) seal(ctx context.Context, tx *sqldb.Tx) error {
	if err := lockSegment(ctx, tx, s); err != nil {
		return err
	}
	if err := forgetChanges(ctx, tx, s); err != nil {
		return err
	}
	texts, err := readTexts(ctx, tx, s)
	if err != nil {
		return err
	}
	if err := replacePostings(ctx, tx, s, newPostings(texts)); err != nil {
		return err
	}
	if err := replaceGrams(ctx, tx, s, gramRows(texts)); err != nil {
		return err
	}
	return markSealed(ctx, tx, s)
}
