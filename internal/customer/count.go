package customer

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/figures"
	"carteira/internal/platform/checkup"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/phone"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// counter counts customers by due date, plan and product, which are what lists
// are filtered by.
const counter = tally.Customers

// counted is a customer as the book sees it.
func counted(customer Customer, n int64) tally.Change {
	return tally.Change{N: n, Key: keyOf(customer, customer.onTimeThrough(), stateOf(customer))}
}

func keyOf(customer Customer, day civil.Date, state string) tally.Key {
	return tally.Key{Day: day.String(), PlanID: customer.Plan.ID, ProductID: customer.Product.ID, State: state}
}

// counts is how a change moves the counters of customers and of their creation.
// The creation of one who is deleted still counts, where no list has it.
func (c *Change) counts() []tally.Entry {
	before, after := c.Before, c.After
	switch c.Action {
	case ActionExpired, ActionHeld:
		return counter.Moved(counted(before, 1), counted(after, 1))
	case ActionCreated:
		return []tally.Entry{{Counter: counter, Change: counted(after, +1)}, countedCreation(after, +1, "")}
	case ActionDeleted:
		return []tally.Entry{
			{Counter: counter, Change: counted(before, -1)},
			countedCreation(before, -1, ""),
			countedCreation(before, +1, tally.Gone),
		}
	default:
		moved := counter.Moved(counted(before, 1), counted(after, 1))
		if before.Plan.ID != after.Plan.ID || before.Product.ID != after.Product.ID {
			moved = append(moved, countedCreation(before, -1, ""), countedCreation(after, +1, ""))
		}
		return moved
	}
}

// stateOf is the state of a customer in the counter: cancelled ones are in no
// other status, and those with a price of their own do not pay the plan's
// value.
func stateOf(customer Customer) string {
	switch {
	case customer.IsCancelled():
		return tally.CustomerCancelled
	case customer.OwnPrice.Own:
		return tally.CustomerOwnPrice
	}
	return ""
}

// total is how many customers a filter has that the counter knows.
func (s *Service) total(ctx context.Context, companyID int64, filter Filter, today civil.Date) (int64, error) {
	if filter == (Filter{}) {
		return counter.Total(ctx, s.db, companyID)
	}
	n, _, err := counter.Sum(ctx, s.db, companyID, filter.keys(today))
	return n, err
}

// tallied reports whether the counter of customers knows who matches.
func (f Filter) tallied() bool {
	return f.Search == "" && f.ExternalID == "" && f.CpfCnpj == "" && f.UpdatedSince == 0 && f.Figure == (Figure{})
}

// keys are the filters that the counter knows.
func (f Filter) keys(today civil.Date) (filter tally.Filter) {
	if f.PlanID != 0 {
		filter.And("plan_id = ?", f.PlanID)
	}
	if f.ProductID != 0 {
		filter.And("product_id = ?", f.ProductID)
	}
	switch f.Status {
	case "":
	case Cancelled:
		filter.And("state = ?", tally.CustomerCancelled)
	default:
		filter.And("state <> ?", tally.CustomerCancelled)
	}
	filter.Days = f.due(today).days()
	return filter
}

// days are the span as the counter has it.
func (d due) days() []tally.Days {
	switch {
	case d.open():
		return []tally.Days{{}}
	case d.none: // only Active leaves it so, which has a beginning and no end
		return []tally.Days{tally.NoDay, {From: d.from.String()}}
	}
	days := tally.Days{From: later(d.from, firstDate).String()}
	if !d.to.IsZero() {
		days.Until = tally.After(d.to.String())
	}
	return []tally.Days{days}
}

// CountByPlan returns how many customers each plan has.
func (s *Service) CountByPlan(ctx context.Context, actor account.Actor, ids []int64) (map[int64]tally.Sums, error) {
	return s.countBy(ctx, actor, "plan_id", ids)
}

// CountByProduct returns how many customers each product has.
func (s *Service) CountByProduct(ctx context.Context, actor account.Actor, ids []int64) (map[int64]tally.Sums, error) {
	return s.countBy(ctx, actor, "product_id", ids)
}

func (s *Service) countBy(ctx context.Context, actor account.Actor, by string, ids []int64) (map[int64]tally.Sums, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	filter := tally.Filter{Days: []tally.Days{{}}}
	filter.And(by+" {in ?}", ids)
	return tally.By[int64](ctx, s.db, counter, actor.Company.ID, by, filter)
}

