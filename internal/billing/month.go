package billing

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

// MonthPart is what a figure of a month is made of.
type MonthPart string

// The parts.
const (
	MonthReceived  MonthPart = "received"    // money that came
	MonthRefunds   MonthPart = "refunds"     // money that went back, as a minus
	MonthCredit    MonthPart = "credit"      // what customers' credit paid: no money came
	MonthDiscounts MonthPart = "discounts"   // until the due date, on invoices that were paid
	MonthGiven     MonthPart = "given"       // by hand, on invoices that were paid
	MonthWriteOffs MonthPart = "written_off" // given up, on invoices that were paid with less or cancelled
	MonthFees      MonthPart = "fees"        // late fees on invoices that were paid
	MonthInterest  MonthPart = "interest"    // late interest on invoices that were paid
	MonthOpen      MonthPart = "open"        // still to come at the end of the month
)

// MonthParts lists the parts in the order in which people read them.
var MonthParts = []MonthPart{
	MonthReceived, MonthRefunds, MonthCredit, MonthDiscounts, MonthGiven, MonthWriteOffs, MonthFees, MonthInterest, MonthOpen,
}

// MonthFigure is a figure: how many rows, and their sum.
type MonthFigure struct {
	Key    string // the means, the number of the plan or the day
	Name   string // of the plan
	Count  int64
	Amount money.Cents
}

func (f *MonthFigure) add(row MonthFigure) {
	f.Count, f.Amount = f.Count+row.Count, f.Amount+row.Amount
}

// Month is what an accountant asks about a month.
type Month struct {
	First, Last civil.Date
	Parts       map[MonthPart]MonthFigure
	ByMeans     []MonthFigure // of what was received, the greatest first
	ByPlan      []MonthFigure
	ByDay       []MonthFigure // in their order
}

// Net is what was received less what went back.
func (m Month) Net() money.Cents { return m.Parts[MonthReceived].Amount + m.Parts[MonthRefunds].Amount }

// MonthQuestion asks for the rows of a figure.
type MonthQuestion struct {
	First  civil.Date // of the month
	Part   MonthPart
	Via    string // of what was received by a means
	PlanID input.Opt[int64]
	Day    civil.Date
}

// ReadMonthQuestion reads the fields month (YYYY-MM), of, paid_via, plan_id and day.
// No month is the present one.
func ReadMonthQuestion(in *input.Form, today civil.Date) MonthQuestion {
	question := MonthQuestion{
		First:  firstOf(today),
		Part:   input.OneOf(in, "of", MonthParts...).Or(MonthReceived),
		Via:    in.Line("paid_via", maxVia).Value,
		PlanID: in.Int("plan_id", 0, 1<<62),
		Day:    in.Date("day").Value,
	}
	if text := in.Line("month", len("2006-01")).Value; text != "" {
		first, err := civil.Parse(text + "-01")
		if err != nil {
			in.Refuse("month", "must be a month such as 2026-01")
		} else {
			question.First = first
		}
	}
	return question
}

func firstOf(day civil.Date) civil.Date { return day.AddDays(1 - day.Day()) }

