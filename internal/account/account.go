// Package account owns companies, the users who sign in to them, and the API
// tokens that act for them. It answers one question for every other room: who
// acts, for which company, at which level (an Actor). It does not own what a
// company sells, nor its customers.
package account

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/watch"
)

// Level is what a company may do about resellers.
type Level string

// The levels in rising order.
const (
	LevelUser        Level = "user"
	LevelReseller    Level = "reseller"
	LevelMaster      Level = "master"
	LevelUltraMaster Level = "ultra_master"
)

// Levels lists the levels in rising order.
var Levels = []Level{LevelUser, LevelReseller, LevelMaster, LevelUltraMaster}

// AtLeast reports whether l is as high as other.
func (l Level) AtLeast(other Level) bool { return l.rank() >= other.rank() }

func (l Level) rank() int {
	for i, known := range Levels {
		if l == known {
			return i
		}
	}
	return -1
}

// RenewFrom is what the renewal of an expired customer counts from.
type RenewFrom string

// The choices.
const (
	FromDueDate RenewFrom = "due_date"
	FromToday   RenewFrom = "today"
)

// RenewInvoice is what becomes of the open invoice of a due date that is renewed
// by hand.
type RenewInvoice string

// The choices.
const (
	KeepInvoice   RenewInvoice = "keep"      // it is still owed
	PayInvoice    RenewInvoice = "paid"      // the renewal is its payment
	CancelInvoice RenewInvoice = "cancelled" // it is not owed any more
)

// RenewInvoices lists the choices.
var RenewInvoices = []RenewInvoice{KeepInvoice, PayInvoice, CancelInvoice}

// Settings are a company's choices, all in this one place.
type Settings struct {
	RenewFrom      RenewFrom
	RenewOnPayment bool // a paid invoice renews its customer
	LeadDays       int  // how long before the due date an invoice is issued
	RenewInvoice   RenewInvoice
	// OverdueInvoices is how many further invoices a customer who is late gets; 0: none
	// before the first is paid. Those of due dates before OverdueSince are not issued.
	OverdueInvoices int
	OverdueSince    civil.Date
	ClosedThrough   civil.Date // the last day of the books that are closed; zero: all is open

	// What a late payment costs more, and one until the due date less; all zero:
	// the face amount. Of the two discounts at most one is set.
	LateFeePercent      money.Percent // once
	LateInterestPercent money.Percent // a month
	DiscountPercent     money.Percent
	DiscountAmount      money.Cents
}

// DefaultSettings are those of a new company.
var DefaultSettings = Settings{RenewFrom: FromDueDate, RenewOnPayment: true, LeadDays: 5, RenewInvoice: KeepInvoice}

// DefaultTimezone is that of a new company.
const DefaultTimezone = "America/Sao_Paulo"

// Company is a tenant. A reseller is a company that is the child of another.
type Company struct {
	ID           int64
	ParentID     int64 // 0 at the top of the tree
	Name         string
	Whatsapp     string // digits with country code
	CpfCnpj      string // without punctuation; its receipts show it
	Address      string // in one line; its receipts show it
	Email        string // for its customers; its receipts show it
	Level        Level
	Zone         *time.Location
	Settings     Settings
	Brand        Brand
	Subscription Subscription
	HiddenSteps  string // the first steps that the home page leaves out, between commas
	CreatedAt    time.Time
}

// Role is what a user may do in the panel of the company.
type Role string

// The roles.
const (
	RoleOwner     Role = "owner"
	RoleStaff     Role = "staff"
	RoleAttendant Role = "attendant" // staff who sees no totals, exports nothing and deletes nothing
	RoleReadOnly  Role = "readonly"
)

// Roles lists the roles, the mightiest first.
var Roles = []Role{RoleOwner, RoleStaff, RoleAttendant, RoleReadOnly}

// User is a person who signs in.
type User struct {
	ID        int64
	CompanyID int64
	Name      string
	Email     string
	Role      Role
	CreatedAt time.Time
}

// Token lets a program act for a company. Its text is shown once; a hash of
// it is all that is kept.
type Token struct {
	ID         int64
	CompanyID  int64
	Name       string
	CreatedAt  time.Time
	LastUsedAt time.Time // zero: never used
	Scope      Scope
	ExpiresAt  time.Time // from then on it is unknown; zero: never
	MadeBy     int64     // the user who made it; 0: the operator, or not known
	Maker      string    // the name of that user; empty: there is none, or no longer
}