// smallSum is up to how many customers are added up at every look.
const smallSum = 2000

// Amount is what the customers of a filter pay together a month, whatever their
// periods; cancelled ones, who pay nothing, only where they are asked for, with
// what they paid. matches is how many there are. ok is false where there are too
// many to add up at every look and no counter knows.
func (s *Service) Amount(
	ctx context.Context, actor account.Actor, filter Filter, matches int64,
) (amount money.Cents, ok bool, err error) {
	if err := actor.NotAttendant(); err != nil {
		return 0, false, err
	}
	if matches == 0 {
		return 0, true, nil
	}
	if amount, ok, err = s.amountByPlan(ctx, actor, filter); err != nil || ok || matches > smallSum {
		return amount, ok, err
	}
	query, err := s.query(ctx, actor, Query{Filter: filter})
	if err != nil {
		return 0, false, err
	}
	query.Where.If(filter.Status == "", "c.cancelled_at IS NULL")
	ids, err := table.IDs(ctx, s.db, query)
	if err != nil {
		return 0, false, err
	}
	amount, err = monthlyOf(ctx, s.db, actor.Company.ID, ids)
	return amount, err == nil, err
}

// amountByPlan multiplies what plans cost by how many customers have them. That
// is not what they pay where some have a price of their own.
func (s *Service) amountByPlan(ctx context.Context, actor account.Actor, filter Filter) (money.Cents, bool, error) {
	if !filter.tallied() || filter.Status == Cancelled {
		return 0, false, nil
	}
	company, today := actor.Company.ID, actor.Today(s.db.Now())
	held, err := s.heldFor(ctx, company, filter, today)
	if err != nil || filter.splits(held) {
		return 0, false, err
	}
	own, usual := filter.keys(today), filter.keys(today)
	own.And("state = ?", tally.CustomerOwnPrice)
	usual.And("state = ?", "")
	if count, _, err := counter.Sum(ctx, s.db, company, own); err != nil || count != 0 {
		return 0, false, err
	}
	byPlan, err := tally.By[int64](ctx, s.db, counter, company, "plan_id", usual)
	if err != nil {
		return 0, false, err
	}
	plans, err := catalog.AllPlans(ctx, s.db, actor)
	if err != nil {
		return 0, false, err
	}
	var amount money.Cents
	for _, plan := range plans {
		amount += figures.Monthly(plan.Value, plan.Period) * money.Cents(byPlan[plan.ID].N)
	}
	return amount, true, nil
}

// Recounts count customers again, as counted does, their creations and what they
// are worth. Customers who were renewed in a month and deleted since are counted
// and have no row, so that counter cannot be compared.
func Recounts() []tally.Recount {
	return []tally.Recount{
		{Counter: counter, Records: func(scope tally.Scope) tally.Records {
			return tally.Records{SQL: customerRecords, Args: []any{scope.CompanyID}}
		}},
		{Counter: tally.Created, Records: func(scope tally.Scope) tally.Records {
			return tally.Records{SQL: creationRecords, Args: []any{scope.CompanyID}, States: []string{""}}
		}},
		{Counter: tally.Recurring, Records: movedThisMonth},
		{Counter: tally.Recurring, Records: worthNow},
	}
}

const (
	customerRecords = `SELECT CASE WHEN expiry_on > due_on THEN expiry_on ELSE COALESCE(due_on, '') END AS day,
		COALESCE(plan_id, 0) AS plan_id,
		COALESCE(product_id, 0) AS product_id,
		CASE WHEN cancelled_at IS NOT NULL THEN 'cancelled' WHEN price_cents IS NOT NULL THEN 'own' ELSE '' END AS state,
		1 AS n, 0 AS cents
		FROM customers WHERE company_id = ? AND ` + Visible
	creationRecords = `SELECT created_on AS day, COALESCE(plan_id, 0) AS plan_id, COALESCE(product_id, 0) AS product_id,
		'' AS state, 1 AS n, 0 AS cents
		FROM customers WHERE company_id = ? AND ` + Visible
)

