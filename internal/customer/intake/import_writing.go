package intake

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/customer/sheet"
	"carteira/internal/platform/sqldb"
)

// writing is one transaction of an import.
type writing struct {
	importer *importer
	tx       *sqldb.Tx
	catalog  *catalogCache
	counted  customer.Counts
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
	on.prices = im.prices
	if im.options.CreateMissing {
		on.addTo(ctx, tx, im.actor, added)
	}
	return &writing{
		importer: im,
		tx:       tx,
		catalog:  on,
		counted:  customer.Counts{},
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
			good = append(good, candidate)
		}
	}
	made, taken, err := w.insert(ctx, good)
	if err != nil {
		return err
	}
	for _, record := range made {
		w.counted.Add(record, im.actor.Today(w.tx.Now()))
	}
	if w.stage == nil {
		err := im.service.customers.Announce(ctx, w.tx, im.actor, im.options.consequences(), made)
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
) (made []customer.Customer, taken []*candidate, err error) {
	customers := make([]customer.Customer, len(good))
	for i, candidate := range good {
		customers[i] = candidate.Customer
	}
	if w.stage != nil {
		if err := w.stage.number(customers); err != nil {
			return nil, nil, err
		}
	}
	if err := customer.InsertMany(ctx, w.tx, w.importer.actor, customers, !w.importer.options.Events); err != nil {
		return nil, nil, err
	}
	for i, candidate := range good {
		if candidate.Customer = customers[i]; candidate.ID == 0 {
			taken = append(taken, candidate)
			continue
		}
		w.importer.remember(candidate)
		made = append(made, candidate.Customer)
	}
	return made, taken, nil
}

func (o ImportOptions) consequences() customer.Consequences {
	return customer.Consequences{Events: o.Events, Invoices: o.Invoices}
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
func (im *importer) finish(ctx context.Context, tx *sqldb.Tx, counted customer.Counts, n int) error {
	if err := im.count(ctx, tx, counted, n); err != nil || im.options.finished == nil {
		return err
	}
	return im.options.finished(ctx, tx, Imported{Imported: n})
}

// count counts what was written, and writes one audit line for all of it. It has
// the company's day looked at: customers that become visible with it may be past
// their due dates.
func (im *importer) count(ctx context.Context, tx *sqldb.Tx, counted customer.Counts, n int) error {
	if err := counted.Write(ctx, tx, im.actor.Company.ID); err != nil || n == 0 {
		return err
	}
	if err := account.AskDayWork(ctx, tx, im.actor.Company.ID); err != nil {
		return err
	}
	return account.WriteAudit(ctx, tx, im.actor, account.AuditEntry{
		Action: string(customer.ActionImported),
		Record: "customer",
		After:  account.AuditFields{"customers": n},
	})
}