// Scope is what a token may do.
type Scope string

// The scopes.
const (
	ScopeFull Scope = "full"
	ScopeRead Scope = "read" // calls that change nothing
)

// Expired reports whether the token has stopped working.
func (t Token) Expired(now time.Time) bool {
	return !t.ExpiresAt.IsZero() && !now.Before(t.ExpiresAt)
}

// Actor is who acts, and for which company. Every use case takes one, and
// touches the rows of its company only. The zero Actor is an error of ours: the
// audit log refuses what it does.
type Actor struct {
	Company Company
	TokenID int64  // 0 on the command line and in the panel
	Scope   Scope  // of the token; "" without one
	UserID  int64  // 0 outside the panel
	Role    Role   // of the user; "" outside the panel
	Name    string // of the user, for the audit log; a token's is looked up
	From    string // the address a request came from, or CommandLine
	Batch   string // the code of the work over many records that this is a part of; "" when it is none
	Program string // the work that the program does by itself, such as "expire"; "" when a person or a token acts

	companion Companion
	written   *int64 // the id in the first audit line of the transaction; nil: there is no companion
}

// Companion is what Write commits together with whatever the actor changes.
// recordID is the record that the change is about, as the audit log has it.
type Companion func(ctx context.Context, tx *sqldb.Tx, recordID int64) error

// Tx is a transaction that knows its actor: all that is written in it is written
// for the company of the actor, and the audit log says that it was the actor.
type Tx struct {
	*sqldb.Tx
	Actor
}

// In gives a transaction of others its actor, such as one that works for several
// companies. Write begins one that has its actor already.
func (a Actor) In(tx *sqldb.Tx) Tx { return Tx{Tx: tx, Actor: a} }

// System is the program itself, doing some work of its own for a company. What
// it does leaves no line in the audit log.
func System(company Company, work string) Actor {
	return Actor{Company: company, Program: work}
}

// Operator is the person at the command line.
func Operator(company Company) Actor {
	return Actor{Company: company, From: CommandLine}
}

// With returns the actor with a companion, such as the mark that a request with
// an idempotency key was carried out.
func (a Actor) With(companion Companion) Actor {
	a.companion, a.written = companion, new(int64)
	return a
}

// Write runs fn in one transaction of the actor's request, and the companion of
// the request after it. A use case that takes several transactions and may be
// repeated as a whole writes with db.Write instead: none of them alone is the
// request.
func (a Actor) Write(ctx context.Context, db *sqldb.DB, fn func(tx Tx) error) error {
	return db.Write(ctx, a.accompanied(ctx, fn))
}

// Write is Actor.Write for a use case that returns something: what fn returned in the run
// that was committed, or in the last one that failed.
func Write[T any](ctx context.Context, actor Actor, db *sqldb.DB, fn func(tx Tx) (T, error)) (result T, err error) {
	err = actor.Write(ctx, db, func(tx Tx) (err error) {
		result, err = fn(tx)
		return err
	})
	return result, err
}

// MoveClock is Write for the request that moves the clock of a sandbox.
func (a Actor) MoveClock(ctx context.Context, db *sqldb.DB, fn func(tx Tx) error) error {
	return db.MoveClock(ctx, a.accompanied(ctx, fn))
}

func (a Actor) accompanied(ctx context.Context, fn func(tx Tx) error) func(tx *sqldb.Tx) error {
	return func(tx *sqldb.Tx) error {
		if a.companion == nil {
			return fn(a.In(tx))
		}
		*a.written = 0 // of a run that was rolled back
		if err := fn(a.In(tx)); err != nil {
			return err
		}
		return a.companion(ctx, tx, *a.written)
	}
}

// NotAttendant refuses what an attendant may not do, whatever edge the request
// came through: see what all customers are worth together, export, delete.
func (a Actor) NotAttendant() error {
	if a.Role == RoleAttendant {
		return fault.Forbidden("attendants see no totals, export nothing and delete nothing; ask an owner of the company")
	}
	return nil
}

// Refreshed is the actor with its company as a transaction sees it. What decides
// about money reads the company's terms so: they may have changed since the
// request began.
func (a Actor) Refreshed(ctx context.Context, tx *sqldb.Tx) (Actor, error) {
	var err error
	a.Company, err = FindCompany(ctx, tx, a.Company.ID)
	return a, err
}