// movedThisMonth are the movements since the present month began, as movement
// counts them. A customer's row knows its last month alone, so those of earlier
// months cannot be compared; nor can who was lost and deleted. A company that moved
// west over the end of a month is in the month before the last that its rows know.
func movedThisMonth(scope tally.Scope) tally.Records {
	const since = ` >= (SELECT MAX(month) FROM (SELECT mrr_month AS month FROM customers WHERE company_id = ? AND ` + Visible + `
		UNION ALL SELECT CAST(? AS TEXT)) AS months)`
	months := []any{scope.CompanyID, monthOf(scope.Today)}
	var records tally.Records
	for n, part := range movements {
		if n > 0 {
			records.SQL += ` UNION ALL `
		}
		records.States = append(records.States, part.state)
		records.SQL += `SELECT c.mrr_month AS day, ` + part.at + `, '` + part.state + `' AS state,
			1 AS n, ` + part.amount + ` AS cents
			FROM customers c WHERE c.company_id = ? AND ` + VisibleC + ` AND c.mrr_month` + since + ` AND ` + part.condition
		records.Args = append(append(records.Args, scope.CompanyID), months...)
	}
	records.Days.And("day"+since, months...)
	return records
}

const (
	atStart   = `c.mrr_start_plan AS plan_id, c.mrr_start_product AS product_id`
	atPresent = `COALESCE(c.plan_id, 0) AS plan_id, COALESCE(c.product_id, 0) AS product_id`
	inBoth    = `c.mrr_start_cents > 0 AND c.mrr_cents > 0`
	movedElse = inBoth + ` AND (c.mrr_start_plan <> COALESCE(c.plan_id, 0) OR c.mrr_start_product <> COALESCE(c.product_id, 0))`
)

// movementPart is a part of movement in SQL, for customers c.
type movementPart struct{ state, at, amount, condition string }

var movements = []movementPart{
	{tally.RecurringNew, atPresent, `c.mrr_cents`, `c.mrr_start_cents = 0 AND c.mrr_cents > 0`},
	{tally.RecurringLost, atStart, `c.mrr_start_cents`, `c.mrr_start_cents > 0 AND c.mrr_cents = 0`},
	{tally.RecurringUp, atPresent, `c.mrr_cents - c.mrr_start_cents`, inBoth + ` AND c.mrr_cents > c.mrr_start_cents`},
	{tally.RecurringDown, atPresent, `c.mrr_start_cents - c.mrr_cents`, inBoth + ` AND c.mrr_cents < c.mrr_start_cents`},
	{tally.RecurringOut, atStart, `c.mrr_start_cents`, movedElse},
	{tally.RecurringIn, atPresent, `c.mrr_start_cents`, movedElse},
}

// worthNow is what the customers of each plan and product are worth: what all
// movements since the beginning must add up to. What is wrong about that is
// corrected at the beginning, for no row knows in which month it went wrong.
func worthNow(scope tally.Scope) tally.Records {
	return tally.Records{
		View: `'' AS day, plan_id, product_id, 'base' AS state,
			CASE WHEN state IN ('base', 'new', 'in') THEN n WHEN state IN ('lost', 'lost_gone', 'out') THEN -n ELSE 0 END AS n,
			CASE WHEN state IN ('base', 'new', 'in', 'up') THEN cents
				WHEN state IN ('lost', 'lost_gone', 'out', 'down') THEN -cents ELSE 0 END AS cents`,
		SQL: `SELECT '' AS day, COALESCE(plan_id, 0) AS plan_id, COALESCE(product_id, 0) AS product_id,
			'base' AS state, 1 AS n, mrr_cents AS cents
			FROM customers WHERE company_id = ? AND ` + Visible + ` AND mrr_cents > 0`,
		Args: []any{scope.CompanyID},
	}
}

// CheckPhones looks for stored numbers that cannot exist. The migration that
// brought the numbering plan repaired only those with a single possible
// reading.
func (s *Service) CheckPhones(ctx context.Context) (checkup.Finding, error) {
	var wrong []int64
	total := 0
	err := sqldb.Each(sqldb.WithoutDeadline(ctx), s.db, `
		SELECT id, whatsapp FROM customers WHERE whatsapp <> '' AND `+Visible+` ORDER BY id /* every company_id */`,
		nil, func(row sqldb.Row) error {
			var id int64
			var number string
			if err := row.Scan(&id, &number); err != nil {
				return err
			}
			total++
			if fixed, certain := phone.Repair(number); !certain || fixed != number {
				wrong = append(wrong, id)
			}
			return nil
		})
	if err != nil || len(wrong) == 0 {
		return checkup.Good("all %d phone numbers can exist", total), err
	}
	return checkup.Warn("correct them in the panel; messages to them cannot arrive",
		"%d of %d phone numbers cannot exist, the first of customers %v", len(wrong), total,
		wrong[:min(len(wrong), 5)]), nil
}
