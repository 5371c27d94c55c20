// Package intake brings customers in from files: it keeps an uploaded file, finds
// what is wrong with its rows and which of them are there already, and creates
// the customers of the rest, all of them or none. What a customer must have is
// the customer room's to say.
package intake

import (
	"context"
	"errors"
	"iter"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/customer/sheet"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// Service has the use cases.
type Service struct {
	db        *sqldb.DB
	customers *customer.Service
}

// New makes the service.
func New(db *sqldb.DB, customers *customer.Service) *Service {
	return &Service{db: db, customers: customers}
}

// Rows walks a file from its beginning, every time that it is called: an
// import reads it once to check and once to write.
type Rows func() iter.Seq2[sheet.Row, error]

// ImportOptions are the choices of an import.
type ImportOptions struct {
	KeepGoing     bool `json:"keep_going"`     // write the good rows of a file that has bad ones
	CreateMissing bool `json:"create_missing"` // make the plans and products that rows name and the company lacks
	Events        bool `json:"events"`         // record customer.created for each, and in time customer.expired for those past their date
	// Invoices bills each for its due date at once, as Create does. Otherwise one
	// is issued when its time comes.
	Invoices bool `json:"invoices"`
	// LeaveOut has values that cannot be used, and that a customer need not have,
	// left out with a warning: the row is good without them.
	LeaveOut bool `json:"leave_out"`
	// SkipDuplicates has rows passed over that seem to be a customer who is there
	// already, or the customer of an earlier row. Otherwise they are imported.
	SkipDuplicates bool `json:"skip_duplicates"`
	DryRun         bool `json:"-"` // check, and write nothing

	// Problem receives all that is wrong, in the order of the lines; Warning what
	// was left out; Duplicate the rows that seem to be there already, before
	// anything is written. Each may be nil.
	Problem   func(Problem) `json:"-"`
	Warning   func(Problem) `json:"-"`
	Duplicate func(Problem) `json:"-"`

	// finished is called in the transaction by which the rows have been imported; it
	// may be nil.
	finished func(ctx context.Context, tx *sqldb.Tx, done Imported) error
}

// Problem is what is wrong with a field of a row.
type Problem struct {
	Line       int    `json:"line"`
	Name       string `json:"name,omitempty"` // of the customer, as the row has it
	Field      string `json:"field"`          // the API's name; "": the whole line
	Value      string `json:"value"`          // as the row has it
	Reason     string `json:"reason"`
	CustomerID int64  `json:"customer_id,omitempty"` // the customer that has the value already; 0: none, or an earlier line
}

// Imported is what became of the rows. Skipped ones are good and were not
// written: others were bad, or it was a dry run. Duplicates were passed over
// where SkipDuplicates is chosen; otherwise they are among the others too.
type Imported struct {
	Imported   int `json:"imported"`
	Failed     int `json:"failed"`
	Skipped    int `json:"skipped"`
	Duplicates int `json:"duplicates"`
}

// importBatch is how many rows are read at once, and written by one statement. On
// SQLite each batch is a transaction, for which others wait.
const importBatch = 128

// Import creates a customer of every row, by the rules of Create: all of them
// or, when a row is bad, none. With KeepGoing it creates those of all the good rows,
// or none when it breaks off. An error means that it did; what it returns with it has
// been written all the same.
func (s *Service) Import(ctx context.Context, actor account.Actor, rows Rows, options ImportOptions) (Imported, error) {
	im := &importer{service: s, actor: actor, options: options, met: firstLines{}, passed: map[int]bool{}}
	if options.CreateMissing {
		im.prices = usualPrices(rows)
	}
	err := im.check(ctx, rows)
	if err == nil && !options.DryRun && (im.total.Failed == 0 || options.KeepGoing) {
		err = im.writeAll(ctx, rows)
	}
	return im.total, err
}

// importer is one call of Import.
type importer struct {
	service *Service
	actor   account.Actor
	options ImportOptions
	total   Imported
	met     firstLines
	passed  map[int]bool           // lines that are not to be written: duplicates, and bad ones
	prices  map[string]money.Cents // of plans that have to be made, by their folded names
}

// batches walks rows some at a time, without those that are passed over. The last
// batch may be empty. Rows before an error come before it.
func (im *importer) batches(ctx context.Context, rows Rows) iter.Seq2[[]sheet.Row, error] {
	size, today := importBatch, im.actor.Today(im.service.db.Now())
	// PostgreSQL plans the check of a foreign key once, at the first batch. In a table of
	// few rows it takes any index that begins with the company, and reads all of it for
	// each later row.
	if im.service.db.Engine() == sqldb.Postgres {
		size *= 4
	}
	return func(yield func([]sheet.Row, error) bool) {
		var batch []sheet.Row
		for row, err := range rows() {
			if err != nil {
				_ = yield(batch, ctx.Err()) && yield(nil, err)
				return
			}
			if !im.passed[row.Line] {
				batch = append(batch, complete(row, today))
			}
			if len(batch) == size {
				if !yield(batch, ctx.Err()) {
					return
				}
				batch = nil
			}
		}
		yield(batch, ctx.Err())
	}
}

// check reads all rows and writes nothing. What is good counts as skipped,
// until it is written.
func (im *importer) check(ctx context.Context, rows Rows) error {
	on, err := im.loadCatalog(ctx, im.service.db)
	if err != nil {
		return err
	}
	for batch, err := range im.batches(ctx, rows) {
		if err != nil {
			return err
		}
		all, err := im.read(batch, on, im.service.db.Now())
		if err != nil {
			return err
		}
		if all, err = im.findDuplicates(ctx, all); err != nil {
			return err
		}
		im.refuseRepeated(all)
		if err := im.refuseTaken(ctx, im.service.db, all); err != nil {
			return err
		}
		out := outcomeOf(all)
		im.total.Skipped, im.total.Failed = im.total.Skipped+out.good, im.total.Failed+out.failed
		send(im.options.Problem, out.problems)
		for _, candidate := range all {
			if candidate.faults.Empty() {
				send(im.options.Warning, candidate.warnings())
			} else {
				im.passed[candidate.row.Line] = true
			}
		}
	}
	return customer.RoomFor(ctx, im.service.db, im.actor, int64(im.total.Skipped))
}

var errUndone = errors.New("a row was refused while the others were being written")

// writeAll writes all rows. What was checked before may still be refused:
// another process may have been faster, and then nothing stays, or the others
// with KeepGoing.
func (im *importer) writeAll(ctx context.Context, rows Rows) error {
	write := im.writeAtOnce
	if im.service.db.Engine() == sqldb.SQLite && im.total.Skipped > importBatch {
		write = im.writeStaged
	}
	out, err := write(ctx, rows)
	if errors.Is(err, errUndone) {
		im.total.Skipped -= out.failed
		im.total.Failed, err = out.failed, nil
	}
	send(im.options.Problem, out.problems)
	return err
}

// writeAtOnce writes all rows in one transaction.
func (im *importer) writeAtOnce(ctx context.Context, rows Rows) (outcome, error) {
	out, err := sqldb.Write(ctx, im.service.db, func(tx *sqldb.Tx) (outcome, error) {
		out, err := im.writeEach(ctx, rows, func(batch []sheet.Row) (outcome, error) {
			return im.write(ctx, tx, batch, nil)
		})
		if err != nil {
			return out, err
		}
		return out, im.finish(ctx, tx, out)
	})
	if err == nil {
		im.total = im.done(out)
	}
	return out, err
}

// writeEach has the rows written a batch at a time, and sums up what became of
// them. It ends with one that was refused and is not to be passed over.
func (im *importer) writeEach(ctx context.Context, rows Rows, write func([]sheet.Row) (outcome, error)) (outcome, error) {
	out := outcomeOf(nil)
	for batch, err := range im.batches(ctx, rows) {
		if err != nil {
			return out, err
		}
		written, err := write(batch)
		if err != nil {
			return out, err
		}
		out.join(written)
		if out.failed > 0 && !im.options.KeepGoing {
			return out, errUndone
		}
	}
	return out, nil
}

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
	after := account.AuditFields{"customers": out.good}
	entry := account.AuditEntry{Action: string(customer.ActionImported), Record: "customer", After: after}
	return account.WriteAudit(ctx, im.actor.In(tx), entry)
}

// outcome is what became of some rows.
type outcome struct {
	good, failed int
	counted      customer.Counts // of those that were written
	problems     []Problem
}

func outcomeOf(all []*candidate) outcome {
	out := outcome{counted: customer.Counts{}}
	for _, candidate := range all {
		if candidate.faults.Empty() {
			out.good++
			continue
		}
		out.failed++
		out.problems = append(out.problems, candidate.problems(candidate.faults)...)
	}
	return out
}

// join adds what became of more rows.
func (out *outcome) join(more outcome) {
	out.good, out.failed = out.good+more.good, out.failed+more.failed
	out.problems = append(out.problems, more.problems...)
	out.counted.Join(more.counted)
}

func send(receive func(Problem), problems []Problem) {
	for _, problem := range problems {
		if receive != nil {
			receive(problem)
		}
	}
}
