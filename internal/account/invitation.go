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
// transaction, which writes the audit line. An older one stops working. Once
// any user of the company has had a password it is in use, and nobody above it
// can get in: an owner who was made later is invited by those who are in.
func (s *Service) InviteTx(ctx context.Context, tx *sqldb.Tx, company Company, invitation Invitation) error {
	owner, err := ownerOf(ctx, tx, company.ID)
	if err != nil {
		return err
	}
	if _, err := lockUser(ctx, tx, company.ID, owner.ID); err != nil { // a password may be set at this moment
		return err
	}
	used, err := inUse(ctx, tx, company.ID)
	if err != nil {
		return err
	}
	if used {
		return fault.Conflict("the owner has a password already")
	}
	return replacePasswordLink(
		ctx,
		tx,
		owner,
		newPasswordLink{invitation.hash, forInvitation, linkLife},
	)
}
