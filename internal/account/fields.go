package account

import (
	"context"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/rows"
)

// CompanyFields are the fields of a company. Those without a column are in the
// statements of sql.go.
var CompanyFields = Table[Company, CompanyDraft]{
	Drafted("name", "name", func(c *Company, d *CompanyDraft) (*string, *input.Opt[string]) {
		return &c.Name, &d.Name
	}, Line(maxName)).Called("Name", "name"),
	Drafted("whatsapp", "whatsapp", func(c *Company, d *CompanyDraft) (*string, *input.Opt[string]) {
		return &c.Whatsapp, &d.Whatsapp
	}, (*input.Form).Phone).Called("WhatsApp", "number that its resellers see"),
	Drafted("cpf_cnpj", "cpf_cnpj", func(c *Company, d *CompanyDraft) (*string, *input.Opt[string]) {
		return &c.CpfCnpj, &d.CpfCnpj
	}, TaxID).Called("CPF or CNPJ", ""),
	Drafted("address", "address", func(c *Company, d *CompanyDraft) (*string, *input.Opt[string]) {
		return &c.Address, &d.Address
	}, Line(maxName)).Called("Address", ""),
	Drafted("contact_email", "email", func(c *Company, d *CompanyDraft) (*string, *input.Opt[string]) {
		return &c.Email, &d.Email
	}, (*input.Form).Email).Called("E-mail for your customers", ""),
	Drafted("level", "level", func(c *Company, d *CompanyDraft) (*Level, *input.Opt[Level]) {
		return &c.Level, &d.Level
	}, OneOf(Levels...)).Called("Level", "user, reseller, master or ultra_master"),
	Drafted("timezone", "", func(c *Company, d *CompanyDraft) (**time.Location, *input.Opt[*time.Location]) {
		return &c.Zone, &d.Zone
	}, readZone).Called("Time zone", "time zone that decides its days").
		Shown(func(c *Company) any { return c.Zone.String() }),
	Drafted("renew_from", "renew_from", func(c *Company, d *CompanyDraft) (*RenewFrom, *input.Opt[RenewFrom]) {
		return &c.Settings.RenewFrom, &d.RenewFrom
	}, OneOf(FromDueDate, FromToday)).Called("The renewal of an expired customer counts from",
		"what an expired customer's renewal counts from: due_date or today"),
	Drafted("renew_on_payment", "renew_on_payment", func(c *Company, d *CompanyDraft) (*bool, *input.Opt[bool]) {
		return &c.Settings.RenewOnPayment, &d.RenewOnPayment
	}, (*input.Form).Bool).Called("A paid invoice renews its customer", "whether a paid invoice renews its customer"),
	Drafted("lead_days", "lead_days", func(c *Company, d *CompanyDraft) (*int, *input.Opt[int]) {
		return &c.Settings.LeadDays, &d.LeadDays
	}, Number(0, maxLeadDays)).Called("Days before the due date on which an invoice is made",
		"how many days before the due date an invoice is issued"),
	Drafted("renew_invoice", "renew_invoice", func(c *Company, d *CompanyDraft) (*RenewInvoice, *input.Opt[RenewInvoice]) {
		return &c.Settings.RenewInvoice, &d.RenewInvoice
	}, OneOf(RenewInvoices...)).Called("When you renew by hand, the open invoice of that due date is",
		"what becomes of the open invoice of a renewal by hand: keep, paid or cancelled"),
	Drafted("overdue_invoices", "overdue_invoices", func(c *Company, d *CompanyDraft) (*int, *input.Opt[int]) {
		return &c.Settings.OverdueInvoices, &d.OverdueInvoices
	}, Number(0, maxOverdueInvoices)).Called("Further invoices for a customer who is late",
		"how many further invoices a customer who is late gets; 0: none"),
	Drafted("books_closed_through", "books_closed_through",
		func(c *Company, d *CompanyDraft) (*civil.Date, *input.Opt[civil.Date]) {
			return &c.Settings.ClosedThrough, &d.ClosedThrough
		}, (*input.Form).Date).Called("Books closed through",
		"the last day of the books that are closed; empty opens them again"),
	Drafted("late_fee_percent", "late_fee_bp", func(c *Company, d *CompanyDraft) (*money.Percent, *input.Opt[money.Percent]) {
		return &c.Settings.LateFeePercent, &d.LateFeePercent
	}, (*input.Form).Percent).Called("Late fee (%)", "what a late invoice costs more, once, such as 2.00"),
	Drafted("late_interest_percent", "late_interest_bp", func(c *Company, d *CompanyDraft) (*money.Percent, *input.Opt[money.Percent]) {
		return &c.Settings.LateInterestPercent, &d.LateInterestPercent
	}, (*input.Form).Percent).Called("Late interest a month (%)", "what it costs more a month, by the day, such as 1.00"),
	Drafted("discount_percent", "discount_bp", func(c *Company, d *CompanyDraft) (*money.Percent, *input.Opt[money.Percent]) {
		return &c.Settings.DiscountPercent, &d.DiscountPercent
	}, (*input.Form).Percent).Called("Discount until the due date (%)", "what an invoice costs less until its due date, such as 5.00"),
	Drafted("discount_amount", "discount_cents", func(c *Company, d *CompanyDraft) (*money.Cents, *input.Opt[money.Cents]) {
		return &c.Settings.DiscountAmount, &d.DiscountAmount
	}, (*input.Form).Money).Called("Discount until the due date (R$)", "the same as an amount in reais, in place of a percentage"),
	Drafted("color", "color", func(c *Company, d *CompanyDraft) (*string, *input.Opt[string]) {
		return &c.Brand.Color, &d.Color
	}, readColor).Called("Color", ""),
	{Name: "logo", Column: "logo", At: func(c *Company) any { return &c.Brand.Logo }, Label: "Logo"},
	Drafted("hidden_steps", "hidden_steps", func(c *Company, d *CompanyDraft) (*string, *input.Opt[string]) {
		return &c.HiddenSteps, &d.HiddenSteps
	}, nil).Called("First steps that are hidden", ""),
	{Name: "type", Column: "subscription", At: func(c *Company) any { return &c.Subscription.Kind }},
	{Name: "expires_at", Column: "expires_on", At: func(c *Company) any { return &c.Subscription.ExpiresOn }},
	{
		Name: "suspended", At: func(c *Company) any { return &c.Subscription.SuspendedAt },
		Show: func(c *Company) any { return !c.Subscription.SuspendedAt.IsZero() },
	},
	{
		Name: "functions", Column: "functions", At: func(c *Company) any { return &c.Subscription.Functions },
		Show: func(c *Company) any { return functionsAudit(c.Subscription.Functions) },
	},
	{Column: "overdue_since", At: func(c *Company) any { return &c.Settings.OverdueSince }},
	{Column: "expires_day", At: func(c *Company) any { return &c.Subscription.OwnDay }},
	{Column: "above_expires_on", At: func(c *Company) any { return &c.Subscription.Above.ExpiresOn }},
	{Column: "anonymous", At: func(c *Company) any { return &c.Subscription.Anonymous }},
}

