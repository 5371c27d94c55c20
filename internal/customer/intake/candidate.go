package intake

import (
	"context"
	"fmt"
	"hash/maphash"
	"iter"
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
	priced bool // has an own price because the row's amount is not the plan's
}

// problems lists what is wrong, under the names that the row has: a plan that
// was given by name is not refused as plan_id.
func (c *candidate) problems() (list []Problem) {
	for field, reasons := range c.faults.All() {
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
func (c *candidate) warnings() (list []Problem) {
	for field, reasons := range c.row.Warnings.All() {
		value, left := c.row.Left[field]
		if !left {
			value = c.row.Values[field]
		}
		for _, reason := range reasons {
			list = append(list, c.problem(field, value, reason))
		}
	}
	if c.priced {
		list = append(list, c.problem("price", c.OwnPrice.String(), "differs from the plan's price: it becomes the customer's own"))
	}
	return list
}

func (c *candidate) problem(field, value, reason string) Problem {
	return Problem{Line: c.row.Line, Name: c.row.Values["name"], Field: field, Value: value, Reason: reason}
}

// leaveOut takes values that were refused out of the row, where a customer need
// not have them. It reports whether there were any.
func (c *candidate) leaveOut(refused fault.Fields) (any bool) {
	for field, reasons := range refused.All() {
		value, there := c.row.Values[field]
		if !there || !sheet.Optional(field) {
			continue
		}
		if !any { // the row may be read again, by another run of the transaction
			c.row.Values, c.row.Left = maps.Clone(c.row.Values), maps.Clone(c.row.Left)
			c.row.Warnings = c.row.Warnings.Clone()
			any = true
		}
		if c.row.Left == nil {
			c.row.Left = map[string]string{}
		}
		delete(c.row.Values, field)
		c.row.Left[field] = value
		c.row.Warnings.Add(field, reasons[0])
	}
	c.forgetFaults()
	return any
}

// forgetFaults drops what the sheet had against values that were left out.
func (c *candidate) forgetFaults() {
	c.row.Faults = without(c.row.Faults, func(field string) bool { return c.row.Left[field] != "" })
}

func without(faults fault.Fields, gone func(field string) bool) (kept fault.Fields) {
	for field, reasons := range faults.All() {
		for _, reason := range reasons {
			if !gone(field) {
				kept.Add(field, reason)
			}
		}
	}
	return kept
}

// read makes customers of rows, or says what is wrong with them.
func (im *importer) read(batch []sheet.Row, on *catalogCache, now time.Time) ([]*candidate, error) {
	all := make([]*candidate, 0, len(batch))
	for _, row := range batch {
		row = complete(row, im.actor.Today(now))
		c := &candidate{row: row, faults: row.Faults}
		if row.Values != nil {
			err := im.readRow(c, on, now)
			if im.options.LeaveOut && fault.KindOf(err) == fault.KindInvalid && c.leaveOut(fault.FieldsOf(err)) {
				err = im.readRow(c, on, now)
			}
			if err != nil && fault.KindOf(err) != fault.KindInvalid {
				return nil, err
			}
			c.faults = fault.FieldsOf(err)
		}
		all = append(all, c)
	}
	return all, nil
}

// complete gives a row what it says in another way: the plan of one that only has an amount, and the next day 10
// where it has 10, or "dia 10", in place of a date.
func complete(row sheet.Row, today civil.Date) sheet.Row {
	if plan := planOf(row); plan != row.Values["plan"] {
		row.Values = maps.Clone(row.Values)
		row.Values["plan"] = plan
	}
	const due = "data_de_vencimento"
	if row.Faults.Get(due) == nil {
		return row
	}
	if day, ok := sheet.NextDay(row.Values[due], today); ok {
		row.Values, row.Warnings = maps.Clone(row.Values), row.Warnings.Clone()
		row.Values[due] = day.String()
		row.Faults = without(row.Faults, func(field string) bool { return field == due })
		row.Warnings.Add(due, "is a day of the month: the next one was taken")
	}
	return row
}

func (im *importer) readRow(candidate *candidate, on *catalogCache, now time.Time) error {
	draft := readRow(candidate.row)
	refused, err := on.choose(&draft)
	if err != nil {
		return err
	}
	made, more, err := draft.Customer(now, im.actor, on.lookup())
	if err != nil {
		return err
	}
	candidate.Customer, candidate.priced = made, draft.differs
	return draft.Problems.With(refused).With(more).Err()
}

// maxLine is how long the name of a plan or product may be.
const maxLine = 255

// rowDraft is a draft in which plan and product may be given by name.
type rowDraft struct {
	customer.Draft
	plan, product input.Opt[string]
	amount        input.Opt[money.Cents]
	differs       bool // pays another price than the plan's
}

func readRow(row sheet.Row) rowDraft {
	in := formOf(row)
	draft := rowDraft{
		Draft:   customer.ReadNew(in),
		plan:    in.Line("plan", maxLine),
		product: in.Line("product", maxLine),
		amount:  in.Money("value"),
	}
	draft.Problems = in.Problems()
	return draft
}

// formOf makes a form of a row. What the sheet has refused is not checked
// again.
func formOf(row sheet.Row) *input.Form {
	values := row.Values
	if !row.Faults.Empty() {
		values = maps.Clone(values)
		for field := range row.Faults.All() {
			delete(values, field)
		}
	}
	in := input.FromStrings(values)
	for field, reasons := range row.Faults.All() {
		in.Refuse(field, reasons[0])
	}
	return in
}

// remember keeps in which line a login and a key were first met.
func (im *importer) remember(candidate *candidate) (usuario, external int) {
	return im.usuarios.first(text.Lower(candidate.Usuario), candidate.row.Line), im.external.first(candidate.ExternalID,
		candidate.row.Line)
}

// refuseRepeated refuses a login or key that an earlier line has.
func (im *importer) refuseRepeated(all []*candidate) {
	for _, candidate := range all {
		usuario, external := im.remember(candidate)
		if usuario != candidate.row.Line {
			candidate.faults.Add("usuario", fmt.Sprintf("is in line %d already", usuario))
		}
		if external != candidate.row.Line {
			candidate.faults.Add("external_id", fmt.Sprintf("is in line %d already", external))
		}
	}
}

// refuseTaken refuses logins and keys that customers of the company have.
func (im *importer) refuseTaken(ctx context.Context, querier sqldb.Querier, all []*candidate) error {
	for _, unique := range []struct {
		customer.Unique
		of func(*candidate) string
	}{
		{customer.UniqueLogin, func(candidate *candidate) string { return text.Lower(candidate.Usuario) }},
		{customer.UniqueKey, func(candidate *candidate) string { return candidate.ExternalID }},
	} {
		var values []string
		for _, candidate := range all {
			if v := unique.of(candidate); v != "" {
				values = append(values, v)
			}
		}
		taken, err := unique.Taken(ctx, querier, im.actor.Company.ID, values)
		if err != nil {
			return err
		}
		for _, candidate := range all {
			if taken[unique.of(candidate)] && candidate.faults.Get(unique.Field) == nil {
				candidate.faults.Add(unique.Field, "is taken by another customer")
			}
		}
	}
	return nil
}

// firstLines remembers in which line a text was first met, by its hash: a
// million logins take no more room than numbers.
type firstLines struct {
	seed  maphash.Seed
	lines map[uint64]int
}

func (f *firstLines) first(value string, line int) int {
	if value == "" {
		return line
	}
	if f.lines == nil {
		f.seed, f.lines = maphash.MakeSeed(), map[uint64]int{}
	}
	hash := maphash.String(f.seed, value)
	if first, met := f.lines[hash]; met {
		return first
	}
	f.lines[hash] = line
	return line
}

// batches walks rows a few hundred at a time, without those that are passed
// over. Those before an error come before it.
func (im *importer) batches(rows Rows) iter.Seq2[[]sheet.Row, error] {
	size := im.service.importBatch()
	return func(yield func([]sheet.Row, error) bool) {
		var batch []sheet.Row
		flush := func() bool {
			full := batch
			batch = nil
			return len(full) == 0 || yield(full, nil)
		}
		for row, err := range rows() {
			if err != nil {
				_ = flush() && yield(nil, err)
				return
			}
			if im.passed[row.Line] {
				continue
			}
			if batch = append(batch, row); len(batch) == size && !flush() {
				return
			}
		}
		flush()
	}
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

// planPrices is how often rows give each price for a plan, by its folded name.
type planPrices map[string]*pricesOfPlan

type pricesOfPlan struct {
	times map[money.Cents]int
	usual money.Cents // given most often; of those given as often, the one that was so first
}

// usualPrices reads what the rows of a file pay for their plans. The price of the
// first row would be wrong for all others when that row is an exception. Where the
// file cannot be read further, its rows say so when they are imported.
func usualPrices(rows Rows) planPrices {
	prices := planPrices{}
	for row, err := range rows() {
		if err != nil {
			break
		}
		for _, field := range []string{"value", "price"} {
			amount, err := money.Parse(row.Values[field])
			if plan := planOf(row); err == nil && plan != "" {
				prices.add(plan, amount)
				break
			}
		}
	}
	return prices
}

func (p planPrices) add(plan string, amount money.Cents) {
	key := text.Fold(plan)
	if p[key] == nil {
		p[key] = &pricesOfPlan{times: map[money.Cents]int{}, usual: amount}
	}
	of := p[key]
	if of.times[amount]++; of.times[amount] > of.times[of.usual] {
		of.usual = amount
	}
}

// of returns what a plan usually costs.
func (p planPrices) of(plan string) (money.Cents, bool) {
	if of := p[text.Fold(plan)]; of != nil {
		return of.usual, true
	}
	return 0, false
}
