package customer

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/platform/address"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// Draft is what a caller wants a customer to be: a change leaves alone what is
// not given. An edge reads it from a form; Go callers fill it in.
type Draft struct {
	Name       input.Opt[string]
	Whatsapp   input.Opt[string] // digits with country code
	Email      input.Opt[string]
	Usuario    input.Opt[string]
	DueOn      input.Opt[civil.Date]
	PlanID     input.Opt[int64]
	ProductID  input.Opt[int64]
	Notes      input.Opt[string]
	ExternalID input.Opt[string]
	CpfCnpj    input.Opt[string] // without punctuation
	Address    input.Opt[address.Address]
	OwnPrice   input.Opt[money.Cents] // null: the plan's value
	Custom     input.Opt[Custom]

	Cancelled    input.Opt[bool]
	CancelReason input.Opt[string]
	KeepInvoices input.Opt[bool] // when it is cancelled
	OwnDay       int             // of the month, for a new due date; 0: that of the date; no form has it
	LeaveOverdue bool            // when its due date moves, an overdue invoice does not; no form has it

	unreadPhone input.Unread // refused unless the record has it

	Problems input.Problems // what the form had wrong
}

// Limits of the free texts.
const (
	maxName  = 255
	maxNotes = 5000
	// maxReason is how long the reason of a cancellation may be.
	maxReason = 500
)

// ReadOnly are the fields of a customer's record that a form may carry and
// that change nothing, so that what was read can be sent back.
var ReadOnly = []string{
	"id", "uuid", "status", "plan", "product", "invoices", "created_at", "updated_at",
	"previous_due_date", "cancelled_at", "autopay", "credit", "created",
}

// ReadNew reads the draft of a new customer.
func ReadNew(in *input.Form) Draft {
	in.Require("name")
	draft := readDraft(in)
	if draft.unreadPhone.Reason != "" { // a new customer has none from before
		in.Refuse("whatsapp", draft.unreadPhone.Reason)
		draft.Problems = in.Problems()
	}
	return draft
}

// ReadChanges reads the draft of a change.
func ReadChanges(in *input.Form) Draft {
	in.MustNotClear("name")
	return readDraft(in)
}

func readDraft(in *input.Form) Draft {
	in.Alias("username", "usuario")
	in.Alias("due_date", "data_de_vencimento")
	in.Ignore(ReadOnly...)
	whatsapp, unread := in.StoredPhone("whatsapp")
	draft := Draft{
		Name:      in.Line("name", maxName),
		Whatsapp:  whatsapp,
		Email:     in.Email("email"),
		Usuario:   in.Line("usuario", maxName),
		DueOn:     in.Date("data_de_vencimento"),
		PlanID:    in.ID("plan_id"),
		ProductID: in.ID("product_id"),
		CpfCnpj:   account.TaxID(in, "cpf_cnpj"),
		Address:   readAddress(in, "address"),
		OwnPrice:  in.Money("price"),
		Custom:    readCustom(in, "custom"),

		Cancelled:    in.Bool("cancelled"),
		CancelReason: in.Text("cancel_reason", maxReason),
		KeepInvoices: in.Bool("keep_invoices"),

		unreadPhone: unread,
	}
	for _, text := range texts {
		text.read(in, &draft)
	}
	draft.Problems = in.Problems()
	return draft
}

// Customer makes a new customer of the draft. What the company's rules refuse
// is returned as fields, all of it.
func (d Draft) Customer(now time.Time, actor account.Actor, on Catalog) (Customer, fault.Fields, error) {
	customer := Customer{UUID: id.NewUUID(), UpdatedAt: now, Autopay: AutopayNone}
	customer.createdAt(now, actor.Company.Zone)
	d.plainTo(&customer)
	d.cancel(&customer, now)
	plan, refused, err := d.resolve(on, &customer)
	if err != nil {
		return customer, refused, err
	}
	d.refuseReason(customer, &refused)
	if customer.Name == "" {
		refused.Add("name", "is required")
	}
	if !d.ProductID.Given() {
		customer.Product = Product(plan.Product)
	}
	if customer.DueOn.IsZero() && plan.ID != 0 {
		today := actor.Today(now)
		err = customer.extend(plan.Period, today, today.Day())
	}
	return customer, refused, err
}

// changed returns before with the draft's changes, and what is refused.
func (d Draft) changed(ctx context.Context, tx account.Tx, before Customer) (Customer, fault.Fields, error) {
	customer := before
	d.plainTo(&customer)
	d.cancel(&customer, tx.Now())
	_, refused, err := d.resolve(catalogOf(ctx, tx, tx.Actor), &customer)
	if err != nil {
		return customer, refused, err
	}
	d.refuseReason(customer, &refused)
	if d.unreadPhone.Reason != "" && d.unreadPhone.Digits != before.Whatsapp {
		refused.Add("whatsapp", d.unreadPhone.Reason)
	}
	if customer.Name == "" {
		refused.Add("name", "must not be empty")
	}
	if customer.Usuario != before.Usuario || customer.ExternalID != before.ExternalID {
		err = refuseTaken(ctx, tx, tx.Company.ID, customer, &refused)
	}
	return customer, refused, err
}

