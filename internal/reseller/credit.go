package reseller

import (
	"context"
	"fmt"
	"time"

	"carteira/internal/account"
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
	Received  EntryKind = "received"   // from the company above
	TakenBack EntryKind = "taken_back" // from a reseller
	Returned  EntryKind = "returned"   // to the company above
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

// maxAmount bounds one movement of credits.
const maxAmount = 1_000_000_000

// Balance is how many credits a company has.
func (s *Service) Balance(ctx context.Context, a account.Actor) (int64, error) {
	return balanceOf(ctx, s.db, a.Company.ID)
}

// Statement lists the company's entries, newest first: at most limit of those
// before the entry with the id before, or of all when that is 0. Its cost does
// not grow with how far back it goes.
func (s *Service) Statement(ctx context.Context, a account.Actor, before int64, limit int) ([]Entry, error) {
	return entries(ctx, s.db, a.Company.ID, before, limit)
}

// Grant makes credits for a company at the top of the tree, from the fields
// amount and note, and returns the new balance.
func (s *Service) Grant(ctx context.Context, a account.Actor, in *input.Form) (balance int64, err error) {
	amount, note := readAmount(in)
	if err := in.Err(); err != nil {
		return 0, err
	}
	if a.Company.ParentID != 0 {
		return 0, fault.Forbidden("credits are granted to a company at the top of the tree, which hands them on to its resellers")
	}
	err = a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		if err := lockBalances(ctx, tx, a.Company.ID); err != nil {
			return err
		}
		if balance, err = book(ctx, tx, a, a.Company.ID, Entry{Kind: Granted, Amount: amount, Note: note}); err != nil {
			return err
		}
		return noteMove(ctx, tx, a, Granted, a.Company, amount)
	})
	return balance, err
}

// Moved is what two companies have after credits went from one to the other.
type Moved struct {
	Balance         int64 // the acting company's
	ResellerBalance int64
}

// Transfer hands credits on to a reseller, from the fields amount and note.
func (s *Service) Transfer(ctx context.Context, a account.Actor, id int64, in *input.Form) (Moved, error) {
	return s.move(ctx, a, id, in, -1, Sent, Received)
}

// TakeBack takes from a reseller what it has not spent, from the fields amount
// and note.
func (s *Service) TakeBack(ctx context.Context, a account.Actor, id int64, in *input.Form) (Moved, error) {
	return s.move(ctx, a, id, in, +1, TakenBack, Returned)
}

// move moves credits between a company and its reseller; sign is what becomes
// of the company's.
func (s *Service) move(ctx context.Context, a account.Actor, id int64, in *input.Form, sign int64, ours, theirs EntryKind) (m Moved, err error) {
	amount, note := readAmount(in)
	err = a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		below, err := account.FindBelow(ctx, tx, a, id)
		if err != nil {
			return err
		}
		if err := in.Err(); err != nil {
			return err
		}
		if err := lockBalances(ctx, tx, a.Company.ID, id); err != nil {
			return err
		}
		mine := Entry{Kind: ours, Amount: sign * amount, Reseller: Ref{ID: id}, Note: note}
		its := Entry{Kind: theirs, Amount: -sign * amount, Reseller: Ref{ID: a.Company.ID}, Note: note}
		if m.Balance, err = book(ctx, tx, a, a.Company.ID, mine); err != nil {
			return err
		}
		if m.ResellerBalance, err = book(ctx, tx, a, id, its); err != nil {
			return err
		}
		return noteMove(ctx, tx, a, ours, below, amount)
	})
	return m, err
}

func readAmount(in *input.Form) (amount int64, note string) {
	in.Require("amount")
	amount, _ = in.Int("amount", 1, maxAmount).Get()
	note, _ = in.Line("note", maxName).Get()
	return amount, note
}

// book changes a balance that was locked and writes why. It refuses what would
// bring it below zero.
func book(ctx context.Context, tx *sqldb.Tx, a account.Actor, companyID int64, e Entry) (balance int64, err error) {
	balance, ok, err := addToBalance(ctx, tx, companyID, e.Amount)
	if err != nil {
		return balance, err
	}
	if !ok {
		return balance, tooFew(-e.Amount, balance)
	}
	e.Balance, e.By = balance, a.By()
	return balance, insertEntry(ctx, tx, companyID, e)
}

func tooFew(needed, balance int64) error {
	return fault.Field("credits", fmt.Sprintf("too few: %d are needed, and there are %d", needed, balance))
}
