package customer

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// draft is what a form says about a customer: each field with whether it was
// given. The form is read before the transaction, the draft applied inside it.
type draft struct {
	name, whatsapp, email, usuario, notes, externalID given[string]
	dueOn                                             given[civil.Date]
	planID, productID                                 given[int64]
}

type given[T any] struct {
	value T
	ok    bool
}

func (g given[T]) to(field *T) {
	if g.ok {
		*field = g.value
	}
}

// field keeps the two results of a check together.
func field[T any](value T, ok bool) given[T] { return given[T]{value, ok} }

// Limits of the free texts.
const (
	maxName  = 255
	maxNotes = 5000
)

// ReadOnly are the fields of a customer's record that a form may carry and
// that change nothing, so that what was read can be sent back.
var ReadOnly = []string{"id", "uuid", "status", "plan", "product", "invoices", "created_at", "updated_at", "previous_due_date"}

func readDraft(in *input.Form) draft {
	in.Alias("username", "usuario")
	in.Alias("due_date", "data_de_vencimento")
	in.Ignore(ReadOnly...)
	return draft{
		name:       field(in.Line("name", maxName).Get()),
		whatsapp:   field(in.Phone("whatsapp").Get()),
		email:      field(in.Email("email").Get()),
		usuario:    field(in.Line("usuario", maxName).Get()),
		dueOn:      field(in.Date("data_de_vencimento").Get()),
		planID:     field(in.ID("plan_id").Get()),
		productID:  field(in.ID("product_id").Get()),
		notes:      field(in.Text("notes", maxNotes).Get()),
		externalID: field(in.Line("external_id", maxName).Get()),
	}
}

// fresh makes a new customer of the draft.
func (d draft) fresh(now time.Time, a account.Actor, on offer, in *input.Form) (Customer, error) {
	c := Customer{UUID: id.NewUUID(), CreatedAt: now, UpdatedAt: now}
	d.plainTo(&c)
	plan, err := d.resolve(on, &c, in)
	if err != nil {
		return c, err
	}
	if !d.productID.ok {
		c.Product = Product(plan.Product)
	}
	if c.DueOn.IsZero() && plan.ID != 0 {
		today := a.Today(now)
		if err := c.extend(plan.Period, today, today.Day()); err != nil {
			return c, err
		}
	}
	return c, in.Err()
}

// apply returns before with the draft's changes.
func (d draft) apply(ctx context.Context, tx *sqldb.Tx, a account.Actor, before Customer, in *input.Form) (Customer, error) {
	c := before
	d.plainTo(&c)
	if _, err := d.resolve(offered(ctx, tx, a), &c, in); err != nil {
		return c, err
	}
	if c.Usuario != before.Usuario || c.ExternalID != before.ExternalID {
		if err := refuseTaken(ctx, tx, a, c, in); err != nil {
			return c, err
		}
	}
	return c, in.Err()
}

// plainTo sets the fields that need no look at other tables.
func (d draft) plainTo(c *Customer) {
	d.name.to(&c.Name)
	d.whatsapp.to(&c.Whatsapp)
	d.email.to(&c.Email)
	d.usuario.to(&c.Usuario)
	d.notes.to(&c.Notes)
	d.externalID.to(&c.ExternalID)
	// The date that was read and sent back keeps its own day: 28 February may
	// stand for the 31st.
	if d.dueOn.ok && d.dueOn.value != c.DueOn {
		c.DueOn, c.OwnDay = d.dueOn.value, d.dueOn.value.Day()
	}
}

// offer finds what the company sells: in the database for one customer, on a
// shelf for the many of an import.
type offer struct {
	plan    func(id int64) (catalog.Plan, error)
	product func(id int64) (catalog.Product, error)
}

func offered(ctx context.Context, q sqldb.Querier, a account.Actor) offer {
	return offer{
		plan:    func(id int64) (catalog.Plan, error) { return catalog.FindPlan(ctx, q, a, id) },
		product: func(id int64) (catalog.Product, error) { return catalog.FindProduct(ctx, q, a, id) },
	}
}

// resolve looks up plan and product. It returns the plan when the draft names
// one.
func (d draft) resolve(on offer, c *Customer, in *input.Form) (plan catalog.Plan, err error) {
	if d.planID.ok && d.planID.value != c.Plan.ID {
		plan, err = chosen(d.planID.value, "plan_id", in, on.plan)
		if err != nil {
			return plan, err
		}
		if plan.ID != 0 && !plan.Active {
			in.Refuse("plan_id", "is not active")
		}
		c.Plan = Plan{ID: plan.ID, Name: plan.Name, Value: plan.Value}
	}
	if d.productID.ok && d.productID.value != c.Product.ID {
		product, err := chosen(d.productID.value, "product_id", in, on.product)
		if err != nil {
			return plan, err
		}
		if product.ID != 0 && !product.Active {
			in.Refuse("product_id", "is not active")
		}
		c.Product = Product{ID: product.ID, Name: product.Name}
	}
	return plan, nil
}

// chosen finds a plan or product by id; none for 0. One that the company does
// not have is refused.
func chosen[T any](id int64, name string, in *input.Form, find func(id int64) (T, error)) (T, error) {
	var none T
	if id == 0 {
		return none, nil
	}
	v, err := find(id)
	if fault.KindOf(err) == fault.KindNotFound {
		in.Refuse(name, "does not exist")
		return none, nil
	}
	return v, err
}

// refuseTaken refuses a login or key that another customer has.
func refuseTaken(ctx context.Context, q sqldb.Querier, a account.Actor, c Customer, in *input.Form) error {
	usuario, external, err := taken(ctx, q, a.Company.ID, c)
	if err != nil {
		return err
	}
	if usuario {
		in.Refuse("usuario", "is taken by another customer")
	}
	if external {
		in.Refuse("external_id", "is taken by another customer")
	}
	return in.Err()
}

// refuse answers a form that has failed already. It looks at the database all
// the same, without a transaction, so that every failing field is reported at
// once.
func (s *Service) refuse(ctx context.Context, a account.Actor, d draft, in *input.Form) error {
	var c Customer
	d.plainTo(&c)
	if _, err := d.resolve(offered(ctx, s.db, a), &c, in); err != nil {
		return err
	}
	return refuseTaken(ctx, s.db, a, c, in)
}

// changes names the fields that differ, as requests name them.
func changes(before, after Customer) []string {
	var names []string
	add := func(name string, differs bool) {
		if differs {
			names = append(names, name)
		}
	}
	add("name", before.Name != after.Name)
	add("whatsapp", before.Whatsapp != after.Whatsapp)
	add("email", before.Email != after.Email)
	add("usuario", before.Usuario != after.Usuario)
	add("data_de_vencimento", before.DueOn != after.DueOn)
	add("plan_id", before.Plan.ID != after.Plan.ID)
	add("product_id", before.Product.ID != after.Product.ID)
	add("notes", before.Notes != after.Notes)
	add("external_id", before.ExternalID != after.ExternalID)
	return names
}
