package intake

import (
	"context"
	"fmt"

	"carteira/internal/customer"
)

// maxRemembered bounds the memory that duplicates take, with the logins and keys: 100,000 rows have at most that much,
// which is about 20 MB. Rows after it are compared with those before, not with each other.
const maxRemembered = 500_000

// marks are the fields that make a row seem to be another customer, with the warning about an earlier row and
// of a customer who is there.
var marks = map[string]struct{ before, there string }{
	"whatsapp": {"is the phone of an earlier line too", "is already the phone of customer %d (%s)"},
	"cpf_cnpj": {"is the CPF or CNPJ of an earlier line too", "is already the CPF or CNPJ of customer %d (%s)"},
	"name":     {"is in an earlier line too, with the same due date", "has the name and due date of customer %d (%s)"},
}

// likenesses are those of a row, in the order of the fields. A value that could
// not be read is compared with nothing.
func (c *candidate) likenesses() []customer.Likeness {
	list := []customer.Likeness{{Field: "whatsapp", Value: c.Whatsapp}, {Field: "cpf_cnpj", Value: c.CpfCnpj}}
	// A date that the plan gave says nothing: every row without one has it.
	if c.row.Values[dueField] != "" && c.row.Faults.Get(dueField) == nil && c.Name != "" {
		list = append(list, customer.Likeness{Field: "name", Value: c.DueOn.String() + " " + customer.FoldedName(c.Name)})
	}
	return list
}

// findDuplicates reports the rows that seem to be an earlier row or a customer
// who is there already, and returns those that are to be imported. Two people
// may share a phone, so a person chooses. Where duplicates are passed over, a bad
// row is no earlier row: the next one like it is imported in its place.
func (im *importer) findDuplicates(ctx context.Context, all []*candidate) (kept []*candidate, err error) {
	var likenesses []customer.Likeness
	for _, candidate := range all {
		if candidate.alike = candidate.likenesses(); candidate.faults.Empty() {
			likenesses = append(likenesses, candidate.alike...)
		}
	}
	there, err := customer.Namesakes(ctx, im.service.db, im.actor.Company.ID, likenesses)
	if err != nil {
		return nil, err
	}
	skips := im.options.SkipDuplicates
	for _, candidate := range all {
		if skips && !candidate.faults.Empty() {
			kept = append(kept, candidate)
			continue
		}
		alike := im.alike(candidate, there)
		send(im.options.Duplicate, alike)
		if len(alike) > 0 {
			im.total.Duplicates++
			if skips {
				im.passed[candidate.row.Line] = true
				continue
			}
		}
		for _, likeness := range candidate.alike {
			if len(im.met) < maxRemembered {
				im.met.note(likeness.Field, likeness.Value, candidate.row.Line)
			}
		}
		kept = append(kept, candidate)
	}
	return kept, nil
}

// alike is what a row has in common with earlier rows and, if it is good, with
// customers who are there.
func (im *importer) alike(c *candidate, there map[customer.Likeness]customer.Namesake) (list []Problem) {
	for _, likeness := range c.alike {
		if im.met.line(likeness.Field, likeness.Value) != 0 {
			list = append(list, c.problem(likeness.Field, c.row.Values[likeness.Field], marks[likeness.Field].before))
		}
	}
	for _, likeness := range c.alike {
		if other, found := there[likeness]; found && c.faults.Empty() {
			reason := fmt.Sprintf(marks[likeness.Field].there, other.ID, other.Name)
			list = append(list, c.problem(likeness.Field, c.row.Values[likeness.Field], reason))
			list[len(list)-1].CustomerID = other.ID
		}
	}
	return list
}
