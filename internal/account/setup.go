package account

import (
	"context"
	"time"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

const setupLife = 24 * time.Hour

// NewSetupLink makes a link by which the first company is made, once; "" when
// there is a company already.
func (s *Service) NewSetupLink(ctx context.Context) (string, error) {
	found, err := anyCompany(ctx, s.db)
	if err != nil || found {
		return "", err
	}
	link, hash := newLink()
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		return insertSetupLink(ctx, tx, hash, tx.Real().Add(setupLife))
	})
	return link, err
}

// SetupWorks reports, as a fault when not, whether a set-up link can be used.
func (s *Service) SetupWorks(ctx context.Context, link string) error {
	return setupLinkWorks(ctx, s.db, linkHash(link), s.db.Real())
}

// ReadSetup reads what ReadNewCompany does. The owner has a name and a password.
func ReadSetup(in *input.Form) NewCompany {
	in.Require("password")
	in.Require("user_name")
	return ReadNewCompany(in)
}

// Setup makes the first company and its owner, as CreateCompany does, and signs
// the owner in. It works once.
func (s *Service) Setup(ctx context.Context, link string, company NewCompany, from Visitor) (SignedIn, error) {
	if err := s.linkWorks(ctx, from, func() error { return s.SetupWorks(ctx, link) }); err != nil {
		return SignedIn{}, err
	}
	made, err := company.change(ctx)
	if err != nil {
		return SignedIn{}, err
	}
	var out SignedIn
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := claimSetup(ctx, tx, link); err != nil {
			return err
		}
		done := made()
		if err := s.applyCompany(ctx, actorOf(done.owner.User, from).In(tx), &done); err != nil {
			return err
		}
		out.User = done.owner.User
		out.Token, err = startSession(ctx, tx, sessionStart{user: out.User, from: from})
		if err != nil {
			return err
		}
		out.Device, err = rememberDevice(ctx, tx, out.User, from)
		return err
	})
	return out, err
}

// claimSetup uses the set-up links up, and refuses where there is a company.
func claimSetup(ctx context.Context, tx *sqldb.Tx, link string) error {
	if err := useSetupLinks(ctx, tx, linkHash(link)); err != nil {
		return err
	}
	found, err := anyCompany(ctx, tx)
	if err == nil && found {
		err = fault.Conflict("there is a company already; sign in")
	}
	return err
}
