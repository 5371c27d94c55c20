package customer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"carteira/internal/platform/worker"
	"carteira/internal/tally"
)

// rosters keeps those of large companies in memory. They are read by a job
// (KeepRosters): a request never waits for one. What a request learns from a roster is
// never older than the database all the same: each bucket has a stamp, and of one whose
// stamp is another the customers in question are read by their rows.
type rosters struct {
	mu     sync.Mutex
	known  map[int64]*kept // by company
	wanted []int64         // companies whose roster is missing or old
	wake   worker.Wake
	begun  bool // the largest companies were looked for
}

// kept is a roster, when somebody last asked for it, and whether and when it was saved: not
// what was, which would stay in memory beside it.
type kept struct {
	*roster
	used    time.Time
	saved   bool      // as it is
	savedAt time.Time // or one before it; zero: never
}

const (
	// leastRostered is from how many customers on a company has a roster: what fewer
	// are filtered by is read as fast.
	leastRostered = 5000
	// leastAtOnce is from how many on it is read before anybody asks for it.
	leastAtOnce = 50_000
	// mostRostered is how many customers all rosters have, which bounds their memory:
	// one takes ten bytes. Past it those leave that nobody has used for so long.
	mostRostered = 3_000_000
	unusedFor    = 10 * time.Minute
	// leastInBucket is how many customers a company has in a bucket, on average, for its
	// stamps to be read. Where others have most of the ids there are too many buckets.
	leastInBucket = 32
	// fewChanged is up to how many buckets may have changed before they are read anew.
	fewChanged = 4
	// savedEvery is how long a roster that is renewed again and again goes unsaved.
	savedEvery = 10 * time.Minute
)

// newRosters has the largest ones asked for.
func newRosters() rosters {
	wake := worker.NewWake()
	wake.Hint()
	return rosters{wake: wake}
}

// ask has the roster of a company read by the job, soon.
func (r *rosters) ask(companyIDs ...int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, companyID := range companyIDs {
		if !slices.Contains(r.wanted, companyID) {
			r.wanted = append(r.wanted, companyID)
		}
	}
	r.wake.Hint()
}

func (r *rosters) get(companyID int64, now time.Time) *roster {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.known[companyID]
	if at == nil {
		return nil
	}
	at.used = now
	return at.roster
}

func (r *rosters) put(companyID int64, made *roster, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = map[int64]*kept{}
	}
	at := r.known[companyID]
	if at == nil {
		at = &kept{}
		r.known[companyID] = at
	}
	at.roster, at.used, at.saved = made, now, false
}

// unsaved are those that are not saved as they are, nor others before them since so long.
func (r *rosters) unsaved(now time.Time, since time.Duration) map[int64]*roster {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := map[int64]*roster{}
	for companyID, at := range r.known {
		if !at.saved && now.Sub(at.savedAt) >= since {
			found[companyID] = at.roster
		}
	}
	return found
}

// save notes that a roster was saved.
func (r *rosters) save(companyID int64, saved *roster, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := r.known[companyID]; at != nil {
		at.saved, at.savedAt = at.roster == saved, now
	}
}

// room reports whether there is room for a company of so many customers.
func (r *rosters) room(companyID, company int64, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	size := company
	for id, at := range r.known {
		if id != companyID {
			size += at.size()
		}
	}
	for id, at := range r.known {
		if size > mostRostered && id != companyID && now.Sub(at.used) > unusedFor {
			size -= at.size()
			delete(r.known, id)
		}
	}
	return size <= mostRostered
}

// asked are the companies whose rosters are wanted.
func (r *rosters) asked() (companies []int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	companies, r.wanted = r.wanted, nil
	return companies
}

func (r *roster) size() (size int64) {
	for _, bucket := range r.buckets {
		size += int64(len(bucket.entries))
	}
	return size
}

// atHand is the roster of a company of so many customers, and which of its buckets have
// changed; nil: there is none yet, or never.
func (s *Service) atHand(ctx context.Context, companyID, company int64) (at *roster, changed []int64, err error) {
	if company < leastRostered {
		return nil, nil, nil
	}
	if at = s.rosters.get(companyID, s.db.Now()); at == nil {
		s.rosters.ask(companyID)
		return nil, nil, nil
	}
	stamps, dense, err := counter.Stamps(ctx, s.db, companyID, company/leastInBucket)
	if err != nil || !dense {
		return nil, nil, err
	}
	if changed = stamps.ChangedSince(at.stamps); len(changed) > fewChanged {
		s.rosters.ask(companyID)
	}
	return at, changed, nil
}