// functionsAudit is a set of functions as the audit log shows it.
func functionsAudit(functions Functions) string {
	return strings.Trim(functions.String(), ",")
}

// companyAudit is a company as the audit log shows it.
func companyAudit(profile *Profile) AuditFields {
	shown := CompanyFields.Audit(&profile.Company)
	shown["email"], shown["plan"] = profile.OwnerEmail, profile.PlanName
	return shown
}

// UserFields are the fields of a user. How a role is stored is said by storedRole.
var UserFields = Table[User, UserDraft]{
	{Name: "id", At: func(user *User) any { return &user.ID }, Except: InAudit},
	Drafted("name", "name", func(u *User, d *UserDraft) (*string, *input.Opt[string]) { return &u.Name, &d.Name }, Line(maxName)),
	Drafted("email", "email", func(u *User, d *UserDraft) (*string, *input.Opt[string]) {
		return &u.Email, &d.Email
	}, nil), // forms have it of new users only
	Drafted("role", "", func(u *User, d *UserDraft) (*Role, *input.Opt[Role]) { return &u.Role, &d.Role }, OneOf(Roles...)),
}

// TokenFields are the fields of a token.
var TokenFields = Table[Token, NewToken]{
	{Name: "id", At: func(token *Token) any { return &token.ID }, Except: InAudit},
	{Name: "name", Column: "name", At: func(token *Token) any { return &token.Name }},
	{Name: "created_at", At: func(token *Token) any { return &token.CreatedAt }, Except: InAudit},
	{Name: "last_used_at", At: func(token *Token) any { return &token.LastUsedAt }, Except: InAudit},
	{Name: "scope", Column: "scope", At: func(token *Token) any { return &token.Scope }},
	{Name: "expires_at", At: func(token *Token) any { return &token.ExpiresAt }},
	{Name: "made_by", At: func(token *Token) any { return &token.Maker }, Except: InAudit | InRecord},
}

