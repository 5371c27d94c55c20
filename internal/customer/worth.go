package customer

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/figures"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// recurring is what a customer is worth a month as the counter of recurring
// revenue has it, and what it was worth when the month of its last change
// began: a month's movement is net, so that one who lapses on the 5th and pays
// on the 9th is neither lost nor new.
type recurring struct {
	amount money.Cents
	month  string // YYYY-MM; "": it has not changed since it is counted
	start  worth
}

// worth is an amount a month and what it is paid for.
type worth struct {
	amount    money.Cents
	planID    int64
	productID int64
}

// monthly is what the customer is worth a month on a day: nothing when it is
// expired or cancelled or has no plan.
func (c Customer) monthly(today civil.Date) money.Cents {
	if c.IsCancelled() || c.Plan.ID == 0 || !c.DueOn.IsZero() && c.onTimeThrough().Before(today) {
		return 0
	}
	return figures.Monthly(c.Price(), c.period)
}

// counted is the customer's worth as it is counted.
func (c Customer) counted() worth {
	return worth{c.recurring.amount, c.Plan.ID, c.Product.ID}
}

// settleWorth sets what a customer that is about to be written is worth.
func (c *Change) settleWorth(today civil.Date) {
	on := today
	if c.Action == ActionExpired { // found perhaps after days without a process
		on = c.Before.onTimeThrough().AddDays(1)
	}
	c.After.recurring = c.Before.recurring
	c.After.recurring.amount = c.After.monthly(today)
	if c.Before.counted() != c.After.counted() {
		c.After.recurring.begin(monthOf(on), c.Before.counted())
	}
}

// begin begins a month, unless it or a later one has begun: a company that moves
// to the west may live the last day of a month twice.
func (r *recurring) begin(month string, was worth) {
	if month > r.month {
		r.month, r.start = month, was
	}
}

// countedWorth is how a change moves the counter of recurring revenue.
func (c *Change) countedWorth(today civil.Date) []tally.Entry {
	before, after := c.Before, c.After
	if c.Action == ActionDeleted {
		after = before
		after.recurring.amount = 0
		after.recurring.begin(monthOf(today), before.counted())
	}
	if before.recurring == after.recurring && before.counted() == after.counted() && c.Action != ActionDeleted {
		return nil
	}
	var entries []tally.Entry
	if before.recurring.month == after.recurring.month && before.recurring.start == after.recurring.start {
		entries = movement(before, -1)
	}
	moved := movement(after, +1)
	for n := range moved {
		if c.Action == ActionDeleted && moved[n].State == tally.RecurringLost {
			moved[n].State += "_" + tally.Gone
		}
	}
	return append(entries, moved...)
}

// movement is how a customer has moved since its month began, as the counter
// has it, n times. Who changed the plan or product and is worth something takes
// the old worth along, and has moved by the difference.
func movement(customer Customer, count int64) []tally.Entry {
	start, now, month := customer.recurring.start, customer.counted(), customer.recurring.month
	if month == "" {
		return nil
	}
	at := now
	var entries []tally.Entry
	switch moved := start.planID != now.planID || start.productID != now.productID; {
	case start.amount == 0 || !moved:
	case now.amount == 0:
		at = start
	default:
		entries = append(entries, start.entry(month, tally.RecurringOut, count, start.amount),
			now.entry(month, tally.RecurringIn, count, start.amount))
	}
	if kind, amount := figures.KindOf(start.amount, now.amount); kind != figures.Unmoved {
		entries = append(entries, at.entry(month, string(kind), count, amount))
	}
	return entries
}

// entry counts a customer at the plan and the product of a worth.
func (w worth) entry(month, state string, n int64, amount money.Cents) tally.Entry {
	return tally.Entry{Counter: tally.Recurring, Change: tally.Change{
		N:     n,
		Cents: n * int64(amount),
		Key:   tally.Key{Day: month, PlanID: w.planID, ProductID: w.productID, State: state},
	}}
}

// countedCreation is a customer as the counter of creations has it.
func countedCreation(customer Customer, n int64, state string) tally.Entry {
	return tally.Entry{Counter: tally.Created, Change: tally.Change{N: n, Key: keyOf(customer, customer.CreatedOn(), state)}}
}

// places are where the columns of recurring revenue are scanned to.
func (r *recurring) places() []any {
	return []any{(*int64)(&r.amount), &r.month, (*int64)(&r.start.amount), &r.start.planID, &r.start.productID}
}

// values are the columns of recurring revenue.
func (r recurring) values() []any {
	return []any{int64(r.amount), r.month, int64(r.start.amount), r.start.planID, r.start.productID}
}

// planMembers are the customers in force of a plan with ids of a span.
type planMembers struct {
	plan  catalog.Plan // as it is now
	today civil.Date
	on    civil.Date // a change counts in the month of this day
	ids   span
}

func (m planMembers) where(companyID int64) (where sqldb.Where) {
	where.And("company_id = ?", companyID)
	where.And("plan_id = ?", m.plan.ID)
	where.And("cancelled_at IS NULL")
	where.And(Visible)
	where.And("id BETWEEN ? AND ?", m.ids.from, m.ids.to)
	where.And("(due_on IS NULL OR due_on >= ? OR expiry_on >= ?)", m.today.String(), m.today.String())
	return where
}

// lockAlike locks the members of a plan and returns them in groups.
func lockAlike(ctx context.Context, tx account.Tx, of planMembers) ([]alike, error) {
	where := of.where(tx.Company.ID)
	_, err := sqldb.Value[int64](ctx, tx, `
		SELECT count(*) FROM (SELECT id FROM customers`+where.String()+` ORDER BY id {for update}) AS locked`, where.Args...)
	if err != nil {
		return nil, err
	}
	const columns = `price_cents, COALESCE(product_id, 0), mrr_cents, mrr_month, mrr_start_cents, mrr_start_plan, mrr_start_product`
	return sqldb.All(ctx, tx, func(row sqldb.Row) (alike alike, err error) {
		places := append([]any{&alike.OwnPrice, &alike.Product.ID}, alike.recurring.places()...)
		err = row.Scan(append(places, &alike.n)...)
		return alike, err
	}, `SELECT `+columns+`, count(*) FROM customers`+where.String()+` GROUP BY `+columns, where.Args...)
}

// updateWorth writes what members of a plan with one price are worth, and begins
// their month.
func updateWorth(ctx context.Context, tx account.Tx, of planMembers, after Customer) error {
	where := of.where(tx.Company.ID)
	if after.OwnPrice.Own {
		where.And("price_cents = ?", int64(after.OwnPrice.Amount))
	} else {
		where.And("price_cents IS NULL")
	}
	amount, month := int64(after.monthly(of.today)), monthOf(of.on)
	where.And("mrr_cents <> ?", amount)
	_, err := tx.Exec(ctx, `
		UPDATE customers SET
			mrr_start_cents = CASE WHEN mrr_month < ? THEN mrr_cents ELSE mrr_start_cents END,
			mrr_start_plan = CASE WHEN mrr_month < ? THEN plan_id ELSE mrr_start_plan END,
			mrr_start_product = CASE WHEN mrr_month < ? THEN COALESCE(product_id, 0) ELSE mrr_start_product END,
			mrr_month = CASE WHEN mrr_month < ? THEN ? ELSE mrr_month END, mrr_cents = ?`+where.String(),
		append([]any{month, month, month, month, month, amount}, where.Args...)...)
	return err
}
