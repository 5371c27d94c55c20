package reseller

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// Offer is what a signup link leads to: a plan to be tried, and whose it is.
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

func (s *Service) findOffer(ctx context.Context, q sqldb.Querier, code string, now time.Time) (Offer, error) {
	companyID, planID, err := planBySignupCode(ctx, q, code)
	if err != nil {
		return Offer{}, err
	}
	plan, err := planByID(ctx, q, companyID, planID)
	if err != nil {
		return Offer{}, err
	}
	company, err := account.FindCompany(ctx, q, companyID)
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
const signupsPerHour = 20

// SignUp makes a reseller on the trial of a signup link, from the fields name,
// email, whatsapp and password. address is where the request comes from.
func (s *Service) SignUp(ctx context.Context, code, address string, in *input.Form) (r Reseller, err error) {
	in.Require("name")
	in.Require("email")
	in.Require("password")
	// A stranger is told no more than it takes to go on.
	const reason = "cannot be used here; if you have an account, sign in"
	d := draft{kind: account.Trial, periods: 1, taken: reason}
	d.newcomer.Name, _ = in.Line("name", maxName).Get()
	d.newcomer.Email, _ = in.Email("email").Get()
	d.newcomer.Whatsapp, _ = in.Phone("whatsapp").Get()
	password := account.ReadPassword(in)
	offer, err := s.FindOffer(ctx, code)
	if err != nil {
		return r, err
	}
	if err := in.Err(); err != nil {
		return r, err
	}
	if err := s.countSignup(ctx, address); err != nil {
		return r, err
	}
	if d.newcomer.PasswordHash, err = account.HashPassword(ctx, password); err != nil {
		return r, err
	}
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		r, err = s.signUpTx(ctx, tx, offer, code, d, in)
		return err
	})
	return r, err
}

func (s *Service) signUpTx(ctx context.Context, tx *sqldb.Tx, offer Offer, code string, d draft, in *input.Form) (r Reseller, err error) {
	if err := lockBalances(ctx, tx, offer.Company.ID); err != nil {
		return r, err
	}
	if offer, err = s.findOffer(ctx, tx, code, tx.Now()); err != nil {
		return r, err
	}
	above := account.System(offer.Company, "signup")
	d.planID = offer.Plan.ID
	plan, err := d.check(ctx, tx, above, in)
	if err != nil {
		return r, err
	}
	if err := in.Err(); err != nil {
		return r, err
	}
	if d.newcomer.Subscription, err = d.subscription(above, plan, above.Today(tx.Now())); err != nil {
		return r, err
	}
	made, _, err := s.accounts.AddTx(ctx, tx, offer.Company, d.newcomer)
	if err != nil {
		return r, err
	}
	return s.find(ctx, tx, above, made.ID)
}

// countSignup refuses an address that has tried too often in this hour. The
// count is in the database, so that it holds for all processes.
func (s *Service) countSignup(ctx context.Context, address string) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		ok, err := countAttempt(ctx, tx, address, hourOf(tx.Now()), signupsPerHour)
		if err == nil && !ok {
			return fault.New(fault.KindRateLimited, "too many attempts from this address; try again in an hour")
		}
		return err
	})
}

func hourOf(t time.Time) int64 { return t.Unix() / 3600 }

// Prune removes counts of past hours.
func (s *Service) Prune(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error { return pruneAttempts(ctx, tx, hourOf(tx.Now())) })
}
