package account

import (
	"context"
	"errors"
	"time"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// ProofLife is how long a proof is recent: until then a session may do what
// would give an account away.
const ProofLife = 10 * time.Minute

// Proved reports whether the user of the session has proved to be who they are
// a short time before an instant: by signing in, or when asked again.
func (s Session) Proved(now time.Time) bool {
	return now.Sub(s.ProvedAt) < ProofLife
}

// Proof is what a user who is signed in proves with: the password, or a code of
// the second factor.
type Proof struct {
	Text string

	Problems input.Problems // what the form had wrong
}

// ReadProof reads the field proof.
func ReadProof(in *input.Form) Proof {
	in.Require("proof")
	proof := Proof{Text: in.Text("proof", maxPassword).Value}
	proof.Problems = in.Problems()
	return proof
}

// Prove makes the proof of a session a recent one. Attempts are counted for the
// user alone: a stolen session must not become an account by guessing.
func (s *Service) Prove(ctx context.Context, visit Visit, proof Proof) error {
	if err := proof.Problems.Err(); err != nil {
		return err
	}
	user, err := userByID(ctx, s.db, visit.Actor.Company.ID, visit.User.ID)
	if err != nil {
		return err
	}
	if err := s.checkProof(ctx, visit, user, proof.Text); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		return proveSession(ctx, tx, visit.Session, visit.Actor.Company.ID)
	})
}

// checkProof takes six digits for a code where there is a second factor. A
// password of six digits is too short to be one.
func (s *Service) checkProof(ctx context.Context, visit Visit, user storedUser, given string) error {
	if user.totp == "" || len(digitsOf(given)) != totpDigits {
		_, err := s.reauthenticate(ctx, visit.Actor, "proof", given)
		return err
	}
	quotas := proofQuotas(user.ID)
	if err := s.countAttempt(ctx, quotas); err != nil {
		return err
	}
	err := s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := s.useCode(ctx, tx, user.User, given); err != nil {
			return err
		}
		return uncountAttempt(ctx, tx, quotas)
	})
	if errors.Is(err, errGuess) {
		s.auditRefusal(ctx, user.User, Visitor{Address: visit.Actor.From}, SecondFactorRefused)
		return fault.Field("proof", "is wrong")
	}
	return err
}
