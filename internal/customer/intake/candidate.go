package intake

import (
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"strings"
	"time"

	"carteira/internal/customer"
	"carteira/internal/customer/sheet"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
)

// candidate is a row on its way to be a customer.
type candidate struct {
	customer.Customer
	row    sheet.Row
	faults fault.Fields
	left   fault.Fields // why values of the row are left out
	alike  []customer.Likeness
}

// problems lists what is wrong, under the names that the row has: a plan that
// was given by name is not refused as plan_id.
func (c *candidate) problems(faults fault.Fields) (list []Problem) {
	for field, reasons := range faults.All() {
		name := strings.TrimSuffix(field, "_id")
		if c.row.Values[field] == "" && c.row.Values[name] != "" {
			field = name
		}
		for _, reason := range reasons {
			list = append(list, c.problem(field, c.row.Values[field], reason))
		}
	}
	return list
}

// warnings lists what was left out of the row.
func (c *candidate) warnings() []Problem {
	list := append(c.problems(c.row.Warnings), c.problems(c.left)...)
	if c.OwnPrice.Own && c.Plan.ID != 0 {
		list = append(list, c.problem("price", c.OwnPrice.String(), "differs from the plan's price: it becomes the customer's own"))
	}
	return list
}

func (c *candidate) problem(field, value, reason string) Problem {
	return Problem{Line: c.row.Line, Name: c.row.Values["name"], Field: field, Value: value, Reason: reason}
}

// leaveOut has values that were refused left out, where a customer need not
// have them. It reports whether there were any.
func (c *candidate) leaveOut(refused fault.Fields) (any bool) {
	for field, reasons := range refused.All() {
		if c.row.Values[field] != "" && sheet.Optional(field) {
			c.left.Add(field, reasons[0])
			any = true
		}
	}
	return any
}

// read makes customers of rows, or says what is wrong with them.
func (im *importer) read(batch []sheet.Row, on *catalogCache, now time.Time) ([]*candidate, error) {
	all := make([]*candidate, len(batch))
	for n, row := range batch {
		c := &candidate{row: row, faults: row.Faults}
		all[n] = c
		if row.Values == nil {
			continue
		}
		err := im.readRow(c, on, now)
		if im.options.LeaveOut && c.leaveOut(fault.FieldsOf(err)) {
			err = im.readRow(c, on, now)
		}
		if err != nil && fault.KindOf(err) != fault.KindInvalid {
			return nil, err
		}
		c.faults = fault.FieldsOf(err)
	}
	return all, nil
}

func (im *importer) readRow(candidate *candidate, on *catalogCache, now time.Time) error {
	draft := candidate.draft()
	refused, err := on.choose(&draft)
	if err != nil {
		return err
	}
	made, more, err := draft.Customer(now, im.actor, customer.Catalog{Plan: on.plans.find, Product: on.products.find})
	if err != nil {
		return err
	}
	candidate.Customer = made
	return draft.Problems.With(refused).With(more).Err()
}

// maxLine is how long the name of a plan or product may be.
const maxLine = 255

// rowDraft is a draft in which plan and product may be given by name.
type rowDraft struct {
	customer.Draft
	plan, product input.Opt[string]
	amount        input.Opt[money.Cents]
}

// draft reads the row as a form. What the sheet has refused is not checked
// again.
func (c *candidate) draft() rowDraft {
	values := maps.Clone(c.row.Values)
	maps.DeleteFunc(values, func(field, _ string) bool {
		return c.row.Faults.Get(field) != nil || c.left.Get(field) != nil
	})
	in := input.FromStrings(values)
	for field, reasons := range c.row.Faults.All() {
		if c.left.Get(field) == nil {
			in.Refuse(field, reasons[0])
		}
	}
	draft := rowDraft{
		Draft:   customer.ReadNew(in),
		plan:    in.Line("plan", maxLine),
		product: in.Line("product", maxLine),
		amount:  in.Money("value"),
	}
	draft.Problems = in.Problems()
	return draft
}

