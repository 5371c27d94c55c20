package intake

import (
	"context"
	"fmt"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/customer/sheet"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
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
	if err := catalog.HoldPlans(ctx, im.actor.In(tx)); err != nil {
		return nil, err
	}
	on, err := loadCatalog(ctx, tx, im.actor)
	if err != nil {
		return nil, err
	}
	on.prices = im.prices
	if im.options.CreateMissing {
		on.addTo(ctx, im.actor.In(tx), added)
	}
	return &writing{importer: im, tx: tx, catalog: on, counted: customer.Counts{}}, nil
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
		err := im.service.customers.Announce(ctx, im.actor.In(w.tx), im.options.consequences(), made)
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
	ctx context.Context, good []*candidate,
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
	if err := customer.InsertMany(ctx, w.importer.actor.In(w.tx), customers, !w.importer.options.Events); err != nil {
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
	return account.WriteAudit(ctx, im.actor.In(tx), account.AuditEntry{
		Action: string(customer.ActionImported),
		Record: "customer",
		After:  account.AuditFields{"customers": n},
	})
}

// likenesses are those of a row, in the order of the fields.
func (c *candidate) likenesses() []customer.Likeness {
	list := []customer.Likeness{{Field: "whatsapp", Value: c.Whatsapp}, {Field: "cpf_cnpj", Value: c.CpfCnpj}}
	// A date that the plan gave says nothing: every row without one has it.
	if c.row.Values["data_de_vencimento"] != "" {
		list = append(list, customer.Likeness{Field: "name", Value: c.DueOn.String() + " " + text.Searchable(text.Fold(c.Name))})
	}
	return list
}

// reason says to a person what the two have in common.
func reason(n customer.Namesake, field string) string {
	switch field {
	case "whatsapp":
		return fmt.Sprintf("is already the phone of customer %d (%s)", n.ID, n.Name)
	case "cpf_cnpj":
		return fmt.Sprintf("is already the CPF or CNPJ of customer %d (%s)", n.ID, n.Name)
	}
	return fmt.Sprintf("has the name and due date of customer %d (%s)", n.ID, n.Name)
}

// findDuplicates reports the rows that seem to be an earlier row or a customer
// who is there already, and returns those that are to be imported. Two people
// may share a phone, so a person chooses. Where duplicates are passed over, a bad
// row is no earlier row: the next one like it is imported in its place.
func (im *importer) findDuplicates(ctx context.Context, all []*candidate) ([]*candidate, error) {
	there, err := im.alikeThere(ctx, all)
	if err != nil {
		return nil, err
	}
	var kept []*candidate
	for _, candidate := range all {
		skips := im.options.SkipDuplicates
		if skips && !candidate.faults.Empty() {
			kept = append(kept, candidate)
			continue
		}
		alike := append(im.alikeBefore(candidate), candidate.alike(there)...)
		im.reportDuplicate(alike)
		if skips && len(alike) > 0 {
			im.passed[candidate.row.Line] = true
			continue
		}
		im.met.Remember(candidate.row)
		kept = append(kept, candidate)
	}
	return kept, nil
}

// alikeBefore is what a row has in common with earlier rows.
func (im *importer) alikeBefore(candidate *candidate) (list []Problem) {
	for _, duplicate := range im.met.Of(candidate.row) {
		list = append(list, Problem{
			Line:   candidate.row.Line,
			Name:   candidate.row.Values["name"],
			Field:  duplicate.Field,
			Value:  candidate.row.Values[duplicate.Field],
			Reason: duplicate.Reason,
		})
	}
	return list
}

// alike is what a row has in common with customers who are there.
func (c *candidate) alike(there map[customer.Likeness]customer.Namesake) (list []Problem) {
	if !c.faults.Empty() {
		return nil
	}
	for _, likeness := range c.likenesses() {
		if other, found := there[likeness]; found {
			list = append(list, Problem{
				Line:       c.row.Line,
				Name:       c.row.Values["name"],
				Field:      likeness.Field,
				Value:      c.row.Values[likeness.Field],
				Reason:     reason(other, likeness.Field),
				CustomerID: other.ID,
			})
		}
	}
	return list
}

// alikeThere finds the customers of the company who have what the good rows
// have, by one statement for all of them.
func (im *importer) alikeThere(ctx context.Context, all []*candidate) (map[customer.Likeness]customer.Namesake, error) {
	values := map[string][]string{}
	for _, candidate := range all {
		if !candidate.faults.Empty() {
			continue
		}
		for _, likeness := range candidate.likenesses() {
			if likeness.Value != "" {
				values[likeness.Field] = append(values[likeness.Field], likeness.Value)
			}
		}
	}
	if len(values) == 0 {
		return nil, nil
	}
	return customer.Namesakes(ctx, im.service.db, im.actor.Company.ID, values)
}

func (im *importer) reportDuplicate(alike []Problem) {
	if len(alike) == 0 {
		return
	}
	im.total.Duplicates++
	if im.options.Duplicate != nil {
		for _, problem := range alike {
			im.options.Duplicate(problem)
		}
	}
}

// passOver finds the duplicates of a file that is written without a check
// before. Errors of rows are reported when they are written.
func (im *importer) passOver(ctx context.Context, rows Rows) error {
	im.quiet = true
	err := im.check(ctx, rows)
	im.quiet = false
	im.total = Imported{Duplicates: im.total.Duplicates}
	im.usuarios, im.external = firstLines{}, firstLines{}
	return err
}
