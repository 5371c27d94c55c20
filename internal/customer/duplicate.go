package customer

import (
	"context"
	"fmt"
	"strings"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
)

// likeness is what makes a row seem to be a customer who is there already: the
// same phone, the same CPF or CNPJ, or the same name and due date.
type likeness struct{ field, value string }

// likenesses are those of a row, in the order of the fields.
func (c *candidate) likenesses() []likeness {
	list := []likeness{{"whatsapp", c.Whatsapp}, {"cpf_cnpj", c.CpfCnpj}}
	// A date that the plan gave says nothing: every row without one has it.
	if c.row.Values["data_de_vencimento"] != "" {
		list = append(list, likeness{"name", c.DueOn.String() + " " + sqldb.Searchable(text.Fold(c.Name))})
	}
	return list
}

// namesake is a customer who has what a row has.
type namesake struct {
	id   int64
	name string
}

// reason says to a person what the two have in common.
func (n namesake) reason(field string) string {
	switch field {
	case "whatsapp":
		return fmt.Sprintf("is already the phone of customer %d (%s)", n.id, n.name)
	case "cpf_cnpj":
		return fmt.Sprintf("is already the CPF or CNPJ of customer %d (%s)", n.id, n.name)
	}
	return fmt.Sprintf("has the name and due date of customer %d (%s)", n.id, n.name)
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
			Field:  duplicate.Field,
			Value:  candidate.row.Values[duplicate.Field],
			Reason: duplicate.Reason,
		})
	}
	return list
}

// alike is what a row has in common with customers who are there.
func (c *candidate) alike(there map[likeness]namesake) (list []Problem) {
	if !c.faults.Empty() {
		return nil
	}
	for _, likeness := range c.likenesses() {
		if other, found := there[likeness]; found {
			list = append(list, Problem{
				Line:       c.row.Line,
				Field:      likeness.field,
				Value:      c.row.Values[likeness.field],
				Reason:     other.reason(likeness.field),
				CustomerID: other.id,
			})
		}
	}
	return list
}

// alikeThere finds the customers of the company who have what the good rows
// have, by one statement for all of them.
func (im *importer) alikeThere(ctx context.Context, all []*candidate) (map[likeness]namesake, error) {
	values := map[string][]string{}
	for _, candidate := range all {
		if !candidate.faults.Empty() {
			continue
		}
		for _, likeness := range candidate.likenesses() {
			if likeness.value != "" {
				values[likeness.field] = append(values[likeness.field], likeness.value)
			}
		}
	}
	if len(values) == 0 {
		return nil, nil
	}
	return namesakes(ctx, im.service.db, im.actor.Company.ID, values)
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

// Alike is a customer who has what a draft has.
type Alike struct {
	ID    int64
	Name  string
	Field string // whatsapp or cpf_cnpj
}

// Alike lists the customers who have the phone or the CPF or CNPJ of a draft, for
// a person to decide whether it is one of them. A draft with problems has none.
func (s *Service) Alike(ctx context.Context, actor account.Actor, draft Draft) ([]Alike, error) {
	values := map[string][]string{}
	keys := []likeness{{"whatsapp", draft.Whatsapp.Value}, {"cpf_cnpj", draft.CpfCnpj.Value}}
	for _, key := range keys {
		if key.value != "" {
			values[key.field] = []string{key.value}
		}
	}
	if len(values) == 0 || draft.Problems.Any() {
		return nil, nil
	}
	found, err := namesakes(ctx, s.db, actor.Company.ID, values)
	var alike []Alike
	for _, key := range keys {
		if other, there := found[key]; there {
			alike = append(alike, Alike{other.id, other.name, key.field})
		}
	}
	return alike, err
}

const namesakesText = `
	SELECT 'whatsapp', whatsapp, id, name FROM customers
		WHERE company_id = ? AND whatsapp <> '' AND whatsapp {in ?} AND {visible id}
	UNION ALL SELECT 'cpf_cnpj', cpf_cnpj, id, name FROM customers
		WHERE company_id = ? AND cpf_cnpj <> '' AND cpf_cnpj {in ?} AND {visible id}
	UNION ALL SELECT 'name', due_on || ' ' || name_key, id, name FROM customers
		WHERE company_id = ? AND name_key {in ?} AND due_on || ' ' || name_key {in ?} AND {visible id}`

// namesakes finds the customers who have one of the values of each field, the
// first of several.
func namesakes(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	values map[string][]string,
) (map[likeness]namesake, error) {
	found, names := map[likeness]namesake{}, []string{}
	for _, value := range values["name"] {
		_, name, _ := strings.Cut(value, " ")
		names = append(names, name)
	}
	err := sqldb.Each(ctx, querier, namesakesText,
		[]any{
			companyID, list(values["whatsapp"]), companyID, list(values["cpf_cnpj"]),
			companyID, names, list(values["name"]),
		}, func(row sqldb.Row) error {
			var key likeness
			var other namesake
			err := row.Scan(&key.field, &key.value, &other.id, &other.name)
			if first, met := found[key]; !met || other.id < first.id {
				found[key] = other
			}
			return err
		})
	return found, err
}

// list is never nil, which a database would take for no list at all.
func list(values []string) []string { return append([]string{}, values...) }
