package customer

import (
	"context"
	"strings"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

// Likeness is what makes a row seem to be a customer who is there already: the
// same phone, the same CPF or CNPJ, or the same name and due date.
type Likeness struct{ Field, Value string }

// Namesake is a customer who has what a row has.
type Namesake struct {
	ID   int64
	Name string
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
	keys := []Likeness{{"whatsapp", draft.Whatsapp.Value}, {"cpf_cnpj", draft.CpfCnpj.Value}}
	for _, key := range keys {
		if key.Value != "" {
			values[key.Field] = []string{key.Value}
		}
	}
	if len(values) == 0 || draft.Problems.Any() {
		return nil, nil
	}
	found, err := Namesakes(ctx, s.db, actor.Company.ID, values)
	var alike []Alike
	for _, key := range keys {
		if other, there := found[key]; there {
			alike = append(alike, Alike{other.ID, other.Name, key.Field})
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

// Namesakes finds the customers who have one of the values of each field, the
// first of several.
func Namesakes(
	ctx context.Context,
	querier sqldb.Querier,
	companyID int64,
	values map[string][]string,
) (map[Likeness]Namesake, error) {
	found, names := map[Likeness]Namesake{}, []string{}
	for _, value := range values["name"] {
		_, name, _ := strings.Cut(value, " ")
		names = append(names, name)
	}
	err := sqldb.Each(ctx, querier, namesakesText,
		[]any{
			companyID, list(values["whatsapp"]), companyID, list(values["cpf_cnpj"]),
			companyID, names, list(values["name"]),
		}, func(row sqldb.Row) error {
			var key Likeness
			var other Namesake
			err := row.Scan(&key.Field, &key.Value, &other.ID, &other.Name)
			if first, met := found[key]; !met || other.ID < first.ID {
				found[key] = other
			}
			return err
		})
	return found, err
}

// list is never nil, which a database would take for no list at all.
func list(values []string) []string { return append([]string{}, values...) }
