package intake

import (
	"context"
	"fmt"

	"carteira/internal/customer"
	"carteira/internal/platform/text"
)

// likenesses are those of a row, in the order of the fields.
func (c *candidate) likenesses() []customer.Likeness {
	list := []customer.Likeness{{Field: "whatsapp", Value: c.Whatsapp}, {Field: "cpf_cnpj", Value: c.CpfCnpj}}
	// A date that the plan gave says nothing: every row without one has it.
	if c.row.Values["data_de_vencimento"] != "" {
		list = append(list, customer.Likeness{Field: "name", Value: c.DueOn.String() + " " + text.Searchable(text.Fold(c.Name))})
	}
	return list
}

// reason says to a person what the two have in common.
func reason(n customer.Namesake, field string) string {
	switch field {
	case "whatsapp":
		return fmt.Sprintf("is already the phone of customer %d (%s)", n.ID, n.Name)
	case "cpf_cnpj":
		return fmt.Sprintf("is already the CPF or CNPJ of customer %d (%s)", n.ID, n.Name)
	}
	return fmt.Sprintf("has the name and due date of customer %d (%s)", n.ID, n.Name)
}

// findDuplicates reports the rows that seem to be an earlier row or a customer
// who is there already, and returns those that are to be imported. Two people
// may share a phone, so a person chooses. Where duplicates are passed over, a bad
// row is no earlier row: the next one like it is imported in its place.
func (im *importer) findDuplicates(ctx context.Context, all []*candidate) ([]*candidate, error) {
	there, err := im.alikeThere(ctx, all)
	if err != nil {
		return nil, err
	}
	var kept []*candidate
	for _, candidate := range all {
		skips := im.options.SkipDuplicates
		if skips && !candidate.faults.Empty() {
			kept = append(kept, candidate)
			continue
		}
		alike := append(im.alikeBefore(candidate), candidate.alike(there)...)
		im.reportDuplicate(alike)
		if skips && len(alike) > 0 {
			im.passed[candidate.row.Line] = true
			continue
		}
		im.met.Remember(candidate.row)
		kept = append(kept, candidate)
	}
	return kept, nil
}

// alikeBefore is what a row has in common with earlier rows.
func (im *importer) alikeBefore(candidate *candidate) (list []Problem) {
	for _, duplicate := range im.met.Of(candidate.row) {
		list = append(list, Problem{
			Line:   candidate.row.Line,
			Name:   candidate.row.Values["name"],
			Field:  duplicate.Field,
			Value:  candidate.row.Values[duplicate.Field],
			Reason: duplicate.Reason,
		})
	}
	return list
}

// alike is what a row has in common with customers who are there.
func (c *candidate) alike(there map[customer.Likeness]customer.Namesake) (list []Problem) {
	if !c.faults.Empty() {
		return nil
	}
	for _, likeness := range c.likenesses() {
		if other, found := there[likeness]; found {
			list = append(list, Problem{
				Line:       c.row.Line,
				Name:       c.row.Values["name"],
				Field:      likeness.Field,
				Value:      c.row.Values[likeness.Field],
				Reason:     reason(other, likeness.Field),
				CustomerID: other.ID,
			})
		}
	}
	return list
}

// alikeThere finds the customers of the company who have what the good rows
// have, by one statement for all of them.
func (im *importer) alikeThere(ctx context.Context, all []*candidate) (map[customer.Likeness]customer.Namesake, error) {
	values := map[string][]string{}
	for _, candidate := range all {
		if !candidate.faults.Empty() {
			continue
		}
		for _, likeness := range candidate.likenesses() {
			if likeness.Value != "" {
				values[likeness.Field] = append(values[likeness.Field], likeness.Value)
			}
		}
	}
	if len(values) == 0 {
		return nil, nil
	}
	return customer.Namesakes(ctx, im.service.db, im.actor.Company.ID, values)
}

func (im *importer) reportDuplicate(alike []Problem) {
	if len(alike) == 0 {
		return
	}
	im.total.Duplicates++
	if im.options.Duplicate != nil {
		for _, problem := range alike {
			im.options.Duplicate(problem)
		}
	}
}

// passOver finds the duplicates of a file whose good rows are written without a
// check before. What is wrong with rows is reported when they are written.
func (im *importer) passOver(ctx context.Context, rows Rows) error {
	im.quiet = true
	err := im.check(ctx, rows)
	im.quiet = false
	im.total = Imported{Duplicates: im.total.Duplicates}
	im.usuarios, im.external = firstLines{}, firstLines{}
	return err
}
