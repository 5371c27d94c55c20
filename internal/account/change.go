package account

import (
	"context"
	"strings"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/watch"
)

// Action is what happened to a company, a user or a token, as the audit log
// names it.
type Action string

// The actions on a company. Those on a reseller are a company's on one of its
// children; the log of the child has them as actions on a company.
const (
	CompanyCreated    Action = "company.created"
	CompanyUpdated    Action = "company.updated"
	ResellerCreated   Action = "reseller.created"
	ResellerUpdated   Action = "reseller.updated"
	ResellerLevel     Action = "reseller.level"
	ResellerRenewed   Action = "reseller.renewed"
	ResellerSuspended Action = "reseller.suspended"
	ResellerResumed   Action = "reseller.resumed"
	ResellerInvited   Action = "reseller.invited"
)

// Profile is a company with what the audit log shows in addition to its row.
type Profile struct {
	Company
	OwnerEmail string
	PlanName   string // of the company's subscription plan, which is its parent's
}

// Change is one change of a company's record. Before is zero for a company that
// is made.
type Change struct {
	Action        Action
	Before, After Profile

	owner *storedUser // of a company that is made; applyCompany writes both
}

func (c *Change) creates() bool { return c.Before.ID == 0 }

// ChangesOf are what one actor changes in one step of a transaction.
type ChangesOf[C any] struct {
	Actor Actor
	List  []C
}

// Changes are changes of companies.
type Changes = ChangesOf[Change]

// Watch adds a room above this one that acts when companies change. It is
// called after the row is written.
func (s *Service) Watch(watcher watch.Watcher[Changes]) {
	s.watchers.Watch(watcher)
}

// SaveTx applies a change that another room has decided, inside its
// transaction. The company was locked by it.
func (s *Service) SaveTx(ctx context.Context, tx Tx, change *Change) error {
	return s.applyCompany(ctx, tx, change)
}

// applyCompany writes a change of a company and draws its consequences: row,
// the parent's counts, audit lines, watchers. It is the only place that writes
// a company's row, but for applyFunctions, which gives functions to many at
// once.
func (s *Service) applyCompany(ctx context.Context, tx Tx, change *Change) error {
	if err := writeCompany(ctx, tx.Tx, change); err != nil {
		return err
	}
	if err := countCompany(ctx, tx.Tx, change); err != nil {
		return err
	}
	tx.Actor = change.founder(tx.Actor)
	if err := auditCompany(ctx, tx, change); err != nil {
		return err
	}
	if err := s.watchers.Tell(ctx, tx.Tx, Changes{Actor: tx.Actor, List: []Change{*change}}); err != nil {
		return err
	}
	return s.applyBelow(ctx, tx, change)
}

// applyBelow passes a change of a company's standing on to all companies below
// it, level by level: each is locked before those below it are looked for, so
// that one that is being made meanwhile is not missed.
func (s *Service) applyBelow(ctx context.Context, tx Tx, change *Change) error {
	if change.creates() || change.After.Subscription.passedDown() == change.Before.Subscription.passedDown() {
		return nil
	}
	changed := []Company{change.After.Company}
	for len(changed) > 0 {
		parent := changed[0]
		below, err := passOn(ctx, tx.Tx, parent)
		if err != nil {
			return err
		}
		if err := s.watchers.Tell(ctx, tx.Tx, Changes{Actor: tx.Actor, List: below}); err != nil {
			return err
		}
		changed = changed[1:]
		for _, child := range below {
			changed = append(changed, child.After.Company)
		}
	}
	return nil
}

