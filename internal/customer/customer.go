// Package customer owns the people who buy a company's service: who they are,
// what they bought and until when it is paid for. It creates, changes, finds,
// renews and deletes them, and records the events of each. It does not own
// invoices, payments or messages: those rooms know customers, not the other
// way round.
package customer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/address"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/watch"
)

// Customer buys the company's service.
type Customer struct {
	ID         int64
	UUID       string
	Name       string
	Whatsapp   string // digits with country code
	Email      string
	Usuario    string // login name, unique in the company without regard to case
	DueOn      civil.Date
	OwnDay     int // day of the month that renewals return to after a shorter month
	Plan       Plan
	Product    Product
	Notes      string
	ExternalID string // the integrator's own key, unique in the company
	CpfCnpj    string // without punctuation
	Address    address.Address
	OwnPrice   Price
	Custom     Custom

	CancelledAt  time.Time // zero: not cancelled
	CancelReason string

	Autopay Autopay     // the payment room's
	Credit  money.Cents // the billing room's: what came and has paid no invoice yet; negative where it went back after it had paid

	CreatedAt time.Time
	UpdatedAt time.Time

	createdOffset int // of the company's zone at CreatedAt, in seconds east of UTC
	expiry        expiry
	period        civil.Period // of the plan
	recurring     recurring
	listed        bool // it was read without what only changes need
}

// Period is what the customer's price is for: that of its plan.
func (c Customer) Period() civil.Period { return c.period }

// CreatedZone is the company's zone as it was when the customer was created: a
// company that moves does not move the day on which its customers came.
func (c Customer) CreatedZone() *time.Location {
	return time.FixedZone("", c.createdOffset)
}

// CreatedOn is the company's day of CreatedAt, in the zone that it had at that time.
func (c Customer) CreatedOn() civil.Date {
	return civil.Of(c.CreatedAt.In(c.CreatedZone()))
}

// createdAt sets when the customer was created.
func (c *Customer) createdAt(now time.Time, zone *time.Location) {
	c.CreatedAt = now
	_, c.createdOffset = now.In(zone).Zone()
}

// Plan is what a customer's record shows of the plan; ID 0 means none.
type Plan struct {
	ID    int64
	Name  string
	Value money.Cents
}

// Product is what a customer's record shows of the product; ID 0 means none.
type Product struct {
	ID   int64
	Name string
}

// Status follows from the due date and the day it is looked at.
type Status string

// The statuses, as records show them.
const (
	Active   Status = "Ativo"
	DueToday Status = "Vence hoje"
	Expired  Status = "Vencido"
	// Cancelled customers have no other status, whatever their due date.
	Cancelled Status = "Cancelado"
)

// Status is the customer's status on a day of the company's calendar.
func (c Customer) Status(today civil.Date) Status {
	switch {
	case c.IsCancelled():
		return Cancelled
	case c.DueOn.IsZero() || c.onTimeThrough().After(today):
		return Active
	case c.onTimeThrough() == today:
		return DueToday
	}
	return Expired
}

// onTimeThrough is the last day on which the customer is on time: the due date, or the
// working day after it for which a debit is arranged.
func (c Customer) onTimeThrough() civil.Date {
	if c.held() {
		return c.expiry.on
	}
	return c.DueOn
}

// held reports whether a debit is arranged for a day after the due date.
func (c Customer) held() bool {
	return !c.DueOn.IsZero() && c.expiry.on.After(c.DueOn)
}

// Service has the use cases.
type Service struct {
	db       *sqldb.DB
	events   *event.Log
	watchers watch.List[Changes]
	repriced watch.List[Repriced]
}

// New makes the service.
func New(db *sqldb.DB, events *event.Log) *Service {
	return &Service{db: db, events: events}
}

// Find returns a customer of the company.
func (s *Service) Find(ctx context.Context, actor account.Actor, id int64) (Customer, error) {
	return byID(ctx, s.db, actor.Company.ID, id)
}

// CompanyOf finds the company that a customer belongs to, for the command line.
func (s *Service) CompanyOf(ctx context.Context, id int64) (int64, error) {
	companyID, err := sqldb.Value[int64](ctx, s.db, `SELECT company_id FROM customers WHERE id = ? AND `+Visible, id)
	return companyID, sqldb.Found(err, "customer")
}

// Create makes a customer.
func (s *Service) Create(ctx context.Context, actor account.Actor, draft Draft) (Customer, error) {
	if draft.Problems.Any() {
		return Customer{}, s.refuseNew(ctx, actor, draft)
	}
	change := Change{Action: ActionCreated}
	err := actor.Write(ctx, s.db, func(tx account.Tx) (err error) {
		if err := RoomFor(ctx, tx, actor, 1); err != nil {
			return err
		}
		var refused fault.Fields
		change.After, refused, err = draft.Customer(tx.Now(), actor, catalogOf(ctx, tx, actor))
		if err != nil {
			return err
		}
		if refused.Empty() {
			if err = s.apply(ctx, tx, &change); !errors.Is(err, errTaken) {
				return err
			}
		}
		if err := refuseTaken(ctx, tx, actor.Company.ID, change.After, &refused); err != nil {
			return err
		}
		return cmp.Or(draft.Problems.With(refused).Err(), err)
	})
	return change.After, err
}

