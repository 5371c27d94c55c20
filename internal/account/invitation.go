package account

import (
	"context"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// Invitation lets the owner of a company who has no password yet set one: a
// password link that the company's parent hands on. It is made before the
// transaction that stores it, which may run again.
type Invitation struct {
	Code string // of the link; shown once, and kept as a hash
	hash []byte
}

// NewInvitation makes one that is not stored yet.
func NewInvitation() Invitation {
	code, hash := newLink()
	return Invitation{code, hash}
}

// InviteTx stores the invitation of a company's owner inside another use case's
// transaction, which writes the audit line. An older one stops working. An
// owner who has a password is not invited: the parent cannot take an account
// over.
func (s *Service) InviteTx(ctx context.Context, tx *sqldb.Tx, c Company, i Invitation) error {
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
	return replacePasswordLink(ctx, tx, owner, i.hash)
}
