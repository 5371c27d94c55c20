// Package customer owns the people who buy a company's service: who they are,
// what they bought and until when it is paid for. It creates, changes, finds,
// renews and deletes them, and records the events of each. It does not own
// invoices, payments or messages: those rooms know customers, not the other
// way round.
package customer

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
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
	CreatedAt  time.Time
	UpdatedAt  time.Time
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
)

// Status tells how the customer stands on a day of the company's calendar.
func (c Customer) Status(today civil.Date) Status {
	switch {
	case c.DueOn.IsZero() || c.DueOn.After(today):
		return Active
	case c.DueOn == today:
		return DueToday
	}
	return Expired
}

// Service has the use cases.
type Service struct {
	db       *sqldb.DB
	events   *event.Log
	watchers []Watcher
	counts   tally.Cache
	running  runningUploads
}

// New makes the service.
func New(db *sqldb.DB, events *event.Log) *Service { return &Service{db: db, events: events} }

// Find returns a customer of the company.
func (s *Service) Find(ctx context.Context, a account.Actor, id int64) (Customer, error) {
	return byID(ctx, s.db, a.Company.ID, id)
}

// CompanyOf finds the company that a customer belongs to, for the command line.
func (s *Service) CompanyOf(ctx context.Context, id int64) (int64, error) {
	return companyOf(ctx, s.db, id)
}

// Create makes a customer.
func (s *Service) Create(ctx context.Context, a account.Actor, in *input.Form) (Customer, error) {
	in.Require("name")
	d := readDraft(in)
	var c Customer
	var err error
	if !in.Failed() {
		err = a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
			c, err = s.createTx(ctx, tx, a, d, in)
			return err
		})
	}
	if in.Failed() { // perhaps in the transaction, which ends at the first it meets
		return Customer{}, s.refuse(ctx, a, d, in)
	}
	return c, err
}

func (s *Service) createTx(ctx context.Context, tx *sqldb.Tx, a account.Actor, d draft, in *input.Form) (Customer, error) {
	c, err := d.fresh(tx.Now(), a, offered(ctx, tx, a), in)
	if err != nil {
		return c, err
	}
	if c.ID, err = insert(ctx, tx, a.Company.ID, c); err != nil {
		return c, err
	}
	if c.ID == 0 { // somebody has the login or the key
		if err := refuseTaken(ctx, tx, a, c, in); err != nil {
			return c, err
		}
		return c, fault.Conflict("another change was made at the same moment; try again")
	}
	if err := book.Add(ctx, tx, a.Company.ID, counted(c, +1)); err != nil {
		return c, err
	}
	if err := s.events.Record(ctx, tx, a.Source(), event.CustomerCreated, created(c, a, tx.Now())); err != nil {
		return c, err
	}
	if err := account.Note(ctx, tx, a, deed("customer.created", Customer{}, c)); err != nil {
		return c, err
	}
	return c, s.tellCreated(ctx, tx, a, c)
}

// Update changes the fields that are given. Nothing is recorded when nothing
// changes.
func (s *Service) Update(ctx context.Context, a account.Actor, id int64, in *input.Form) (Customer, error) {
	in.Keep("name")
	d := readDraft(in)
	var c Customer
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		before, err := lock(ctx, tx, a.Company.ID, id)
		if err != nil {
			return err
		}
		if c, err = d.apply(ctx, tx, a, before, in); err != nil {
			return err
		}
		changed := changes(before, c)
		if len(changed) == 0 {
			return nil
		}
		if err := s.save(ctx, tx, a, before, &c); err != nil {
			return err
		}
		if err := account.Note(ctx, tx, a, deed("customer.updated", before, c)); err != nil {
			return err
		}
		return s.events.Record(ctx, tx, a.Source(), event.CustomerUpdated, updated(c, changed))
	})
	return c, err
}

// Delete removes a customer; what belongs to it goes with it.
func (s *Service) Delete(ctx context.Context, a account.Actor, id int64) error {
	return a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		c, err := lock(ctx, tx, a.Company.ID, id)
		if err != nil {
			return err
		}
		if err := s.tellDeleting(ctx, tx, a, c); err != nil {
			return err
		}
		if err := remove(ctx, tx, a.Company.ID, id); err != nil {
			return err
		}
		if err := book.Add(ctx, tx, a.Company.ID, counted(c, -1)); err != nil {
			return err
		}
		if err := account.Note(ctx, tx, a, deed("customer.deleted", c, Customer{ID: c.ID, Name: c.Name})); err != nil {
			return err
		}
		return s.events.Record(ctx, tx, a.Source(), event.CustomerDeleted, deleted(c))
	})
}

// save writes a changed customer, keeps the counts true and tells watchers.
func (s *Service) save(ctx context.Context, tx *sqldb.Tx, a account.Actor, before Customer, c *Customer) error {
	c.UpdatedAt = tx.Now()
	if err := update(ctx, tx, a.Company.ID, *c); err != nil {
		return err
	}
	if err := book.Move(ctx, tx, a.Company.ID, counted(before, 1), counted(*c, 1)); err != nil {
		return err
	}
	return s.tellChanged(ctx, tx, a, before, *c)
}