// last is the last day of the month.
func (q MonthQuestion) last() civil.Date {
	next := time.Date(q.First.Year(), q.First.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	return civil.Of(next).AddDays(-1)
}

// MonthRow is a row that a figure is the sum of.
type MonthRow struct {
	On         civil.Date
	CustomerID int64 // 0: deleted, with the invoice
	Customer   string
	InvoiceID  int64
	Via        string
	PlanID     int64
	Plan       string
	Amount     money.Cents
	Note       string
}

// Month adds a month up. Each figure is the sum of the rows that MonthRows has for
// it: both read the same statement.
func (s *Service) Month(ctx context.Context, actor account.Actor, first civil.Date) (Month, error) {
	question := MonthQuestion{First: first}
	month := Month{First: first, Last: question.last(), Parts: map[MonthPart]MonthFigure{}}
	if err := actor.NotAttendant(); err != nil {
		return month, err
	}
	byMeans, byPlan, byDay := map[string]MonthFigure{}, map[string]MonthFigure{}, map[string]MonthFigure{}
	for _, part := range MonthParts {
		question.Part = part
		sums, err := monthSums(ctx, s.db, actor.Company.ID, question)
		if err != nil {
			return month, err
		}
		total := MonthFigure{}
		for _, sum := range sums {
			total.add(sum.MonthFigure)
			if part == MonthReceived {
				fold(byMeans, sum.via, "", sum.MonthFigure)
				fold(byPlan, sum.Key, sum.Name, sum.MonthFigure)
				fold(byDay, sum.day, "", sum.MonthFigure)
			}
		}
		month.Parts[part] = total
	}
	greatest := func(a, b MonthFigure) int {
		return cmp.Or(cmp.Compare(b.Amount, a.Amount), strings.Compare(a.Key, b.Key))
	}
	month.ByMeans = slices.SortedFunc(maps.Values(byMeans), greatest)
	month.ByPlan = slices.SortedFunc(maps.Values(byPlan), greatest)
	month.ByDay = slices.SortedFunc(maps.Values(byDay), func(a, b MonthFigure) int { return strings.Compare(a.Key, b.Key) })
	return month, nil
}

func fold(figures map[string]MonthFigure, key, name string, row MonthFigure) {
	figure := figures[key]
	figure.Key, figure.Name = key, name
	figure.add(row)
	figures[key] = figure
}

// MonthRows lists the rows of a figure by their days, and what all of them are.
func (s *Service) MonthRows(
	ctx context.Context, actor account.Actor, question MonthQuestion, page input.Page,
) (rows []MonthRow, total MonthFigure, err error) {
	if err := actor.NotAttendant(); err != nil {
		return nil, total, err
	}
	sums, err := monthSums(ctx, s.db, actor.Company.ID, question)
	if err != nil {
		return nil, total, err
	}
	for _, sum := range sums {
		total.add(sum.MonthFigure)
	}
	text, args := question.rows(actor.Company.ID)
	err = eachMonthRow(ctx, s.db, text+` LIMIT ? OFFSET ?`, append(args, page.Size, page.Offset()), func(row MonthRow) error {
		rows = append(rows, row)
		return nil
	})
	return rows, total, err
}

// WalkMonth calls visit for every row of a figure.
func (s *Service) WalkMonth(ctx context.Context, actor account.Actor, question MonthQuestion, visit func(MonthRow) error) error {
	if err := actor.NotAttendant(); err != nil {
		return err
	}
	text, args := question.rows(actor.Company.ID)
	return eachMonthRow(ctx, s.db, text, args, visit)
}

// CloseMonth closes the books through the last day of a month, unless they are
// closed further.
func (q MonthQuestion) CloseMonth(company account.Company) (account.CompanyDraft, error) {
	if closed := company.Settings.ClosedThrough; !closed.Before(q.last()) {
		return account.CompanyDraft{}, fault.Field("books_closed_through", "the books are closed through "+closed.String())
	}
	return account.CompanyDraft{ClosedThrough: input.Some(q.last())}, nil
}

const (
	monthPayments = `SELECT p.id, p.paid_on AS day, COALESCE(c.id, 0) AS customer_id, p.customer_name AS customer, p.invoice_id,
		p.paid_via AS via, p.plan_id, COALESCE(l.name, '') AS plan, p.amount_cents AS cents, p.note
		FROM payments p LEFT JOIN customers c ON c.company_id = p.company_id AND c.id = p.customer_id
		LEFT JOIN customer_plans l ON l.company_id = p.company_id AND l.id = p.plan_id
		WHERE p.company_id = ? AND p.paid_on >= ? AND p.paid_on <= ?`
	monthRefunds = `SELECT r.id, r.refunded_on AS day, COALESCE(c.id, 0) AS customer_id, p.customer_name AS customer, p.invoice_id,
		p.paid_via AS via, p.plan_id, COALESCE(l.name, '') AS plan, -r.amount_cents AS cents, r.note
		FROM ` + refundsFrom + `
		LEFT JOIN customers c ON c.company_id = p.company_id AND c.id = p.customer_id
		LEFT JOIN customer_plans l ON l.company_id = p.company_id AND l.id = p.plan_id
		WHERE r.company_id = ? AND r.refunded_on >= ? AND r.refunded_on <= ?`
	// monthInvoices are those that are there and those that went with their customers; a statement has both.
	monthInvoices = `COALESCE(i.paid_via, '') AS via, COALESCE(i.plan_id, 0) AS plan_id, COALESCE(l.name, '') AS plan, `
	monthThere    = `i.note FROM invoices i LEFT JOIN customers c ON c.company_id = i.company_id AND c.id = i.customer_id
		LEFT JOIN customer_plans l ON l.company_id = i.company_id AND l.id = i.plan_id WHERE i.company_id = ?`
	monthDeleted = `'' AS note FROM deleted_invoices i
		LEFT JOIN customer_plans l ON l.company_id = i.company_id AND l.id = i.plan_id WHERE i.company_id = ?`
	monthPaid = ` AND i.status = 'paid' AND i.paid_on >= ? AND i.paid_on <= ?`
	// openAtEnd is what had not come for an invoice by a day; the day comes twice.
	openAtEnd = `i.amount_cents - COALESCE((SELECT SUM(p.amount_cents) FROM payments p WHERE p.company_id = i.company_id
			AND p.invoice_id = i.id AND p.paid_on <= ? AND p.status IN ('applied', 'partial', 'refunded')), 0)
		+ COALESCE((SELECT SUM(r.amount_cents) FROM payment_refunds r JOIN payments p ON p.company_id = r.company_id AND p.id = r.payment_id
			WHERE p.company_id = i.company_id AND p.invoice_id = i.id AND r.refunded_on <= ? AND p.status IN ('applied', 'partial', 'refunded')), 0)`
)

// source is the statement of the rows of a part, and its arguments.
func (q MonthQuestion) source(companyID int64) (string, []any) {
	within, last := []any{companyID, q.First, q.last()}, q.last()
	paid := func(column string) (string, []any) {
		return invoicesOf("i.paid_on", column, monthPaid+` AND `+column+` <> 0`, "", within)
	}
	switch q.Part {
	case MonthRefunds:
		return monthRefunds, within
	case MonthCredit:
		return monthPayments + ` AND p.provider = 'credit' AND p.status IN ('applied', 'partial')`, within
	case MonthDiscounts:
		return paid(`i.discount_cents`)
	case MonthGiven:
		return paid(`i.taken_off_cents + i.given_cents`)
	case MonthWriteOffs:
		return invoicesOf("i.written_off_on", "i.written_off_cents", ` AND i.written_off_on >= ? AND i.written_off_on <= ?`, "", within)
	case MonthFees:
		return paid(`i.late_fee_cents`)
	case MonthInterest:
		return paid(`i.late_interest_cents`)
	case MonthOpen:
		return invoicesOf("i.due_on", openAtEnd, ` AND i.created_on <= ?
			AND (i.status = 'open' OR i.status = 'paid' AND i.paid_on > ? OR i.status = 'cancelled' AND i.written_off_on > ?) AND `+openAtEnd+` > 0`,
			` AND i.deleted_on > ?`, []any{last, last, companyID, last, last, last, last, last}, last)
	case MonthReceived:
	}
	return monthPayments + ` AND p.provider <> 'credit' AND p.status IN ('applied', 'partial', 'refunded', 'credit')`, within
}

// invoicesOf are the rows of invoices, those that were deleted too. Of those, gone is one more condition with more.
func invoicesOf(day, cents, where, gone string, args []any, more ...any) (string, []any) {
	there := `SELECT i.id, ` + day + ` AS day, i.customer_id, COALESCE(c.name, '') AS customer, i.id AS invoice_id, ` +
		monthInvoices + cents + ` AS cents, ` + monthThere + where
	deleted := `SELECT i.id, ` + day + ` AS day, 0 AS customer_id, '' AS customer, i.id AS invoice_id, ` +
		monthInvoices + cents + ` AS cents, ` + monthDeleted + where + gone
	return there + ` UNION ALL ` + deleted, slices.Concat(args, args, more)
}

// rows are those of the figure, by their days.
func (q MonthQuestion) rows(companyID int64) (string, []any) {
	text, args := q.source(companyID)
	where, more := q.where()
	return `SELECT day, customer_id, customer, invoice_id, via, plan_id, plan, cents, note FROM (` + text + `) AS part` + where +
		` ORDER BY day, id`, append(args, more...)
}

func (q MonthQuestion) where() (string, []any) {
	var where sqldb.Where
	where.If(q.Via != "", "via = ?", q.Via)
	where.If(q.PlanID.HasValue(), "plan_id = ?", q.PlanID.Value)
	where.If(!q.Day.IsZero(), "day = ?", q.Day)
	return where.String(), where.Args
}

type monthSum struct {
	MonthFigure

	via, day string
}

func monthSums(ctx context.Context, querier sqldb.Querier, companyID int64, question MonthQuestion) ([]monthSum, error) {
	text, args := question.source(companyID)
	where, more := question.where()
	return sqldb.All(ctx, querier, rows.Into(func(sum *monthSum) []any {
		return []any{&sum.via, &sum.Key, &sum.Name, &sum.day, &sum.Count, (*int64)(&sum.Amount)}
	}), `SELECT via, CAST(plan_id AS TEXT), plan, day, COUNT(*), CAST(SUM(cents) AS BIGINT) FROM (`+text+`) AS part`+where+`
		GROUP BY via, plan_id, plan, day`, append(args, more...)...)
}

func eachMonthRow(ctx context.Context, querier sqldb.Querier, text string, args []any, visit func(MonthRow) error) error {
	return sqldb.Each(ctx, querier, text, args, func(row sqldb.Row) error {
		var found MonthRow
		err := row.Scan(&found.On, &found.CustomerID, &found.Customer, &found.InvoiceID, &found.Via, &found.PlanID, &found.Plan,
			(*int64)(&found.Amount), &found.Note)
		if err != nil {
			return err
		}
		return visit(found)
	})
}