// plainTo sets the fields that need no look at other tables.
func (d Draft) plainTo(customer *Customer) {
	d.Name.To(&customer.Name)
	d.Whatsapp.To(&customer.Whatsapp)
	d.Email.To(&customer.Email)
	d.Usuario.To(&customer.Usuario)
	d.CpfCnpj.To(&customer.CpfCnpj)
	d.Address.To(&customer.Address)
	d.Custom.To(&customer.Custom)
	d.CancelReason.To(&customer.CancelReason)
	for _, text := range texts {
		text.draft(&d).To(text.record(customer))
	}
	if d.OwnPrice.Given() {
		customer.OwnPrice = Price{d.OwnPrice.Value, d.OwnPrice.HasValue()}
	}
	// The date that was read and sent back keeps its own day: 28 February may
	// stand for the 31st.
	if d.DueOn.Given() && d.DueOn.Value != customer.DueOn {
		customer.DueOn, customer.OwnDay = d.DueOn.Value, cmp.Or(d.OwnDay, d.DueOn.Value.Day())
	}
}

// refuseReason refuses the reason of a cancellation that is none: it would be
// lost in silence.
func (d Draft) refuseReason(customer Customer, refused *fault.Fields) {
	if d.CancelReason.Value != "" && !customer.IsCancelled() {
		refused.Add("cancel_reason", "needs cancelled: true")
	}
}

// Catalog finds what the company sells: in the database for one
// customer, in a cache for the many of an import.
type Catalog struct {
	Plan    func(id int64) (catalog.Plan, error)
	Product func(id int64) (catalog.Product, error)
}

// catalogOf finds in the database. In a transaction, the plan that is found is
// kept from being changed.
func catalogOf(ctx context.Context, querier sqldb.Querier, actor account.Actor) Catalog {
	return Catalog{
		Plan: func(id int64) (catalog.Plan, error) {
			if tx, writes := querier.(account.Tx); writes {
				return catalog.HoldPlan(ctx, tx, id)
			}
			return catalog.FindPlan(ctx, querier, actor, id)
		},
		Product: func(id int64) (catalog.Product, error) {
			return catalog.FindProduct(ctx, querier, actor, id)
		},
	}
}

// resolve looks up plan and product. It returns the plan when the draft names
// one. A price that equals the plan's is no own price.
func (d Draft) resolve(on Catalog, customer *Customer) (plan catalog.Plan, refused fault.Fields, err error) {
	if d.PlanID.Given() && d.PlanID.Value != customer.Plan.ID {
		plan, err = chosen(d.PlanID.Value, "plan_id", &refused, on.Plan, func(plan catalog.Plan) bool { return plan.Active })
		if err != nil {
			return plan, refused, err
		}
		customer.buys(plan)
	}
	if d.ProductID.Given() && d.ProductID.Value != customer.Product.ID {
		active := func(product catalog.Product) bool { return product.Active }
		product, err := chosen(d.ProductID.Value, "product_id", &refused, on.Product, active)
		if err != nil {
			return plan, refused, err
		}
		customer.Product = Product{ID: product.ID, Name: product.Name}
	}
	if customer.OwnPrice.Own && customer.Plan.ID != 0 && customer.OwnPrice.Amount == customer.Plan.Value {
		customer.OwnPrice = Price{} // it follows the plan
	}
	return plan, refused, nil
}

// chosen finds a plan or product by id; none for 0. One that the company does not
// have, or does not sell any more, is refused.
func chosen[T any](
	id int64, name string, refused *fault.Fields, find func(id int64) (T, error), active func(T) bool,
) (value T, err error) {
	if id == 0 {
		return value, nil
	}
	value, err = find(id)
	switch {
	case fault.KindOf(err) == fault.KindNotFound:
		refused.Add(name, "does not exist")
		return *new(T), nil
	case err == nil && !active(value):
		refused.Add(name, "is not active")
	}
	return value, err
}

// Limits of a company's own fields.
const (
	maxCustom     = 20
	maxCustomName = 60
	maxCustomText = 500
)

// readTexts reads an object of texts as one field. What read refuses is not given.
func readTexts[T any](in *input.Form, name string, read func(map[string]string) (T, bool)) (field input.Opt[T]) {
	texts := in.Texts(name)
	if texts.IsNull() {
		return input.Null[T]()
	}
	if !texts.HasValue() {
		return field
	}
	if value, good := read(texts.Value); good {
		return input.Some(value)
	}
	return field
}

// readAddress reads the seven parts as one field: a part that is left out is
// empty.
func readAddress(in *input.Form, name string) input.Opt[address.Address] {
	return readTexts(in, name, func(texts map[string]string) (a address.Address, good bool) {
		good = true
		for part, text := range texts {
			if place := a.Part(part); place != nil {
				*place = text
				continue
			}
			in.Refuse(name+"."+part, "unknown field")
			good = false
		}
		a, faults := a.Check()
		for part, reasons := range faults.All() {
			in.Refuse(name+"."+part, reasons[0])
		}
		return a, good && faults.Empty()
	})
}

func readCustom(in *input.Form, name string) input.Opt[Custom] {
	return readTexts(in, name, func(texts map[string]string) (Custom, bool) {
		kept := map[string]string{}
		for field, text := range texts {
			if reason := refuseCustom(field, text); reason != "" {
				in.Refuse(name, reason)
				return "", false
			}
			if text != "" {
				kept[field] = text
			}
		}
		if len(kept) > maxCustom {
			in.Refuse(name, fmt.Sprintf("must have at most %d fields", maxCustom))
			return "", false
		}
		return NewCustom(kept), true
	})
}

// refuseCustom says what is wrong with a field of the company's own.
func refuseCustom(name, text string) string {
	switch {
	case !isPlain(name, maxCustomName) || name == "":
		return fmt.Sprintf("names must have 1 to %d characters, on one line", maxCustomName)
	case !isPlain(text, maxCustomText):
		return fmt.Sprintf("texts must have at most %d characters, on one line", maxCustomText)
	}
	return ""
}

func isPlain(text string, limit int) bool {
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= limit && !strings.ContainsFunc(text, unicode.IsControl)
}
