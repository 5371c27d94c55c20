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
	all, err := im.read(batch, on, tx.Now())
	if err != nil {
		return out, err
	}
	made, err := im.insert(ctx, tx, all, st)
	if err != nil {
		return out, err
	}
	out = outcomeOf(all)
	for _, record := range made {
		out.counted.Add(record, im.actor.Today(tx.Now()))
	}
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
		made = append(made, candidate.Customer)
	}
	if err := im.refuseTaken(ctx, tx, taken); err != nil {
		return nil, err
	}
	for _, candidate := range taken {
		if candidate.faults.Empty() {
			candidate.faults.Add("", "another change was made at the same moment; try again")
		}
	}
	return made, nil
}

func (o ImportOptions) consequences() customer.Consequences {
	return customer.Consequences{Events: o.Events, Invoices: o.Invoices}
}

// done is what became of a file when its rows were written.
func (im *importer) done(out outcome) Imported {
	return Imported{Imported: out.good, Failed: im.total.Failed + out.failed, Duplicates: im.total.Duplicates}
}

// finish ends an import: it counts what was written, writes one audit line for all of
// it, and writes down that the file was imported. It has the company's day looked at:
// customers that become visible with it may be past their due dates.
func (im *importer) finish(ctx context.Context, tx *sqldb.Tx, out outcome) error {
	if im.options.finished != nil {
		if err := im.options.finished(ctx, tx, im.done(out)); err != nil {
			return err
		}
	}
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