// refuseNew refuses a draft with a wrong form. It asks the database all the
// same, so that every failing field is reported at once.
func (s *Service) refuseNew(ctx context.Context, actor account.Actor, draft Draft) error {
	var customer Customer
	draft.plainTo(&customer)
	_, refused, err := draft.resolve(catalogOf(ctx, s.db, actor), &customer)
	if err != nil {
		return err
	}
	if err := refuseTaken(ctx, s.db, actor.Company.ID, customer, &refused); err != nil {
		return err
	}
	return draft.Problems.With(refused).Err()
}

// Update changes the fields that are given. Nothing is recorded when nothing
// changes.
func (s *Service) Update(ctx context.Context, actor account.Actor, id int64, draft Draft) (Customer, error) {
	change := Change{Action: ActionUpdated}
	err := actor.Write(ctx, s.db, func(tx account.Tx) (err error) {
		if change.Before, err = LockTx(ctx, tx, id); err != nil {
			return err
		}
		var refused fault.Fields
		if change.After, refused, err = draft.changed(ctx, tx, change.Before); err != nil {
			return err
		}
		if err := draft.Problems.With(refused).Err(); err != nil {
			return err
		}
		if len(changedFields(change.Before, change.After)) == 0 {
			return nil
		}
		change.KeepInvoices, change.LeaveOverdue = draft.KeepInvoices.Value, draft.LeaveOverdue
		return s.apply(ctx, tx, &change)
	})
	return change.After, err
}

// Delete removes a customer; what belongs to it goes with it.
func (s *Service) Delete(ctx context.Context, actor account.Actor, id int64) error {
	if err := actor.NotAttendant(); err != nil {
		return err
	}
	return actor.Write(ctx, s.db, func(tx account.Tx) error {
		before, err := LockTx(ctx, tx, id)
		if err != nil {
			return err
		}
		return s.apply(ctx, tx, &Change{Action: ActionDeleted, Before: before})
	})
}

// RoomFor refuses more customers than the company may have. Two at once may both
// be the last: it is a bound on space, not a price.
func RoomFor(ctx context.Context, querier sqldb.Querier, actor account.Actor, more int64) error {
	most := actor.Company.Bounds().Customers
	if most == 0 {
		return nil
	}
	n, err := sqldb.Value[int64](ctx, querier,
		`SELECT COUNT(*) FROM (SELECT id FROM customers WHERE company_id = ? AND `+Visible+` LIMIT ?) AS counted`, actor.Company.ID, most)
	if err == nil && n+more > most {
		err = fault.Forbidden(fmt.Sprintf("a company on trial has at most %d customers; subscribe to have more", most))
	}
	return err
}

// Upsert is what a caller wants the customer of an external id to be.
type Upsert struct {
	New     Draft // when there is none yet
	Changes Draft // when there is one
}

// upsertTries is how often Upsert looks again, when the customer was made or
// deleted by another request between the look and the change.
const upsertTries = 5

// Upsert creates the customer of an external id, or changes it. Two at once make
// one customer: the second finds the id taken, and changes what the first made.
func (s *Service) Upsert(
	ctx context.Context, actor account.Actor, externalID string, wanted Upsert,
) (record Customer, created bool, err error) {
	for range upsertTries {
		id, findErr := idByExternal(ctx, s.db, actor.Company.ID, externalID)
		switch {
		case findErr == nil:
			record, err = s.Update(ctx, actor, id, wanted.Changes)
			if fault.KindOf(err) != fault.KindNotFound || err == nil {
				return record, false, err
			}
		case errors.Is(findErr, sqldb.ErrNotFound):
			record, err = s.Create(ctx, actor, wanted.New)
			if err == nil {
				return record, true, nil
			}
			if _, findErr = idByExternal(ctx, s.db, actor.Company.ID, externalID); findErr != nil {
				return Customer{}, false, err
			}
		default:
			return Customer{}, false, findErr
		}
	}
	return Customer{}, false, fault.Conflict("the customer was made and deleted at the same moment; repeat the call")
}

func idByExternal(ctx context.Context, querier sqldb.Querier, companyID int64, externalID string) (int64, error) {
	return sqldb.Value[int64](ctx, querier, `
		SELECT c.id FROM customers c
		WHERE c.company_id = ? AND c.external_id = ? AND c.external_id <> '' AND `+VisibleC, companyID, externalID)
}

// WithTaxIDs returns the ids of the customers who have one of the CPFs or CNPJs,
// by that number.
func (s *Service) WithTaxIDs(ctx context.Context, actor account.Actor, numbers []string) (map[string][]int64, error) {
	found := map[string][]int64{}
	if len(numbers) == 0 {
		return found, nil
	}
	err := sqldb.Each(ctx, s.db, `SELECT cpf_cnpj, id FROM customers
		WHERE company_id = ? AND cpf_cnpj <> '' AND cpf_cnpj {in ?} AND `+Visible,
		[]any{actor.Company.ID, numbers},
		func(row sqldb.Row) error {
			var number string
			var id int64
			err := row.Scan(&number, &id)
			found[number] = append(found[number], id)
			return err
		})
	return found, err
}