// RosterWake wakes the job of KeepRosters.
func (s *Service) RosterWake() worker.Wake { return s.rosters.wake }

// KeepRosters reads what searches are filtered by and sorted by into memory, for the
// companies that need it.
func (s *Service) KeepRosters(ctx context.Context) error {
	if !s.rosters.begun {
		large, err := counter.Largest(ctx, s.db, leastAtOnce, mostRostered)
		if err != nil {
			return err
		}
		s.rosters.ask(large...)
		s.rosters.begun = true
	}
	var failures []error
	for _, companyID := range s.rosters.asked() {
		if err := s.keepRoster(ctx, companyID); err != nil { // the next search there asks again
			failures = append(failures, fmt.Errorf("read the roster of company %d: %w", companyID, err))
		}
	}
	return errors.Join(append(failures, s.saveRosters(ctx, savedEvery))...)
}

// SaveRosters writes down what is known, for the process that starts next.
func (s *Service) SaveRosters(ctx context.Context) error { return s.saveRosters(ctx, 0) }

func (s *Service) saveRosters(ctx context.Context, since time.Duration) error {
	for companyID, made := range s.rosters.unsaved(s.db.Now(), since) {
		if err := saveRoster(ctx, s.db, companyID, made); err != nil {
			return fmt.Errorf("save the roster of company %d: %w", companyID, err)
		}
		s.rosters.save(companyID, made, s.db.Now())
	}
	return nil
}

func (s *Service) keepRoster(ctx context.Context, companyID int64) error {
	company, err := counter.Total(ctx, s.db, companyID)
	if err != nil || company < leastRostered || !s.rosters.room(companyID, company, s.db.Now()) {
		return err
	}
	if s.rosters.get(companyID, s.db.Now()) == nil {
		if err := s.restoreRoster(ctx, companyID); err != nil {
			return err
		}
	}
	stamps, dense, err := counter.Stamps(ctx, s.db, companyID, company/leastInBucket)
	if err != nil || !dense {
		return err
	}
	made, err := s.renewed(ctx, companyID, stamps)
	if err == nil && made != nil {
		made.stamps = stamps
		s.rosters.put(companyID, made, s.db.Now())
	}
	return err
}

// restoreRoster knows what was saved, until it is renewed. The names of its ranks are read
// before the stamps which tell whose names are the same as then.
func (s *Service) restoreRoster(ctx context.Context, companyID int64) error {
	made, err := savedRoster(ctx, s.db, companyID)
	if err != nil || made == nil {
		return err
	}
	begin := make([]int64, len(made.names))
	for at, rank := range made.names {
		begin[at] = rank.id
	}
	names, err := namesOf(ctx, s.db, "name_key", companyID, begin)
	if err != nil {
		return err
	}
	stamps, _, err := counter.Stamps(ctx, s.db, companyID, math.MaxInt32)
	if err != nil {
		return err
	}
	made.name(names, stamps.ChangedSince(made.stamps))
	s.rosters.put(companyID, made, s.db.Now())
	s.rosters.save(companyID, made, s.db.Now())
	return nil
}

// renewed is the roster of now: the one that is known with its changed buckets read anew,
// or another where they are many. It is nil where a roster has too few numbers.
func (s *Service) renewed(ctx context.Context, companyID int64, stamps tally.Stamps) (*roster, error) {
	old := s.rosters.get(companyID, s.db.Now())
	if old == nil {
		return readRoster(ctx, s.db, companyID)
	}
	changed := stamps.ChangedSince(old.stamps)
	if len(changed) > len(stamps)/4+1 {
		return readRoster(ctx, s.db, companyID)
	}
	members, err := membersOf(ctx, s.db, companyID, changed)
	if err != nil {
		return nil, err
	}
	if made, ok := old.patched(members, changed); ok {
		return made, nil
	}
	return readRoster(ctx, s.db, companyID)
}

// described is a roster in which those of some customers whose buckets have changed are
// as they are now; nil: they are too many, and others of these buckets are missing.
func (s *Service) described(ctx context.Context, companyID int64, at *roster, changed []int64, of idSet) (*roster, error) {
	if len(changed) == 0 {
		return at, nil
	}
	var ids []int64
	for _, bucket := range changed {
		ids = of.group(bucket).appendTo(ids)
	}
	if len(ids) > mostTested {
		return nil, nil
	}
	members, err := membersAmong(ctx, s.db, companyID, ids)
	if err != nil {
		return nil, err
	}
	if made, ok := at.patched(members, changed); ok {
		return made, nil
	}
	return nil, nil
}
