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
func (s Session) Proved(now time.Time) bool { return now.Sub(s.ProvedAt) < ProofLife }

// Proof is what a user who is signed in proves with: the password, or a code of
// the second factor.
type Proof struct {
	Text string

	Problems input.Problems // what the form had wrong
}

// ReadProof reads the field proof.
func ReadProof(in *input.Form) Proof {
	in.Require("proof")
	p := Proof{Text: in.Text("proof", maxPassword).Value}
	p.Problems = in.Problems()
	return p
}

// Prove makes the proof of a session a recent one. Attempts are counted for the
// user alone: a stolen session must not become an account by guessing.
func (s *Service) Prove(ctx context.Context, v Visit, p Proof) error {
	if err := p.Problems.Err(); err != nil {
		return err
	}
	u, err := userByID(ctx, s.db, v.Actor.Company.ID, v.User.ID)
	if err != nil {
		return err
	}
	if err := s.checkProof(ctx, v, u, p.Text); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *sqldb.Tx) error { return proveSession(ctx, tx, v.Session, v.Actor.Company.ID) })
}

// checkProof takes six digits for a code where there is a second factor. A
// password of six digits is too short to be one.
func (s *Service) checkProof(ctx context.Context, v Visit, u storedUser, given string) error {
	if u.totp == "" || len(digitsOf(given)) != totpDigits {
		_, err := s.reauthenticate(ctx, v.Actor, "proof", given)
		return err
	}
	quotas := proofQuotas(u.ID)
	if err := s.countAttempt(ctx, quotas); err != nil {
		return err
	}
	err := s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := s.useCode(ctx, tx, u.User, given); err != nil {
			return err
		}
		return uncountAttempt(ctx, tx, quotas)
	})
	if errors.Is(err, errGuess) {
		s.auditRefusal(ctx, u.User, Visitor{Address: v.Actor.From}, SecondFactorRefused)
		return fault.Field("proof", "is wrong")
	}
	return err
}
