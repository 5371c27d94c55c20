package customer

import (
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// Figure chooses the customers whom a figure of the dashboard counts; the zero
// Figure chooses all.
type Figure struct {
	OwesFrom    civil.Date // the due date of the oldest open invoice
	OwesTo      civil.Date
	CreatedFrom civil.Date
	CreatedTo   civil.Date
	RenewedIn   string // YYYY-MM
	Recurring   string // "", "true" or "false": worth something a month
	Moved       string // how, this month: new, lost, up or down
}

// Movements are how a customer's recurring revenue can have moved this month.
var Movements = []string{
	tally.RecurringNew, tally.RecurringLost, tally.RecurringUp, tally.RecurringDown,
}

func readFigure(in *input.Form) Figure {
	figure := Figure{
		OwesFrom:    in.Date("owes_from").Value,
		OwesTo:      in.Date("owes_to").Value,
		CreatedFrom: in.Date("created_from").Value,
		CreatedTo:   in.Date("created_to").Value,
		RenewedIn:   in.Line("renewed_in", len("2006-01")+1).Value,
		Moved:       in.Choice("moved", Movements...).Value,
	}
	if _, err := time.Parse("2006-01", figure.RenewedIn); figure.RenewedIn != "" && err != nil {
		in.Refuse("renewed_in", "must be a month in the form YYYY-MM")
	}
	if recurring := in.Bool("recurring"); recurring.HasValue() {
		figure.Recurring = map[bool]string{true: "true", false: "false"}[recurring.Value]
	}
	return figure
}

// conditions hold for customers c.
func (f Figure) conditions(where *sqldb.Where, companyID int64, month string) {
	if !f.OwesFrom.IsZero() || !f.OwesTo.IsZero() {
		var owing sqldb.Where
		owing.And("d.company_id = ?", companyID)
		between(&owing, "d.since", f.OwesFrom, f.OwesTo)
		where.And("c.id IN (SELECT d.customer_id FROM debtors d"+owing.String()+")", owing.Args...)
	}
	between(where, "c.created_on", f.CreatedFrom, f.CreatedTo)
	if f.RenewedIn != "" {
		where.And(
			"c.id IN (SELECT n.customer_id FROM customer_renewals n WHERE n.company_id = ? AND n.month = ?)",
			companyID,
			f.RenewedIn,
		)
	}
	switch f.Recurring {
	case "true":
		where.And("c.mrr_cents > 0")
	case "false":
		where.And("c.mrr_cents = 0")
	}
	if f.Moved != "" {
		where.And("c.mrr_month = ? AND c.mrr_month <> ''", month)
		where.And(movedText[f.Moved])
	}
}

// movedText is how a customer has moved since its month began.
var movedText = map[string]string{
	tally.RecurringNew:  "c.mrr_start_cents = 0 AND c.mrr_cents > 0",
	tally.RecurringLost: "c.mrr_start_cents > 0 AND c.mrr_cents = 0",
	tally.RecurringUp:   "c.mrr_start_cents > 0 AND c.mrr_cents > c.mrr_start_cents",
	tally.RecurringDown: "c.mrr_cents > 0 AND c.mrr_cents < c.mrr_start_cents",
}

func between(where *sqldb.Where, column string, from, to civil.Date) {
	if !from.IsZero() {
		where.And(column+" >= ?", from.String())
	}
	if !to.IsZero() {
		where.And(column+" <= ?", to.String())
	}
}