// Field is a field of the record T, which a draft D may set. Its line in the Table of
// the record is the only place that names it, but for the two structs.
type Field[T, D any] struct {
	Name   string       // as forms, records and the audit log name it; "": they do not have it
	Column string       // stores it as it is; "": the statements name the column
	At     func(*T) any // a pointer to it
	Show   func(*T) any // what people see of it; nil: the value
	Label  string       // on pages
	Flag   string       // what the command line says of its flag; "": it has none
	Except Place        // where it is not shown, though it has a name

	read func(*input.Form, *D)
	to   func(*D, *T)
}

// Place is where the fields of a record are shown.
type Place uint8

// The places.
const (
	InAudit  Place = 1 << iota
	InRecord       // its JSON in the API and of commands
	InLists        // the columns of commands that list such records
)

// Table is the fields of a record: columns, audit log, JSON, the reading of drafts and
// what they change are made of it. Tests name the fields that it lacks.
type Table[T, D any] []Field[T, D]

// Drafted is a field that a draft may set. places points to it in both; read takes
// it from a form by its name; nil: no form has it.
func Drafted[T, D, V any](
	name, column string, places func(*T, *D) (*V, *input.Opt[V]), read func(*input.Form, string) input.Opt[V],
) Field[T, D] {
	record, draft := new(T), new(D) // only their addresses are used
	field := Field[T, D]{
		Name:   name,
		Column: column,
		At: func(from *T) any {
			place, _ := places(from, draft)
			return place
		},
		to: func(from *D, into *T) {
			place, given := places(into, from)
			given.To(place)
		},
	}
	if read != nil {
		field.read = func(in *input.Form, into *D) {
			_, place := places(record, into)
			*place = read(in, name)
		}
	}
	return field
}

// Called gives the field its label on pages and the text of its flag.
func (f Field[T, D]) Called(label, flag string) Field[T, D] {
	f.Label, f.Flag = label, flag
	return f
}

// Shown gives the field another form for people.
func (f Field[T, D]) Shown(show func(*T) any) Field[T, D] {
	f.Show = show
	return f
}

// Not keeps the field out of some places.
func (f Field[T, D]) Not(places Place) Field[T, D] {
	f.Except = places
	return f
}

// Audited gives the field another name in the audit log.
func (f Field[T, D]) Audited(name string) Field[T, D] {
	f.Name = name
	return f
}

func (f Field[T, D]) in(place Place) bool { return f.Name != "" && f.Except&place == 0 }

// Of is the field of a record as people see it.
func (f Field[T, D]) Of(record *T) any {
	if f.Show != nil {
		return f.Show(record)
	}
	switch value := rows.ValueAt(f.At(record)).(type) {
	case money.Percent:
		return value.String()
	case money.Cents:
		return value.String()
	default:
		return value
	}
}

// Read reads the fields of a draft from a form.
func (t Table[T, D]) Read(in *input.Form, draft *D) {
	for _, field := range t {
		if field.read != nil {
			field.read(in, draft)
		}
	}
}