// dueField is the due date as files have it.
const dueField = "data_de_vencimento"

// complete gives a row what it says in another way: the plan of one that only has an amount, and the date that is meant
// by one that says less.
func complete(row sheet.Row, today civil.Date) sheet.Row {
	if plan := planOf(row); plan != "" {
		row.Values["plan"] = plan
	}
	if row.Faults.Get(dueField) == nil {
		return row
	}
	day, reading := sheet.NearDay(row.Values[dueField], today)
	if reading == "" {
		return row
	}
	row.Values[dueField] = day.String()
	row.Warnings.Add(dueField, reading)
	var faults fault.Fields
	for field, reasons := range row.Faults.All() {
		if field != dueField {
			faults.Add(field, reasons[0])
		}
	}
	row.Faults = faults
	return row
}

// monthly is the plan of rows that say what is paid, and not for which plan.
const monthly = "Mensal"

// planOf is the name of the plan of a row.
func planOf(row sheet.Row) string {
	if row.Values["plan"] == "" && row.Values["plan_id"] == "" && row.Values["value"] != "" {
		return monthly
	}
	return row.Values["plan"]
}

// usualPrices is what the rows of a file pay most often for each plan, by its
// folded name; of prices that are given as often, the one that was so first. The
// price of the first row would be wrong for all others when that row is an
// exception. Where the file cannot be read further, its rows say so when they are
// imported.
func usualPrices(rows Rows) map[string]money.Cents {
	type price struct {
		plan   string
		amount money.Cents
	}
	usual, times := map[string]money.Cents{}, map[price]int{}
	for row, err := range rows() {
		if err != nil {
			break
		}
		amount, err := money.Parse(row.Values["value"])
		if err != nil {
			amount, err = money.Parse(row.Values["price"])
		}
		given := price{text.Fold(planOf(row)), amount}
		if err != nil || given.plan == "" {
			continue
		}
		times[given]++
		if times[given] > times[price{given.plan, usual[given.plan]}] {
			usual[given.plan] = amount
		}
	}
	return usual
}

// refuseRepeated refuses a login or key that an earlier line has, which is a good one
// where bad ones are passed over.
func (im *importer) refuseRepeated(all []*candidate) {
	for _, candidate := range all {
		if im.options.KeepGoing && !candidate.faults.Empty() {
			continue
		}
		for _, unique := range customer.Uniques {
			if line := im.met.note(unique.Field, unique.Of(candidate.Customer), candidate.row.Line); line != candidate.row.Line {
				candidate.faults.Add(unique.Field, fmt.Sprintf("is in line %d already", line))
			}
		}
	}
}

// refuseTaken refuses logins and keys that customers of the company have.
func (im *importer) refuseTaken(ctx context.Context, querier sqldb.Querier, all []*candidate) error {
	for _, unique := range customer.Uniques {
		var values []string
		for _, candidate := range all {
			if v := unique.Of(candidate.Customer); v != "" {
				values = append(values, v)
			}
		}
		taken, err := unique.Taken(ctx, querier, im.actor.Company.ID, values)
		if err != nil {
			return err
		}
		for _, candidate := range all {
			if taken[unique.Of(candidate.Customer)] && candidate.faults.Get(unique.Field) == nil {
				candidate.faults.Add(unique.Field, "is taken by another customer")
			}
		}
	}
	return nil
}

// firstLines has the line in which a value of a field was first met, by their hash: a
// million logins take no more room than numbers.
type firstLines map[uint64]int

var seed = maphash.MakeSeed()

func hashOf(field, value string) uint64 { return maphash.String(seed, field+"\x00"+value) }

// line is 0 for a value that was not met, and for none.
func (f firstLines) line(field, value string) int { return f[hashOf(field, value)] }

// note returns the line in which a value was first met. Where there is no value, that is this line.
func (f firstLines) note(field, value string, line int) int {
	if value == "" {
		return line
	}
	key := hashOf(field, value)
	if f[key] == 0 {
		f[key] = line
	}
	return f[key]
}
