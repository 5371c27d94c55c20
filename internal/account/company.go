package account

import (
	"context"
	"strings"
	"unicode/utf8"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
)

// MinPassword is the shortest password accepted.
const MinPassword = 8

// CreateCompany makes a company at the top of the tree and its owner, from
// the fields name, email, password, level and timezone. Without a password
// the owner cannot sign in until one is set.
func (s *Service) CreateCompany(ctx context.Context, in *input.Form) (Company, User, error) {
	made, err := s.readCompany(ctx, in)
	if err != nil {
		return Company{}, User{}, err
	}
	var c Company
	var owner User
	err = s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		c, owner, err = made.insert(ctx, tx)
		return err
	})
	return c, owner, err
}

// newCompany is a company with its owner, read and not yet written.
type newCompany struct {
	company Company
	owner   User
	hash    string // of the owner's password
}

func (s *Service) readCompany(ctx context.Context, in *input.Form) (n newCompany, err error) {
	n = newCompany{
		company: Company{Level: LevelUltraMaster, Settings: DefaultSettings, Subscription: Subscription{Functions: EveryFunction}},
		owner:   User{Role: RoleOwner},
	}
	in.Require("name")
	in.Require("email")
	n.company.Name, _ = in.Line("name", 255).Get()
	n.owner.Email, _ = in.Email("email").Get()
	n.owner.Name, _ = in.Line("user_name", 255).Get()
	password := readPassword(in)
	readLevel(in, &n.company)
	if !in.Given("timezone") {
		n.company.Zone, _ = civil.LoadZone(DefaultTimezone)
	}
	readZone(in, &n.company)
	if err := in.Err(); err != nil {
		return n, err
	}
	if n.owner.Name == "" {
		n.owner.Name, _, _ = strings.Cut(n.owner.Email, "@")
	}
	n.hash, err = hashPassword(ctx, password)
	return n, err
}

func (n newCompany) insert(ctx context.Context, tx *sqldb.Tx) (c Company, owner User, err error) {
	c, owner = n.company, n.owner
	c.CreatedAt, owner.CreatedAt = tx.Now(), tx.Now()
	err = insertWithOwner(ctx, tx, &c, &owner, n.hash)
	return c, owner, err
}

// SetCompany changes name, whatsapp, level, timezone and settings; what is not
// given stays. The level is the operator's to give: a company that could raise
// its own would own the tree.
func (s *Service) SetCompany(ctx context.Context, a Actor, in *input.Form) (Company, error) {
	in.MustNotClear("name")
	c := a.Company
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		before, err := lockCompany(ctx, tx, a.Company.ID)
		if err != nil {
			return err
		}
		c = before
		if v, ok := in.Line("name", 255).Get(); ok {
			c.Name = v
		}
		if v, ok := in.Phone("whatsapp").Get(); ok {
			c.Whatsapp = v
		}
		if a.UserID == 0 && a.TokenID == 0 {
			readLevel(in, &c)
		} else {
			in.Ignore("level")
		}
		readZone(in, &c)
		readSettings(in, &c.Settings)
		if err := in.Err(); err != nil {
			return err
		}
		if err := s.SaveTx(ctx, tx, before, c); err != nil {
			return err
		}
		return WriteAudit(ctx, tx, a, AuditEntry{
			Action: "company.updated", Record: "company", ID: c.ID, Name: c.Name, Before: companyFields(before), After: companyFields(c),
		})
	})
	return c, err
}

func companyFields(c Company) AuditFields {
	return AuditFields{
		"name": c.Name, "level": c.Level, "timezone": c.Zone.String(), "renew_from": c.Settings.RenewFrom,
		"renew_on_payment": c.Settings.RenewOnPayment, "lead_days": c.Settings.LeadDays,
	}
}

// Actor finds a company to act for, for the command line.
func (s *Service) Actor(ctx context.Context, companyID int64) (Actor, error) {
	c, err := FindCompany(ctx, s.db, companyID)
	return Operator(c), err
}

// FindCompany reads a company as it is now, for another use case's transaction.
func FindCompany(ctx context.Context, q sqldb.Querier, companyID int64) (Company, error) {
	return companyByID(ctx, q, companyID)
}

// LockTx keeps others from counting what the company has while this
// transaction adds to it.
func LockTx(ctx context.Context, tx *sqldb.Tx, a Actor) error {
	_, err := lockCompany(ctx, tx, a.Company.ID)
	return err
}

// Companies lists all companies, oldest first.
func (s *Service) Companies(ctx context.Context) ([]Company, error) { return companies(ctx, s.db) }

// Owner finds the first owner of the actor's company.
func (s *Service) Owner(ctx context.Context, a Actor) (User, error) {
	return ownerOf(ctx, s.db, a.Company.ID)
}

func readPassword(in *input.Form) string {
	password, ok := in.Text("password", 1000).Get()
	if ok && password != "" && utf8.RuneCountInString(password) < MinPassword {
		in.Refuse("password", "must have at least 8 characters")
	}
	return password
}

func hashPassword(ctx context.Context, password string) (string, error) {
	if password == "" {
		return "", nil
	}
	return secret.HashPassword(ctx, password)
}

func readLevel(in *input.Form, c *Company) {
	v, ok := in.Choice("level", string(LevelUser), string(LevelReseller), string(LevelMaster), string(LevelUltraMaster)).Get()
	if ok && v != "" {
		c.Level = Level(v)
	}
}

func readZone(in *input.Form, c *Company) {
	v, ok := in.Line("timezone", 64).Get()
	if !ok {
		return
	}
	zone, err := civil.LoadZone(v)
	if err != nil {
		in.Refuse("timezone", "must be the name of a time zone, such as America/Sao_Paulo")
		return
	}
	c.Zone = zone
}

func readSettings(in *input.Form, s *Settings) {
	if v, ok := in.Choice("renew_from", string(FromDueDate), string(FromToday)).Get(); ok && v != "" {
		s.RenewFrom = RenewFrom(v)
	}
	if v, ok := in.Bool("renew_on_payment").Get(); ok {
		s.RenewOnPayment = v
	}
	if v, ok := in.Int("lead_days", 0, 60).Get(); ok {
		s.LeadDays = int(v)
	}
}
