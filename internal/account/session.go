package account

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
)

// A session ends after a time without use, and after a longer one whatever its
// use. One that waits for its code ends soon.
const (
	SessionIdle = 3 * 24 * time.Hour
	SessionLife = 30 * 24 * time.Hour
	codeWait    = 10 * time.Minute
	// touchEvery is how stale the time of the last use may be, so that a page
	// does not cost a write.
	touchEvery = 5 * time.Minute
)

// Session is a browser in which a user is signed in.
type Session struct {
	ID        int64
	UserID    int64
	Address   string
	Agent     string
	CreatedAt time.Time
	SeenAt    time.Time
	ExpiresAt time.Time
	ProvedAt  time.Time // when the user last proved to be who they are

	pending bool
}

// Visitor is where a request comes from.
type Visitor struct {
	Address string
	Agent   string // what the browser calls itself
	Device  string // what it keeps from an earlier sign-in; "": nothing
}

// Visit is a request of a user who is signed in.
type Visit struct {
	Actor   Actor
	User    User
	Session Session
}

// newLink makes 32 random bytes for a cookie or a link, and the hash that is
// kept of them.
func newLink() (plain string, hash []byte) {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails: the program ends first
	plain = base64.RawURLEncoding.EncodeToString(random[:])
	return plain, linkHash(plain)
}

func linkHash(plain string) []byte {
	sum := sha256.Sum256([]byte(plain))
	return sum[:]
}

func signedOut() error {
	return fault.New(fault.KindUnauthenticated, "please sign in")
}

// Authenticate finds the session of a token.
func (s *Service) Authenticate(ctx context.Context, token string, from Visitor) (Visit, error) {
	visit, err := s.visit(ctx, token)
	if err != nil {
		return Visit{}, err
	}
	if visit.Session.pending {
		return Visit{}, signedOut()
	}
	visit.Actor.From = from.Address
	if s.db.Real().Sub(visit.Session.SeenAt) < touchEvery {
		return visit, nil
	}
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		return tx.Do(ctx, `UPDATE sessions SET seen_at = ?, address = ? WHERE company_id = ? AND id = ?`,
			tx.Real().UnixMicro(), from.Address, visit.Actor.Company.ID, visit.Session.ID)
	})
	return visit, err
}

// visit finds a session that has not ended, whether its code has come or not.
func (s *Service) visit(ctx context.Context, token string) (Visit, error) {
	if token == "" {
		return Visit{}, signedOut()
	}
	visit, err := visitByHash(ctx, s.db, linkHash(token))
	if err != nil {
		return visit, err
	}
	now := s.db.Real()
	if !visit.Session.ExpiresAt.After(now) || now.Sub(visit.Session.SeenAt) >= SessionIdle {
		return Visit{}, signedOut()
	}
	return visit, nil
}

// sessionStart is a session that is to be started.
type sessionStart struct {
	user    User
	from    Visitor
	pending bool // the code of the second factor is still to come
}

// maxAgent is how much is kept of what a browser calls itself.
const maxAgent = 300

// startSession starts a session. The token it returns is for the browser alone.
func startSession(ctx context.Context, tx *sqldb.Tx, start sessionStart) (string, error) {
	token, hash := newLink()
	life := SessionLife
	if start.pending {
		life = codeWait
	}
	agent := text.Storable(start.from.Agent, maxAgent)
	return token, insertSession(ctx, tx, start.user.CompanyID, hash, Session{
		UserID: start.user.ID, Address: start.from.Address, Agent: agent,
		CreatedAt: tx.Real(), SeenAt: tx.Real(), ExpiresAt: tx.Real().Add(life), ProvedAt: tx.Real(),
		pending: start.pending,
	})
}

// SignOut ends a session.
func (s *Service) SignOut(ctx context.Context, visit Visit) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := endSession(ctx, tx, visit.Actor.Company.ID, visit.User.ID, visit.Session.ID)
		return err
	})
}

// EndFormer ends the session that a browser held before it signed in again; its
// token is lost to it, and must not be of use to others.
func (s *Service) EndFormer(ctx context.Context, token string) error {
	if token == "" {
		return nil
	}
	visit, err := s.visit(ctx, token)
	if fault.KindOf(err) == fault.KindUnauthenticated {
		return nil
	}
	if err != nil {
		return err
	}
	return s.SignOut(ctx, visit)
}

// Sessions lists where the actor's user is signed in, the latest use first.
func (s *Service) Sessions(ctx context.Context, actor Actor) ([]Session, error) {
	return sqldb.All(ctx, s.db, func(row sqldb.Row) (session Session, err error) {
		err = row.Scan(&session.ID, &session.UserID, &session.Address, &session.Agent, (*civil.Instant)(&session.CreatedAt),
			(*civil.Instant)(&session.SeenAt), (*civil.Instant)(&session.ExpiresAt))
		return session, err
	}, `SELECT id, user_id, address, agent, created_at, seen_at, expires_at FROM sessions
		WHERE company_id = ? AND user_id = ? AND pending = ? AND expires_at > ? AND seen_at > ? ORDER BY seen_at DESC, id DESC`,
		actor.Company.ID, actor.UserID, false, s.db.Real().UnixMicro(), s.db.Real().Add(-SessionIdle).UnixMicro())
}

// EndSession signs the actor's user out somewhere.
func (s *Service) EndSession(ctx context.Context, actor Actor, sessionID int64) error {
	return actor.Write(ctx, s.db, func(tx Tx) error {
		n, err := endSession(ctx, tx.Tx, actor.Company.ID, actor.UserID, sessionID)
		if err == nil && n == 0 {
			err = fault.NotFound("session")
		}
		if err != nil {
			return err
		}
		user, err := userByID(ctx, tx, actor.Company.ID, actor.UserID)
		if err != nil {
			return err
		}
		return s.applyUser(ctx, tx, happened(UserSessionEnded, user.User))
	})
}

// PruneSessions removes what has ended: sessions, links, attempts to sign in.
func (s *Service) PruneSessions(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error { return pruneSessions(ctx, tx) })
}

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
	return Proof{Text: in.Text("proof", maxPassword).Value, Problems: in.Problems()}
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
		return tx.Do(ctx, `UPDATE sessions SET proved_at = ? WHERE company_id = ? AND id = ?`,
			tx.Real().UnixMicro(), visit.Actor.Company.ID, visit.Session.ID)
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
		return tx.Do(ctx, `INSERT INTO setup_links (hash, expires_at) VALUES (?, ?)`, hash, tx.Real().Add(setupLife).UnixMicro())
	})
	return link, err
}

// SetupWorks reports, as a fault when not, whether a set-up link can be used.
func (s *Service) SetupWorks(ctx context.Context, link string) error {
	_, err := sqldb.Value[int64](ctx, s.db, `SELECT expires_at FROM setup_links WHERE hash = ? AND expires_at > ?`,
		linkHash(link), s.db.Real().UnixMicro())
	return sqldb.Found(err, "link")
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
	return sqldb.Write(ctx, s.db, func(tx *sqldb.Tx) (out SignedIn, err error) {
		if err := claimSetup(ctx, tx, link); err != nil {
			return out, err
		}
		done := made()
		if err := s.applyCompany(ctx, actorOf(done.owner.User, from).In(tx), &done); err != nil {
			return out, err
		}
		out.User = done.owner.User
		out.Token, err = startSession(ctx, tx, sessionStart{user: out.User, from: from})
		if err != nil {
			return out, err
		}
		out.Device, err = rememberDevice(ctx, tx, out.User, from)
		return out, err
	})
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
