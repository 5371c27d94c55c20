package reseller

import (
	"context"
	"fmt"
	"math"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// EntryKind is why a company's credits became more or fewer.
type EntryKind string

// The kinds. Only a grant makes credits and only create and renew use them up;
// the others move them, in pairs.
const (
	Granted   EntryKind = "grant"
	ForCreate EntryKind = "create"
	ForRenew  EntryKind = "renew"
	Sent      EntryKind = "sent"       // to a reseller
	Received  EntryKind = "received"   // from the parent
	TakenBack EntryKind = "taken_back" // from a reseller
	Returned  EntryKind = "returned"   // to the parent
)

// Entry is a line of a company's statement.
type Entry struct {
	ID        int64
	Kind      EntryKind
	Amount    int64 // negative: credits left
	Balance   int64 // after it
	Reseller  Ref   // the company it was spent on, sent to or got from; ID 0: none
	Plan      Ref   // what was paid for; ID 0: nothing
	Periods   int
	By        string // who did it: token:3, user:1, command line, signup
	Note      string
	CreatedAt time.Time
}

// Balance is how many credits a company has.
func (s *Service) Balance(ctx context.Context, actor account.Actor) (int64, error) {
	return balanceOf(ctx, s.db, actor.Company.ID)
}

// Resells reports whether the company has ever had to do with resale: a reseller,
// a plan for resellers, or credits.
func (s *Service) Resells(ctx context.Context, actor account.Actor) (bool, error) {
	return resells(ctx, s.db, actor.Company.ID)
}

// Statement lists the company's entries, newest first: at most limit of those
// before the entry with the id before, or of all when that is 0. Its cost does
// not grow with how far back it goes.
func (s *Service) Statement(ctx context.Context, actor account.Actor, before int64, limit int) ([]Entry, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	ids, err := sqldb.Values[int64](ctx, s.db, `
		SELECT id FROM credit_entries WHERE company_id = ? AND id < ? ORDER BY id DESC LIMIT ?`, actor.Company.ID, before, limit)
	if err != nil {
		return nil, err
	}
	return statement.Rows(ctx, s.db, actor.Company.ID, ids)
}

// EntryKinds lists the kinds of entries.
var EntryKinds = []EntryKind{Granted, ForCreate, ForRenew, Sent, Received, TakenBack, Returned}

// EntryFilter chooses entries of a statement; the zero one chooses all.
type EntryFilter struct {
	Kind     EntryKind
	From, To civil.Date // the company's days
}

// ReadEntryFilter reads a filter from a query. Wrong values are left to in.Err.
func ReadEntryFilter(in *input.Form) EntryFilter {
	return EntryFilter{Kind: choice(in, "kind", EntryKinds), From: in.Date("from").Value, To: in.Date("to").Value}
}

// Countable is how many entries Entries counts and leads to.
const Countable = 10_000

// Sums are how many entries a filter has, at most Countable, and what they come
// to: how many credits came and how many left.
type Sums struct{ Count, Came, Left int64 }

// Entries returns a page of the entries of a filter, newest or oldest first, and
// their sums.
func (s *Service) Entries(ctx context.Context, actor account.Actor, filter EntryFilter, page input.Page) ([]Entry, Sums, error) {
	sums, err := sumEntries(ctx, s.db, actor, filter)
	if err != nil {
		return nil, sums, err
	}
	query := filter.query(actor)
	query.Most, query.Total = Countable, func(context.Context) (int64, error) { return sums.Count, nil }
	list, _, err := statement.Page(ctx, s.db, query, page)
	return list, sums, err
}

// WalkEntries calls visit for every entry of a filter, newest first.
func (s *Service) WalkEntries(ctx context.Context, actor account.Actor, filter EntryFilter, visit func(Entry) error) error {
	return statement.Each(ctx, s.db, filter.query(actor), visit)
}

// Grant makes credits for a company at the top of the tree, and returns the new
// balance.
func (s *Service) Grant(ctx context.Context, actor account.Actor, request CreditRequest) (balance int64, err error) {
	if err := request.err(); err != nil {
		return 0, err
	}
	if actor.Company.ParentID != 0 {
		return 0, fault.Forbidden("credits are granted to a company at the top of the tree, which hands them on to its resellers")
	}
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (balance int64, err error) {
		if err := lockBalances(ctx, tx.Tx, actor.Company.ID); err != nil {
			return balance, err
		}
		after, err := s.applyCredits(ctx, tx, creditChange{ours: Granted, gain: request.Amount, note: request.Note})
		balance = after.Balance
		return balance, err
	})
}

// Moved is what two companies have after credits went from one to the other.
type Moved struct {
	Balance         int64 // the acting company's
	ResellerBalance int64
}

// direction is one of the two ways between a company and its reseller.
type direction struct {
	ours, theirs EntryKind
	sign         int64 // of what the acting company gains
}

var (
	down = direction{Sent, Received, -1}
	up   = direction{TakenBack, Returned, +1}
)

// transfer is credits on their way between a company and its reseller.
type transfer struct {
	direction  direction
	resellerID int64
	request    CreditRequest
}

// Transfer hands credits on to a reseller.
func (s *Service) Transfer(ctx context.Context, actor account.Actor, id int64, request CreditRequest) (Moved, error) {
	return s.move(ctx, actor, transfer{down, id, request})
}

// TakeBack takes from a reseller what it has not spent.
func (s *Service) TakeBack(ctx context.Context, actor account.Actor, id int64, request CreditRequest) (Moved, error) {
	return s.move(ctx, actor, transfer{up, id, request})
}

func (s *Service) move(ctx context.Context, actor account.Actor, transfer transfer) (moved Moved, err error) {
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (moved Moved, err error) {
		child, err := account.FindChild(ctx, tx, actor, transfer.resellerID)
		if err != nil {
			return moved, err
		}
		if err := transfer.request.err(); err != nil {
			return moved, err
		}
		if err := lockBalances(ctx, tx.Tx, actor.Company.ID, transfer.resellerID); err != nil {
			return moved, err
		}
		return s.applyCredits(ctx, tx, creditChange{
			ours:     transfer.direction.ours,
			theirs:   transfer.direction.theirs,
			gain:     transfer.direction.sign * transfer.request.Amount,
			reseller: child,
			note:     transfer.request.Note,
		})
	})
}

func tooFew(needed, balance int64) error {
	return fault.Field("credits", fmt.Sprintf("too few: %d are needed, and there are %d", needed, balance))
}
