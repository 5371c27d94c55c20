package intake

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/customer/sheet"
	"carteira/internal/platform/sqldb"
)

// write inserts the good rows of a batch and, unless they are staged, draws
// their consequences.
func (im *importer) write(ctx context.Context, tx *sqldb.Tx, batch []sheet.Row, st *stage) (out outcome, err error) {
	if err := catalog.HoldPlans(ctx, im.actor.In(tx)); err != nil {
		return out, err
	}
	on, err := im.loadCatalog(ctx, tx)
	if err != nil {
		return out, err
	}
	if im.options.CreateMissing {
		on.addTo(ctx, im.actor.In(tx))
	}
	all, err := im.read(batch, on, tx.Now())
	if err != nil {
		return out, err
	}
	made, err := im.insert(ctx, tx, all, st)
	if err != nil {
		return out, err
	}
	out.counted = customer.Counts{}
	for _, record := range made {
		out.counted.Add(record, im.actor.Today(tx.Now()))
	}
	out.add(all)
	if st == nil {
		return out, im.service.customers.Announce(ctx, im.actor.In(tx), im.options.consequences(), made)
	}
	st.choices.Plans = append(st.choices.Plans, on.plans.made...)
	st.choices.Products = append(st.choices.Products, on.products.made...)
	return out, nil
}

// insert writes the good ones of all, and refuses those that were not written
// because another one has their login or key.
func (im *importer) insert(ctx context.Context, tx *sqldb.Tx, all []*candidate, st *stage) (made []customer.Customer, err error) {
	var good, taken []*candidate
	var customers []customer.Customer
	for _, candidate := range all {
		if candidate.faults.Empty() {
			good, customers = append(good, candidate), append(customers, candidate.Customer)
		}
	}
	if st != nil {
		if err := st.number(customers); err != nil {
			return nil, err
		}
	}
	if err := customer.InsertMany(ctx, im.actor.In(tx), customers, !im.options.Events); err != nil {
		return nil, err
	}
	for i, candidate := range good {
		if candidate.Customer = customers[i]; candidate.ID == 0 {
			taken = append(taken, candidate)
			continue
		}
		for _, unique := range uniques {
			im.first(candidate, unique)
		}
		made = append(made, candidate.Customer)
	}
	return made, im.explain(ctx, tx, taken)
}

// explain says why good rows were not inserted: an earlier line or another
// customer has the login or the key.
func (im *importer) explain(ctx context.Context, tx *sqldb.Tx, taken []*candidate) error {
	im.refuseRepeated(taken)
	if err := im.refuseTaken(ctx, tx, taken); err != nil {
		return err
	}
	for _, candidate := range taken {
		if candidate.faults.Empty() {
			candidate.faults.Add("", "another change was made at the same moment; try again")
		}
	}
	return nil
}

func (o ImportOptions) consequences() customer.Consequences {
	return customer.Consequences{Events: o.Events, Invoices: o.Invoices}
}

// finish ends an import of all rows: it counts them, and writes down with them
// that they were imported.
func (im *importer) finish(ctx context.Context, tx *sqldb.Tx, out outcome) error {
	if err := im.count(ctx, tx, out); err != nil || im.options.finished == nil {
		return err
	}
	return im.options.finished(ctx, tx, im.done(out))
}

// done is what became of a file when all of its rows were written.
func (im *importer) done(out outcome) Imported {
	return Imported{Imported: out.good, Duplicates: im.total.Duplicates}
}

// count counts what was written, and writes one audit line for all of it. It has
// the company's day looked at: customers that become visible with it may be past
// their due dates.
func (im *importer) count(ctx context.Context, tx *sqldb.Tx, out outcome) error {
	if err := out.counted.Write(ctx, tx, im.actor.Company.ID); err != nil || out.good == 0 {
		return err
	}
	if err := account.AskDayWork(ctx, tx, im.actor.Company.ID); err != nil {
		return err
	}
	return account.WriteAudit(ctx, im.actor.In(tx), account.AuditEntry{
		Action: string(customer.ActionImported),
		Record: "customer",
		After:  account.AuditFields{"customers": out.good},
	})
}
