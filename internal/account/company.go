package account

import (
	"cmp"
	"context"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/taxid"
)

// MinPassword is the shortest password accepted.
const MinPassword = 8

// Limits of texts.
const (
	maxName     = 255
	maxPassword = 1000
	maxZone     = 64
)

// NewCompany is a company at the top of the tree that is to be made, and its
// owner.
type NewCompany struct {
	Name      string
	Email     string         // the owner's
	OwnerName string         // "": from the address
	Password  string         // "": the owner cannot sign in until one is set
	Level     Level          // "": ultra master
	Zone      *time.Location // nil: that of DefaultTimezone

	Problems input.Problems // what the form had wrong
}

// ReadNewCompany reads the fields name, email, user_name, password, level and
// timezone.
func ReadNewCompany(in *input.Form) NewCompany {
	in.Require("name")
	in.Require("email")
	return NewCompany{
		Name:      in.Line("name", maxName).Value,
		Email:     in.Email("email").Value,
		OwnerName: in.Line("user_name", maxName).Value,
		Password:  ReadPassword(in),
		Level:     OneOf(Levels...)(in, "level").Value,
		Zone:      readZone(in, "timezone").Value,
		Problems:  in.Problems(),
	}
}

// refused are the fields that a Go caller may have left out.
func (n NewCompany) refused() (refused fault.Fields) {
	if n.Name == "" && !n.Problems.Any() {
		refused.Add("name", "is required")
	}
	if n.Email == "" && !n.Problems.Any() {
		refused.Add("email", "is required")
	}
	return refused
}

// CreateCompany makes a company at the top of the tree and its owner.
func (s *Service) CreateCompany(ctx context.Context, company NewCompany) (Company, User, error) {
	made, err := company.change(ctx)
	if err != nil {
		return Company{}, User{}, err
	}
	var done Change
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		done = made()
		return s.applyCompany(ctx, Operator(Company{}).In(tx), &done)
	})
	if err != nil {
		return Company{}, User{}, err
	}
	return done.After.Company, done.owner.User, nil
}

// change returns the function that makes the change, fresh for every run of a
// transaction. It hashes the password, which belongs before one.
func (n NewCompany) change(ctx context.Context) (func() Change, error) {
	if err := n.Problems.With(n.refused()).Err(); err != nil {
		return nil, err
	}
	if err := RefusePassword(n.Password, n.Name, n.Email); err != nil {
		return nil, err
	}
	hash, err := HashPassword(ctx, n.Password)
	if err != nil {
		return nil, err
	}
	zone := n.Zone
	if zone == nil {
		if zone, err = civil.LoadZone(DefaultTimezone); err != nil {
			return nil, err
		}
	}
	return func() Change {
		made := Change{Action: CompanyCreated, owner: newOwner(n.Email, hash)}
		made.owner.Name = cmp.Or(n.OwnerName, made.owner.Name)
		made.After = Profile{OwnerEmail: n.Email, Company: Company{
			Name:         n.Name,
			Level:        cmp.Or(n.Level, LevelUltraMaster),
			Zone:         zone,
			Settings:     DefaultSettings,
			Subscription: Subscription{Functions: EveryFunction},
		}}
		return made
	}, nil
}

// CompanyDraft is what a caller wants a company to be; what is not given stays.
type CompanyDraft struct {
	Name            input.Opt[string]
	Whatsapp        input.Opt[string] // digits with country code
	CpfCnpj         input.Opt[string] // without punctuation
	Address         input.Opt[string]
	Email           input.Opt[string]
	Level           input.Opt[Level] // the operator's to give
	Zone            input.Opt[*time.Location]
	RenewFrom       input.Opt[RenewFrom]
	RenewOnPayment  input.Opt[bool]
	LeadDays        input.Opt[int]
	OverdueInvoices input.Opt[int]
	RenewInvoice    input.Opt[RenewInvoice]
	ClosedThrough   input.Opt[civil.Date] // null opens the books again
	Color           input.Opt[string]
	HiddenSteps     input.Opt[string] // no form has it

	LateFeePercent      input.Opt[money.Percent]
	LateInterestPercent input.Opt[money.Percent]
	DiscountPercent     input.Opt[money.Percent] // in place of DiscountAmount
	DiscountAmount      input.Opt[money.Cents]   // in place of DiscountPercent

	Problems input.Problems // what the form had wrong
}

// maxLeadDays bounds how long before its due date an invoice is issued.
const maxLeadDays = 60

// maxOverdueInvoices bounds how many further invoices a late customer gets.
const maxOverdueInvoices = 12

// ReadCompanyDraft reads the fields of CompanyFields.
func ReadCompanyDraft(in *input.Form) CompanyDraft {
	in.MustNotClear("name")
	var draft CompanyDraft
	CompanyFields.Read(in, &draft)
	draft.Problems = in.Problems()
	return draft
}

// to returns the company with the draft's changes. The level is the operator's
// to give: a company that could raise its own would own the tree.
func (d CompanyDraft) to(actor Actor, company Company) Company {
	level := company.Level
	CompanyFields.To(&d, &company)
	if actor.UserID != 0 || actor.TokenID != 0 {
		company.Level = level
	}
	// A discount of one kind replaces that of the other, unless the draft names both.
	switch settings := &company.Settings; {
	case d.DiscountPercent.Value != 0 && !d.DiscountAmount.Given():
		settings.DiscountAmount = 0
	case d.DiscountAmount.Value != 0 && !d.DiscountPercent.Given():
		settings.DiscountPercent = 0
	}
	return company
}