// passOn gives the companies directly below one its standing, and returns those
// that had another.
func passOn(ctx context.Context, tx *sqldb.Tx, parent Company) ([]Change, error) {
	above := parent.Subscription.passedDown()
	children, err := sqldb.All(ctx, tx, scanCompany, `
		SELECT `+CompanyColumns+` FROM companies c WHERE c.parent_id = ? ORDER BY c.id {for update}`, parent.ID)
	if err != nil || len(children) == 0 {
		return nil, err
	}
	var changes []Change
	for _, child := range children {
		if child.Subscription.Above == above {
			continue
		}
		change := Change{Before: Profile{Company: child}, After: Profile{Company: child}}
		change.After.Subscription.Above = above
		changes = append(changes, change)
	}
	return changes, tx.Do(ctx, `UPDATE companies SET above_suspended_at = ?, above_expires_on = ? WHERE parent_id = ?`,
		sqldb.RefTo(civil.Micros(above.SuspendedAt)), above.ExpiresOn, parent.ID)
}

// founder is the actor of a change. Who makes a company at the top of the tree
// acts for that company, which has no id before: the operator, or the owner who
// sets the program up.
func (c *Change) founder(actor Actor) Actor {
	if !c.creates() || c.After.ParentID != 0 {
		return actor
	}
	actor.Company = c.After.Company
	if actor.Role == RoleOwner {
		actor.UserID = c.owner.ID
	}
	return actor
}

func writeCompany(ctx context.Context, tx *sqldb.Tx, change *Change) (err error) {
	if !change.creates() {
		if change.After.Company == change.Before.Company && change.After.OwnerEmail == change.Before.OwnerEmail {
			return nil
		}
		owner, err := ownerOf(ctx, tx, change.After.ID)
		if err != nil && fault.KindOf(err) != fault.KindNotFound {
			return err
		}
		return updateCompany(ctx, tx, change.After.Company, searchText(change.After.Company, owner.Email))
	}
	company := &change.After.Company
	company.CreatedAt, change.owner.CreatedAt = tx.Now(), tx.Now()
	company.ID, err = insertCompany(ctx, tx, *company, searchText(*company, change.owner.Email))
	if err != nil {
		return err
	}
	change.owner.CompanyID = company.ID
	created := userChange{after: *change.owner}
	err = writeUser(ctx, tx, &created)
	*change.owner = created.after
	return err
}

// countCompany keeps the parent's counts of its children true.
func countCompany(ctx context.Context, tx *sqldb.Tx, change *Change) error {
	parent := change.After.ParentID
	switch {
	case parent == 0:
		return nil
	case change.creates():
		return counter.Add(ctx, tx, parent, counted(change.After.Company, 1))
	}
	return counter.Move(ctx, tx, parent, counted(change.Before.Company, 1), counted(change.After.Company, 1))
}

// auditCompany writes the line of a change. What a company does to one of its
// children has a line in the logs of both.
func auditCompany(ctx context.Context, tx Tx, change *Change) error {
	entry := AuditEntry{
		Action: string(change.Action),
		Record: "company",
		ID:     change.After.ID,
		Name:   change.After.Name,
		After:  companyAudit(&change.After),
	}
	if !change.creates() {
		entry.Before = companyAudit(&change.Before)
	}
	if tx.Company.ID != change.After.ID {
		if err := WriteChildAudit(ctx, tx, change.After.ID, change.Action.ofChild(entry)); err != nil {
			return err
		}
		entry.Record = "reseller"
	}
	return WriteAudit(ctx, tx, entry)
}

// ofChild is the entry as the log of the child has it.
func (action Action) ofChild(entry AuditEntry) AuditEntry {
	entry.Action = strings.Replace(string(action), "reseller.", "company.", 1)
	return entry
}

// The actions on a user.
const (
	UserCreated      Action = "user.created"
	UserUpdated      Action = "user.updated"
	UserRemoved      Action = "user.removed"
	PasswordLinkMade Action = "user.password_link"
	PasswordSet      Action = "user.password_set"
	PasswordChanged  Action = "user.password_changed"
	SecondFactorOn   Action = "second_factor.on"
	SecondFactorOff  Action = "second_factor.off"
	// SecondFactorRefused is a wrong code after the right password.
	SecondFactorRefused Action = "second_factor.refused"
	UserSignedIn        Action = "signin"
	UserSignInRefused   Action = "signin.refused"
	UserSessionEnded    Action = "session.ended"
	EmailConfirmed      Action = "user.email_confirmed"
	EmailChanged        Action = "user.email_changed"
	EmailReleased       Action = "user.email_released"
	EmailRestored       Action = "user.email_restored"
	unseen              Action = "" // of no interest to the audit log
)