// To sets what a draft gives.
func (t Table[T, D]) To(draft *D, record *T) {
	for _, field := range t {
		if field.to != nil {
			field.to(draft, record)
		}
	}
}

// Stored are the fields that have a column.
func (t Table[T, D]) Stored() (list rows.Fields[T]) {
	for _, field := range t {
		if field.Column != "" {
			list = append(list, rows.Field[T]{Column: field.Column, At: field.At})
		}
	}
	return list
}

// In are the names and values that a place shows of a record.
func (t Table[T, D]) In(place Place, record *T) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, field := range t {
			if field.in(place) && !yield(field.Name, field.Of(record)) {
				return
			}
		}
	}
}

// Audit is a record as the audit log shows it.
func (t Table[T, D]) Audit(record *T) AuditFields {
	shown := AuditFields(maps.Collect(t.In(InAudit, record)))
	for name, value := range shown {
		if at, ok := value.(time.Time); ok && at.IsZero() {
			shown[name] = nil
		} else if ok {
			shown[name] = at.UTC().Format(time.RFC3339)
		}
	}
	return shown
}

// Differ reports whether two states of a record differ in a field of the audit log.
func (t Table[T, D]) Differ(before, after *T) bool {
	return slices.ContainsFunc(t, func(field Field[T, D]) bool {
		return field.in(InAudit) && !reflect.DeepEqual(field.At(before), field.At(after))
	})
}

// Line reads a text of one line and at most limit characters.
func Line(limit int) func(*input.Form, string) input.Opt[string] {
	return func(in *input.Form, name string) input.Opt[string] { return in.Line(name, limit) }
}

// NotNull reads a field that null leaves as it is.
func NotNull[V any](read func(*input.Form, string) input.Opt[V]) func(*input.Form, string) input.Opt[V] {
	return func(in *input.Form, name string) input.Opt[V] {
		if given := read(in, name); given.HasValue() {
			return given
		}
		return input.Opt[V]{}
	}
}

// Period reads a period in one word, such as 1month.
func Period(in *input.Form, name string) input.Opt[civil.Period] {
	label := in.Line(name, 40)
	if !label.HasValue() {
		return input.Opt[civil.Period]{}
	}
	period, err := civil.ParsePeriod(label.Value)
	if err != nil {
		in.Refuse(name, err.Error())
		return input.Opt[civil.Period]{}
	}
	return input.Some(period)
}

// Number reads a number from low to high.
func Number(low, high int64) func(*input.Form, string) input.Opt[int] {
	return func(in *input.Form, name string) input.Opt[int] {
		number := in.Int(name, low, high)
		switch {
		case number.HasValue():
			return input.Some(int(number.Value))
		case number.IsNull():
			return input.Null[int]()
		}
		return input.Opt[int]{}
	}
}

// OneOf reads one of the allowed words. Null changes nothing, since no choice can be
// empty.
func OneOf[T ~string](allowed ...T) func(*input.Form, string) input.Opt[T] {
	return func(in *input.Form, name string) input.Opt[T] {
		chosen := input.OneOf(in, name, allowed...)
		if !chosen.HasValue() {
			return input.Opt[T]{}
		}
		return chosen
	}
}

// Audited is a record as a line of the audit log has it.
type Audited struct {
	ID     int64
	Name   string
	Fields AuditFields
}

// AuditChange writes the line of a record that was created (before is nil), updated or
// deleted (after is nil). record names its kind.
func AuditChange[T any](ctx context.Context, tx Tx, record string, before, after *T, as func(*T) Audited) error {
	entry := AuditEntry{Action: record + ".updated", Record: record}
	if before != nil {
		known := as(before)
		entry.ID, entry.Name, entry.Before = known.ID, known.Name, known.Fields
	} else {
		entry.Action = record + ".created"
	}
	if after != nil {
		known := as(after)
		entry.ID, entry.Name, entry.After = known.ID, known.Name, known.Fields
	} else {
		entry.Action = record + ".deleted"
	}
	return WriteAudit(ctx, tx, entry)
}
