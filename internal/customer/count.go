package customer

import (
	"context"
	"fmt"
	"sync"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

// Counting a million rows for every page of fifty would cost more than the
// page. So counts are kept, by what customers are filtered by (due date, plan,
// product) and by where they stand in the list (bucket of ids). A change
// appends rows to customer_deltas, which no other change waits for, and Fold
// adds them up from time to time. What is read is always sums plus deltas, in
// one statement, so the number is exact at every moment.

// bucketSize is how many consecutive ids share a count.
const bucketSize = 4096

func bucketOf(id int64) int64 { return id / bucketSize }

// place is where a customer is counted.
type place struct {
	bucket    int64
	dueOn     string
	planID    int64
	productID int64
}

func placeOf(c Customer) place {
	return place{bucket: bucketOf(c.ID), dueOn: c.DueOn.String(), planID: c.Plan.ID, productID: c.Product.ID}
}

// tally counts a customer who comes (+1) or goes (−1).
func tally(ctx context.Context, tx *sqldb.Tx, companyID int64, c Customer, n int64) error {
	return appendDelta(ctx, tx, companyID, placeOf(c), n)
}

// retally counts a change. One that moves nobody leaves a row all the same:
// the rows are also the stamp by which a cached count knows that it is old.
func retally(ctx context.Context, tx *sqldb.Tx, companyID int64, before, after Customer) error {
	from, to := placeOf(before), placeOf(after)
	if from == to {
		return appendDelta(ctx, tx, companyID, to, 0)
	}
	if err := appendDelta(ctx, tx, companyID, from, -1); err != nil {
		return err
	}
	return appendDelta(ctx, tx, companyID, to, +1)
}

// count is how many customers a listing has in all.
func (s *Service) count(ctx context.Context, l listing, company int64) (int64, error) {
	f := l.filter
	switch {
	case f == (Filter{}):
		return company, nil
	case f.Search == "" && f.ExternalID == "":
		return tallied(ctx, s.db, l.company, f.PlanID, f.ProductID, l.due)
	}
	return s.counts.get(ctx, s.db, l, company)
}

// CountByPlan tells how many customers each plan has.
func (s *Service) CountByPlan(ctx context.Context, a account.Actor, planIDs []int64) (map[int64]int64, error) {
	return countBy(ctx, s.db, a.Company.ID, "plan_id", planIDs)
}

// CountByProduct tells how many customers each product has.
func (s *Service) CountByProduct(ctx context.Context, a account.Actor, productIDs []int64) (map[int64]int64, error) {
	return countBy(ctx, s.db, a.Company.ID, "product_id", productIDs)
}

// countCache keeps the counts of searches, which no sum can give, while the
// company's customers stand as they were counted.
type countCache struct {
	mu    sync.Mutex
	known map[string]counted
}

type counted struct {
	at stamp
	n  int64
}

// maxCounts bounds the cache; past it everything is counted again.
const maxCounts = 2000

func (c *countCache) get(ctx context.Context, db *sqldb.DB, l listing, company int64) (int64, error) {
	// The stamp comes first: a change between the two is then counted and
	// found again under its own stamp, never hidden under an older one.
	at, err := stampOf(ctx, db, l.company)
	if err != nil {
		return 0, err
	}
	key := fmt.Sprintf("%d %+v %+v", l.company, l.filter, l.due)
	c.mu.Lock()
	hit, ok := c.known[key]
	c.mu.Unlock()
	if ok && hit.at == at {
		return hit.n, nil
	}
	n, err := countRows(ctx, db, l.matching(company, company))
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxCounts {
		c.known = map[string]counted{}
	}
	c.known[key] = counted{at, n}
	return n, nil
}

// foldBatch bounds the transaction of one fold to a few milliseconds.
const foldBatch = 2000

// Fold adds the deltas of all companies to their sums. It may run at any time
// and in any number of processes; each delta is folded once.
func (s *Service) Fold(ctx context.Context) error {
	companies, err := companiesWithDeltas(ctx, s.db)
	if err != nil {
		return err
	}
	for _, companyID := range companies {
		if err := s.foldCompany(ctx, companyID); err != nil {
			return fmt.Errorf("fold counts of company %d: %w", companyID, err)
		}
	}
	return nil
}

func (s *Service) foldCompany(ctx context.Context, companyID int64) error {
	for folded := foldBatch; folded == foldBatch; {
		err := s.db.Write(ctx, func(tx *sqldb.Tx) error {
			deltas, err := takeDeltas(ctx, tx, companyID, foldBatch)
			folded = len(deltas)
			if err != nil || folded == 0 {
				return err
			}
			return addSums(ctx, tx, companyID, deltas)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
