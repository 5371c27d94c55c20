package account

import (
	"context"
	"time"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// Invitation lets the owner of a company who has no password yet set one. Its
// code is shown once, in a link; a hash of it is all that is kept.
type Invitation struct {
	Company   Company
	User      User
	ExpiresAt time.Time
}

// invitationLife is how long an invitation can be taken up.
const invitationLife = 7 * 24 * time.Hour

// NewInvitationCode makes the code of a link.
func NewInvitationCode() string { return id.NewCode(32) }

// InviteTx makes the invitation of a company's owner inside another use case's
// transaction. An older one stops working. An owner who has a password is not
// invited.
func (s *Service) InviteTx(ctx context.Context, tx *sqldb.Tx, c Company, code string) error {
	owner, err := ownerOf(ctx, tx, c.ID)
	if err != nil {
		return err
	}
	has, err := hasPassword(ctx, tx, owner)
	if err != nil {
		return err
	}
	if has {
		return fault.Conflict("the owner has a password already")
	}
	if err := deleteInvitations(ctx, tx, owner); err != nil {
		return err
	}
	hash := id.HashToken(code)
	return insertInvitation(ctx, tx, owner, hash[:], tx.Now().Add(invitationLife))
}

// Invitation finds what a code stands for, while it can be taken up.
func (s *Service) Invitation(ctx context.Context, code string) (Invitation, error) {
	hash := id.HashToken(code)
	return invitationByHash(ctx, s.db, hash[:], s.db.Now())
}

// AcceptInvitation sets the password of the field password. It works once.
func (s *Service) AcceptInvitation(ctx context.Context, code string, in *input.Form) (Invitation, error) {
	in.Require("password")
	password := readPassword(in)
	invited, err := s.Invitation(ctx, code)
	if err != nil {
		return invited, err
	}
	if err := in.Err(); err != nil {
		return invited, err
	}
	stored, err := hashPassword(ctx, password)
	if err != nil {
		return invited, err
	}
	hash := id.HashToken(code)
	err = s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		if invited, err = invitationByHash(ctx, tx, hash[:], tx.Now()); err != nil {
			return err
		}
		taken, err := takeInvitation(ctx, tx, invited.User, hash[:])
		if err != nil {
			return err
		}
		if !taken { // by another request at this moment
			return errNoInvitation()
		}
		return updatePassword(ctx, tx, invited.User, stored)
	})
	return invited, err
}

func errNoInvitation() error { return fault.NotFound("invitation") }

// PruneInvitations removes those whose time is up.
func (s *Service) PruneInvitations(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error { return pruneInvitations(ctx, tx, tx.Now()) })
}
