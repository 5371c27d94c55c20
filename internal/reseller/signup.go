package reseller

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
)

// Offer is what a signup link leads to: a plan to try and the company that
// offers it.
type Offer struct {
	Plan    Plan
	Company account.Company
}

// FindOffer finds what a signup link offers now. A link that was renewed, a plan
// that is no longer sold or cannot be tried, and a company that may not have
// resellers at the moment offer nothing.
func (s *Service) FindOffer(ctx context.Context, code string) (Offer, error) {
	return s.findOffer(ctx, s.db, code, s.db.Now())
}

func (s *Service) findOffer(ctx context.Context, querier sqldb.Querier, code string, now time.Time) (Offer, error) {
	companyID, planID, err := planBySignupCode(ctx, querier, code)
	if err != nil {
		return Offer{}, err
	}
	plan, err := planByID(ctx, querier, companyID, planID)
	if err != nil {
		return Offer{}, err
	}
	company, err := account.FindCompany(ctx, querier, companyID)
	if err != nil {
		return Offer{}, err
	}
	actor := account.System(company, "signup")
	sells := actor.Company.Level.AtLeast(account.LevelReseller) && actor.May(account.FunctionResellers) &&
		actor.Writable(actor.Today(now)) == nil
	if !plan.Active || plan.TrialDays == 0 || !sells {
		return Offer{}, errNoOffer()
	}
	return Offer{plan, actor.Company}, nil
}

func errNoOffer() error { return fault.NotFound("signup link") }

// signupsPerHour is how often one address may try to sign up in an hour.
// Several people may share an address; a program that guesses who has an
// account should not get far.
const (
	signupsPerHour = 20
	signupsOfWide  = 100 // from a network that holds many others
)

// SignUp makes a reseller on the trial of a signup link. If the address already
// belongs to a user, the answer is the same and nothing is made, so that a
// stranger cannot find accounts; the mailbox gets a message where there is a mail
// server. The reseller then has no ID.
func (s *Service) SignUp(ctx context.Context, signup Signup) (reseller Reseller, err error) {
	offer, err := s.FindOffer(ctx, signup.Code)
	if err != nil {
		return reseller, err
	}
	if err := signup.Problems.Err(); err != nil {
		return reseller, err
	}
	if err := account.RefusePassword(signup.Password, signup.Name, signup.Email); err != nil {
		return reseller, err
	}
	if err := s.countSignup(ctx, signup.Address); err != nil {
		return reseller, err
	}
	order := order{
		child: account.NewChild{Name: signup.Name, Email: signup.Email, Whatsapp: signup.Whatsapp},
		kind:  account.Trial, periods: 1, anonymous: true,
	}
	narrow, _ := account.Networks(signup.Address)
	hashing := secret.InLane(ctx, secret.LaneStranger, secret.Caller{Network: narrow})
	if order.child.PasswordHash, err = account.HashPassword(hashing, signup.Password); err != nil {
		return reseller, err
	}
	return sqldb.Write(ctx, s.db, func(tx *sqldb.Tx) (reseller Reseller, err error) {
		if err := lockBalances(ctx, tx, offer.Company.ID); err != nil {
			return reseller, err
		}
		// It may have changed since.
		current, err := s.findOffer(ctx, tx, signup.Code, tx.Now())
		if err != nil {
			return reseller, err
		}
		taken, err := account.EmailTaken(ctx, tx, signup.Email)
		if err != nil {
			return reseller, err
		}
		if taken {
			reseller = Reseller{}
			return reseller, s.accounts.AddressWantedTx(ctx, tx, signup.Email)
		}
		return s.signUpTx(ctx, tx, current, order)
	})
}

func (s *Service) signUpTx(ctx context.Context, tx *sqldb.Tx, offer Offer, order order) (reseller Reseller, err error) {
	parent := account.System(offer.Company, "signup")
	order.planID = offer.Plan.ID
	if order, err = order.priced(ctx, tx, parent, tx.Now()); err != nil {
		return reseller, err
	}
	made, err := s.accounts.AddChildTx(ctx, parent.In(tx), order.child)
	if err != nil {
		return reseller, err
	}
	return s.find(ctx, tx, parent, made.ID)
}

// countSignup refuses an address that has tried too often in this hour. The
// count is in the database, so that it holds for all processes.
func (s *Service) countSignup(ctx context.Context, address string) error {
	narrow, wide := account.Networks(address)
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		hour := hourOf(tx.Real())
		ok, err := countAttempt(ctx, tx, narrow, hour, signupsPerHour)
		if err == nil && ok && wide != "" {
			ok, err = countAttempt(ctx, tx, wide, hour, signupsOfWide)
		}
		if err == nil && !ok {
			return fault.New(fault.KindRateLimited, "too many attempts from this address; try again in an hour")
		}
		return err
	})
}

func hourOf(at time.Time) int64 { return at.Unix() / 3600 }

// Prune removes counts of past hours.
func (s *Service) Prune(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		return tx.Do(ctx, `DELETE FROM signup_attempts WHERE hour < ?`, hourOf(tx.Real()))
	})
}
