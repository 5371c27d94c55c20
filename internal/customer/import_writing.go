package customer

import (
	"context"
	"maps"
	"slices"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/customer/sheet"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// writing is one transaction of an import.
type writing struct {
	importer *importer
	tx       *sqldb.Tx
	catalog  *catalogCache
	counted  importCounts
	stage    *stage // what the customers are hidden by; nil: they are not
}

func (im *importer) begin(ctx context.Context, tx *sqldb.Tx, added *addedGoods) (*writing, error) {
	if err := catalog.HoldPlans(ctx, tx, im.actor); err != nil {
		return nil, err
	}
	on, err := loadCatalog(ctx, tx, im.actor)
	if err != nil {
		return nil, err
	}
	if im.options.CreateMissing {
		on.addTo(ctx, tx, im.actor, added)
	}
	return &writing{
		importer: im,
		tx:       tx,
		catalog:  on,
		counted:  importCounts{},
	}, nil
}

// write inserts the good rows of a batch and, unless they are staged, draws
// their consequences.
func (w *writing) write(ctx context.Context, batch []sheet.Row, out *outcome) error {
	im := w.importer
	all, err := im.read(batch, w.catalog, w.tx.Now())
	if err != nil {
		return err
	}
	var good []*candidate
	for _, candidate := range all {
		if candidate.faults.Empty() {
			made := Change{Action: ActionCreated, After: candidate.Customer}
			made.settleWorth(im.actor.Today(w.tx.Now()))
			candidate.Customer = made.After
			good = append(good, candidate)
		}
	}
	made, taken, err := w.insert(ctx, good)
	if err != nil {
		return err
	}
	for _, customer := range made {
		w.counted.add(customer, im.actor.Today(w.tx.Now()))
	}
	if w.stage == nil {
		err := im.service.drawImported(ctx, w.tx, im.actor, im.options.consequences(), made)
		if err != nil {
			return err
		}
	}
	if err := w.explain(ctx, taken); err != nil {
		return err
	}
	out.add(all)
	return nil
}

// insert writes customers, and returns those that were not written because
// another one has their login or key.
func (w *writing) insert(
	ctx context.Context,
	good []*candidate,
) (made []Customer, taken []*candidate, err error) {
	customers := make([]Customer, len(good))
	for i, candidate := range good {
		customers[i] = candidate.Customer
	}
	if w.stage != nil {
		if err := w.stage.number(customers); err != nil {
			return nil, nil, err
		}
	}
	ids, err := w.insertRows(ctx, customers)
	if err != nil {
		return nil, nil, err
	}
	for _, candidate := range good {
		if candidate.ID = ids[candidate.UUID]; candidate.ID == 0 {
			taken = append(taken, candidate)
			continue
		}
		w.importer.remember(candidate)
		made = append(made, candidate.Customer)
	}
	return made, taken, nil
}

// insertRows writes customers and returns their ids by uuid.
func (w *writing) insertRows(ctx context.Context, customers []Customer) (map[string]int64, error) {
	company, today := w.importer.actor.Company.ID, w.importer.actor.Today(w.tx.Now())
	// An import that records no events must not cause customer.expired for half
	// the file: who is past the due date counts as recorded.
	before := expiry{expired: !w.importer.options.Events}
	for i := range customers {
		customers[i].expiry = before.after(customers[i].expires(), today)
	}
	ids, err := insertMany(ctx, w.tx, company, customers)
	if err != nil || w.importer.options.Events {
		return ids, err
	}
	return ids, markImported(ctx, w.tx, company, slices.Collect(maps.Values(ids)))
}

// consequences are what an import has besides the customers themselves.
type consequences struct {
	Events   bool `json:"events,omitempty"`
	Invoices bool `json:"invoices,omitempty"`
}

func (o ImportOptions) consequences() consequences {
	return consequences{o.Events, o.Invoices}
}

// action is what the import does to each customer.
func (c consequences) action() Action {
	if c.Invoices {
		return ActionCreated
	}
	return ActionImported
}

// drawImported draws the consequences of customers who have been inserted, as
// apply does for one: counts and the audit line come once, in finish.
func (s *Service) drawImported(
	ctx context.Context,
	tx *sqldb.Tx,
	actor account.Actor,
	want consequences,
	list []Customer,
) error {
	made := make([]Change, len(list))
	for i, customer := range list {
		made[i] = Change{Action: want.action(), After: customer}
		if !want.Events {
			continue
		}
		if err := s.recordEvent(ctx, tx, actor, &made[i]); err != nil {
			return err
		}
	}
	return s.watchers.Tell(ctx, tx, Changes{Actor: actor, List: made})
}

// explain says why good rows were not inserted: an earlier line or another
// customer has the login or the key.
func (w *writing) explain(ctx context.Context, taken []*candidate) error {
	w.importer.refuseRepeated(taken)
	if err := w.importer.refuseTaken(ctx, w.tx, taken); err != nil {
		return err
	}
	for _, candidate := range taken {
		if candidate.faults.Empty() {
			candidate.faults.Add("", "another change was made at the same moment; try again")
		}
	}
	return nil
}

// finish ends an import of all rows: it counts them, and writes down with them
// that they were imported.
func (im *importer) finish(ctx context.Context, tx *sqldb.Tx, counted importCounts, n int) error {
	if err := im.count(ctx, tx, counted, n); err != nil || im.options.finished == nil {
		return err
	}
	return im.options.finished(ctx, tx, Imported{Imported: n})
}

// count counts what was written, and writes one audit line for all of it. It has
// the company's day looked at: customers that become visible with it may be past
// their due dates.
func (im *importer) count(ctx context.Context, tx *sqldb.Tx, counted importCounts, n int) error {
	if err := tally.AddAll(ctx, tx, im.actor.Company.ID, counted.entries()); err != nil || n == 0 {
		return err
	}
	if err := account.AskDayWork(ctx, tx, im.actor.Company.ID); err != nil {
		return err
	}
	return account.WriteAudit(ctx, tx, im.actor, account.AuditEntry{
		Action: string(ActionImported),
		Record: "customer",
		After:  account.AuditFields{"customers": n},
	})
}
