package customer

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
	"carteira/internal/tally"
)

// InsertMany writes the rows of new customers for an import, and sets the ids of
// those that were written: one with a login or key that another customer has
// gets none. Either all have a reserved id or none has. Counts, audit line and
// Announce are the import's to call.
//
// An import that records no events must not cause customer.expired for half the
// file: with quiet, a customer past the due date counts as recorded.
func InsertMany(ctx context.Context, tx account.Tx, list []Customer, quiet bool) error {
	today := tx.Today(tx.Now())
	before := expiry{expired: quiet}
	for i := range list {
		made := Change{Action: ActionCreated, After: list[i]}
		made.settleWorth(today)
		list[i] = made.After
		list[i].expiry = before.after(list[i].expires(), today)
	}
	ids, err := insertMany(ctx, tx, list)
	if err != nil {
		return err
	}
	var recorded []int64
	for i := range list {
		made := &list[i]
		if made.ID = ids[made.UUID]; made.ID != 0 && made.expiry.expired {
			recorded = append(recorded, made.ID)
		}
	}
	return markImported(ctx, tx, recorded)
}

// Consequences are what an import has besides the customers themselves.
type Consequences struct {
	Events   bool `json:"events,omitempty"`
	Invoices bool `json:"invoices,omitempty"`
}

// action is what the import does to each customer.
func (c Consequences) action() Action {
	if c.Invoices {
		return ActionCreated
	}
	return ActionImported
}

// Announce records the events of customers who have been inserted and runs the
// watchers, as apply does for one.
func (s *Service) Announce(ctx context.Context, tx account.Tx, want Consequences, list []Customer) error {
	made := make([]Change, len(list))
	for i, customer := range list {
		made[i] = Change{Action: want.action(), After: customer}
		if !want.Events {
			continue
		}
		if err := s.recordEvent(ctx, tx, &made[i]); err != nil {
			return err
		}
	}
	return s.watchers.Tell(ctx, tx.Tx, Changes{Actor: tx.Actor, List: made})
}

// Counts are how many created customers are to be counted, once for all: by an entry
// without numbers.
type Counts map[tally.Entry]tally.Sums

// Add counts a customer as one who is created.
func (counts Counts) Add(customer Customer, today civil.Date) {
	created := Change{Action: ActionCreated, After: customer}
	for _, entry := range append(created.counts(), created.countedWorth(today)...) {
		sums := tally.Sums{N: entry.N, Cents: entry.Cents}
		entry.N, entry.Cents = 0, 0
		counts.sum(entry, sums)
	}
}

// Join adds what others have counted.
func (counts Counts) Join(more Counts) {
	for at, sums := range more {
		counts.sum(at, sums)
	}
}

func (counts Counts) sum(at tally.Entry, more tally.Sums) {
	known := counts[at]
	counts[at] = tally.Sums{N: known.N + more.N, Cents: known.Cents + more.Cents}
}

// Write adds the counts to the company's counters.
func (counts Counts) Write(ctx context.Context, tx *sqldb.Tx, companyID int64) error {
	entries := make([]tally.Entry, 0, len(counts))
	for entry, sums := range counts {
		entry.N, entry.Cents = sums.N, sums.Cents
		entries = append(entries, entry)
	}
	return tally.AddAll(ctx, tx, companyID, entries)
}

// Staged reads the customers of a range of ids, be they visible or not.
func Staged(ctx context.Context, tx *sqldb.Tx, companyID, from, to int64) ([]Customer, error) {
	return sqldb.All(ctx, tx, scanJoined, `SELECT `+columns+` FROM customers c`+joins+`
		WHERE c.company_id = ? AND c.id BETWEEN ? AND ? ORDER BY c.id`, companyID, from, to)
}

// RemoveStaged deletes customers that an import has hidden. Nothing refers to
// them but what goes with them.
func RemoveStaged(ctx context.Context, tx *sqldb.Tx, companyID, from, to int64) error {
	_, err := tx.Exec(ctx, `DELETE FROM customers WHERE company_id = ? AND id BETWEEN ? AND ?`, companyID, from, to)
	return err
}

// Unique is a field that no two customers of a company have alike.
type Unique struct {
	Field  string // as requests name it
	column string
	Of     func(Customer) string // what is compared
}

// Uniques are those fields.
var Uniques = []Unique{
	{"usuario", "usuario_key", func(customer Customer) string { return text.Lower(customer.Usuario) }},
	{"external_id", "external_id", func(customer Customer) string { return customer.ExternalID }},
}

// Taken returns which of the values customers of the company have, be it one
// that an import has staged.
func (u Unique) Taken(ctx context.Context, querier sqldb.Querier, companyID int64, values []string) (map[string]bool, error) {
	list, err := sqldb.Values[string](ctx, querier, `
		SELECT `+u.column+` FROM customers WHERE company_id = ? AND `+u.column+` <> '' AND `+u.column+` {in ?}`, companyID, values)
	found := make(map[string]bool, len(list))
	for _, value := range list {
		found[value] = true
	}
	return found, err
}