// userChange is one change of a user's record. before is zero for a user who is
// made. Where both are alike something happened around the row, such as a
// sign-in.
type userChange struct {
	action        Action
	before, after storedUser
}

// happened is a change that leaves the row as it is.
func happened(action Action, user User) *userChange {
	stored := storedUser{User: user}
	return &userChange{action, stored, stored}
}

// applyUser writes a change of a user, its audit line and the letters about it. It is the only place
// that writes a user's row, but for that of the owner who is made with a company (applyCompany), and
// for the step of a second factor that a code uses up (spendStep), which must compare and set at
// once. What depends on a user and is no fact for the audit log is written elsewhere: sessions,
// password links, recovery codes, attempts to sign in.
func (s *Service) applyUser(ctx context.Context, tx Tx, change *userChange) error {
	if err := writeUser(ctx, tx.Tx, change); err != nil {
		return err
	}
	if err := auditUser(ctx, tx, change); err != nil {
		return err
	}
	return s.tellOfUser(ctx, tx, change)
}

func writeUser(ctx context.Context, tx *sqldb.Tx, change *userChange) (err error) {
	switch {
	case change.before.ID == 0:
		change.after.ID, err = insertUser(ctx, tx, change.after)
		if err == nil && change.after.ID == 0 {
			return errEmailTaken()
		}
		return err
	case change.action == UserRemoved:
		// Sessions, codes and links go with the row.
		return tx.Do(ctx, `DELETE FROM users WHERE company_id = ? AND id = ?`,
			change.before.User.CompanyID, change.before.User.ID)
	case change.after != change.before:
		return updateUser(ctx, tx, change.after)
	}
	return nil
}

func auditUser(ctx context.Context, tx Tx, change *userChange) error {
	if change.action == unseen {
		return nil
	}
	entry := AuditEntry{Action: string(change.action), Record: "user", ID: change.after.ID, Name: change.after.Name}
	if change.before.ID != 0 {
		entry.Before = UserFields.Audit(&change.before.User)
	}
	if change.action != UserRemoved {
		entry.After = UserFields.Audit(&change.after.User)
	}
	return WriteAudit(ctx, tx, entry)
}

// The actions on a token.
const (
	TokenCreated Action = "token.created"
	TokenDeleted Action = "token.deleted"
)

// tokenChange is one change of a token's record. hash is of the text of a token
// that is made.
type tokenChange struct {
	action Action
	token  Token
	hash   []byte
}

// applyToken writes a change of a token, its audit line and the letters about one that is made. It is the only
// place that writes a token's row, but for the time of its last use
// (SaveLastUse).
func (s *Service) applyToken(ctx context.Context, tx Tx, change *tokenChange) (err error) {
	entry := AuditEntry{Action: string(change.action), Record: "token", Name: change.token.Name}
	if change.action == TokenDeleted {
		entry.Before = TokenFields.Audit(&change.token)
		err = deleteToken(ctx, tx, change.token.ID)
	} else {
		entry.After = TokenFields.Audit(&change.token)
		change.token.CreatedAt = tx.Now()
		change.token.ID, err = insertToken(ctx, tx.Tx, change.token, change.hash)
	}
	if err != nil {
		return err
	}
	entry.ID = change.token.ID
	if err := WriteAudit(ctx, tx, entry); err != nil || change.action == TokenDeleted {
		return err
	}
	// The owners hear of a new way in for a program.
	return s.TellOwnersTx(ctx, tx, Notice{
		Kind:    "token",
		Subject: "há um novo token da API",
		Text: "Um token da API da sua empresa foi criado. Veja qual e por quem:\n\n" + s.publicURL + "/api\n\n" +
			"Se nenhum dos donos fez isso, exclua o token e troque a sua senha.",
		English: "An API token of your company was made. See which and by whom at the address above; " +
			"if no owner did that, delete it and change your password.",
	})
}