// Refreshed is the transaction with its actor refreshed.
func (tx Tx) Refreshed(ctx context.Context) (_ Tx, err error) {
	tx.Actor, err = tx.Actor.Refreshed(ctx, tx.Tx)
	return tx, err
}

// Today is the company's calendar day at the given instant.
func (a Actor) Today(now time.Time) civil.Date {
	return civil.Of(now.In(a.Company.Zone))
}

// Source is what an event of the company is recorded under.
func (a Actor) Source() event.Source {
	return event.Source{CompanyID: a.Company.ID, Zone: a.Company.Zone}
}

// Config is what the room needs besides its database.
type Config struct {
	CallsPerMinute int         // the rate limit of each token; 0: none
	Box            *secret.Box // seals second factors; without one none can be set up
	Mailer         Mailer      // nil: the operator has no mail server
	PublicURL      string      // what links in mails begin with

	Pruned watch.Watcher[Pruned] // sees the lines of the audit log that are removed; may be nil
}

// Service has the use cases.
type Service struct {
	db      *sqldb.DB
	limit   int
	limiter limiter
	used    lastUse
	box     *secret.Box

	mailer    Mailer
	publicURL string

	watchers watch.List[Changes]
	pruned   watch.Watcher[Pruned]
}

// New makes the service.
func New(db *sqldb.DB, config Config) *Service {
	return &Service{
		db:        db,
		limit:     config.CallsPerMinute,
		limiter:   newLimiter(db, config.CallsPerMinute),
		box:       config.Box,
		mailer:    config.Mailer,
		publicURL: config.PublicURL,
		pruned:    config.Pruned,
	}
}

// DataSubject identifies a customer for rooms that do not know customers: to collect
// what is kept about the person.
type DataSubject struct {
	CustomerID int64
	UUID       string
}

// EraseAuditTx takes what it says of a person out of the audit lines of records.
// Who did what and when stays.
func EraseAuditTx(ctx context.Context, tx Tx, record string, ids ...int64) error {
	for _, id := range ids {
		err := tx.Do(ctx, `UPDATE audit_log SET name = '', changes = '{}' WHERE company_id = ? AND record = ? AND record_id = ?`,
			tx.Company.ID, record, id)
		if err != nil {
			return err
		}
	}
	return nil
}

// Bounds are how much of what costs space or calls others a company may have.
type Bounds struct {
	Tokens      int64
	Customers   int64         // 0: as many as it likes
	Uploads     int64         // files that wait to be imported
	UploadBytes int64         // of all of them
	Outgoing    int           // posts of the panel that call others, in OutgoingIn
	OutgoingIn  time.Duration // the span that Outgoing is counted in
}

// Bounds are the company's. A company made through a signup link has much less
// until its subscription is paid.
func (c Company) Bounds() Bounds {
	if c.Subscription.Anonymous {
		return Bounds{Tokens: 2, Customers: 300, Uploads: 2, UploadBytes: 1 << 20, Outgoing: 5, OutgoingIn: time.Hour}
	}
	return Bounds{Tokens: 50, Uploads: 10, UploadBytes: 64 << 20, Outgoing: 30, OutgoingIn: 15 * time.Minute}
}

// roomForToken refuses one token too many. The company is locked, so that two at
// once cannot both be the last.
func roomForToken(ctx context.Context, tx Tx) error {
	company, err := lockCompany(ctx, tx.Tx, tx.Company.ID)
	if err != nil {
		return err
	}
	n, err := sqldb.Value[int64](ctx, tx, `SELECT count(*) FROM api_tokens WHERE company_id = ?`, company.ID)
	if limit := company.Bounds().Tokens; err == nil && n >= limit {
		err = fault.Field("name",
			fmt.Sprintf("the company has %d tokens, the most there can be; delete one that is not used", limit))
	}
	return err
}

// CountOutgoing counts a post of the panel that calls another machine, and
// refuses one too many.
func (s *Service) CountOutgoing(ctx context.Context, actor Actor) error {
	bounds := actor.Company.Bounds()
	key := "outgoing:" + strconv.FormatInt(actor.Company.ID, 10)
	err := s.countAttempt(ctx, []quota{{key, bounds.Outgoing, bounds.OutgoingIn}})
	if fault.KindOf(err) == fault.KindRateLimited {
		refused := fault.New(fault.KindRateLimited, "too many tests of other machines; wait a little and try again")
		return fault.Later(refused, bounds.OutgoingIn)
	}
	return err
}