// refused is what is wrong with a company as a whole.
func (c Company) refused() (refused fault.Fields) {
	if c.Name == "" {
		refused.Add("name", "must not be empty")
	}
	if c.Settings.DiscountPercent != 0 && c.Settings.DiscountAmount != 0 {
		refused.Add("discount_amount", "must be a percentage or an amount, not both")
	}
	if c.Settings.OverdueInvoices > 0 && c.Settings.RenewFrom == FromToday {
		refused.Add("overdue_invoices", "needs renewals that count from the due date: else the time in between is not billed")
	}
	return refused
}

// SetCompany changes the actor's company.
func (s *Service) SetCompany(ctx context.Context, actor Actor, draft CompanyDraft) (Company, error) {
	after := actor.Company
	err := actor.Write(ctx, s.db, func(tx Tx) error {
		before, err := lockCompany(ctx, tx.Tx, actor.Company.ID)
		if err != nil {
			return err
		}
		after = draft.to(actor, before)
		if before.Settings.OverdueInvoices == 0 && after.Settings.OverdueInvoices > 0 { // past dates are not billed
			after.Settings.OverdueSince = actor.Today(tx.Now())
		}
		refused := after.refused()
		if draft.ClosedThrough.HasValue() && !draft.ClosedThrough.Value.Before(actor.Today(tx.Now())) {
			refused.Add("books_closed_through", "must be a day before today: money still comes today")
		}
		if err := draft.Problems.With(refused).Err(); err != nil {
			return err
		}
		change := Change{Action: CompanyUpdated, Before: Profile{Company: before}, After: Profile{Company: after}}
		return s.applyCompany(ctx, tx, &change)
	})
	return after, err
}

// Actor finds a company to act for, for the command line.
func (s *Service) Actor(ctx context.Context, companyID int64) (Actor, error) {
	company, err := FindCompany(ctx, s.db, companyID)
	return Operator(company), err
}

// Program finds a company for work that the program does by itself.
func (s *Service) Program(ctx context.Context, companyID int64, work string) (Actor, error) {
	company, err := FindCompany(ctx, s.db, companyID)
	return System(company, work), err
}

// FindCompany reads a company as it is now, for another use case's transaction.
func FindCompany(ctx context.Context, querier sqldb.Querier, id int64) (Company, error) {
	return sqldb.Find(ctx, querier, "company", scanCompany, `SELECT `+CompanyColumns+` FROM companies c WHERE c.id = ?`, id)
}

// LockTx keeps other transactions from counting what the company has while this
// one adds to it.
func LockTx(ctx context.Context, tx Tx) error {
	_, err := lockCompany(ctx, tx.Tx, tx.Company.ID)
	return err
}

// ClosedThroughTx is the last day of the company's books that are closed; zero: all
// is open. The books are neither closed nor opened until the commit.
func ClosedThroughTx(ctx context.Context, tx Tx) (civil.Date, error) {
	company, err := lockCompany(ctx, tx.Tx, tx.Company.ID)
	return company.Settings.ClosedThrough, err
}

// Companies lists all companies, oldest first.
func (s *Service) Companies(ctx context.Context) ([]Company, error) { return companies(ctx, s.db) }

func companies(ctx context.Context, querier sqldb.Querier) ([]Company, error) {
	return sqldb.All(ctx, querier, scanCompany, `SELECT `+CompanyColumns+` FROM companies c ORDER BY c.id`)
}

// Owner finds the first owner of the actor's company.
func (s *Service) Owner(ctx context.Context, actor Actor) (User, error) {
	return ownerOf(ctx, s.db, actor.Company.ID)
}

// ReadPassword reads and checks the field password; "" when it is not given.
func ReadPassword(in *input.Form) string {
	password := in.Text("password", maxPassword)
	if password.HasValue() {
		if reason := weakness(password.Value); reason != "" {
			in.Refuse("password", reason)
		}
	}
	return password.Value
}

// HashPassword is what is stored of a password; "" of none. It is slow by
// design, and belongs before a transaction.
func HashPassword(ctx context.Context, password string) (string, error) {
	if password == "" {
		return "", nil
	}
	return secret.HashPassword(ctx, password)
}

// TaxID reads a CPF or CNPJ without its punctuation.
func TaxID(in *input.Form, name string) input.Opt[string] {
	line := in.Line(name, 40)
	if !line.HasValue() {
		return line
	}
	number, err := taxid.Parse(line.Value)
	if err != nil {
		in.Refuse(name, err.Error())
		return input.Opt[string]{}
	}
	return input.Some(number)
}

func readZone(in *input.Form, name string) input.Opt[*time.Location] {
	line := in.Line(name, maxZone)
	if !line.Given() {
		return input.Opt[*time.Location]{}
	}
	zone, err := civil.LoadZone(line.Value)
	if err != nil {
		in.Refuse(name, "must be the name of a time zone, such as America/Sao_Paulo")
		return input.Opt[*time.Location]{}
	}
	return input.Some(zone)
}
