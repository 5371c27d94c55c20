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
	any, err := anyCompany(ctx, s.db)
	if err != nil || any {
		return "", err
	}
	link, hash := newLink()
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error { return replaceSetupLink(ctx, tx, hash, tx.Now().Add(setupLife)) })
	return link, err
}

// SetupWorks reports, as a fault when not, whether a set-up link can be used.
func (s *Service) SetupWorks(ctx context.Context, link string) error {
	return setupLinkWorks(ctx, s.db, linkHash(link), s.db.Now())
}

// Setup makes the first company and its owner, as CreateCompany does, and signs
// the owner in. It works once.
func (s *Service) Setup(ctx context.Context, link string, in *input.Form, from Visitor) (SignedIn, error) {
	in.Require("password")
	in.Require("user_name")
	if err := s.SetupWorks(ctx, link); err != nil {
		return SignedIn{}, err
	}
	made, err := s.readCompany(ctx, in)
	if err != nil {
		return SignedIn{}, err
	}
	var out SignedIn
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := useSetupLinks(ctx, tx, linkHash(link)); err != nil {
			return err
		}
		if any, err := anyCompany(ctx, tx); err != nil || any {
			if err == nil {
				err = fault.Conflict("there is a company already; sign in")
			}
			return err
		}
		_, owner, err := made.insert(ctx, tx)
		if err != nil {
			return err
		}
		out.User = owner
		if out.Token, err = openTx(ctx, tx, owner, from, false); err != nil {
			return err
		}
		return WriteAudit(ctx, tx, actorOf(owner, from), AuditEntry{Action: "company.created", Record: "company", ID: owner.CompanyID, Name: made.company.Name})
	})
	return out, err
}
