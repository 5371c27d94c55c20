package customer

import (
	"context"
	"strings"

	"carteira/internal/account"
	"carteira/internal/platform/listing"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/taxid"
	"carteira/internal/platform/text"
)

// searchText is what a customer is found by: its texts folded, one per line so
// that no match runs from one into the next, and the spellings of its phone.
func searchText(customer Customer) string {
	parts := []string{
		text.Fold(customer.Name), text.Fold(customer.Email), text.Fold(customer.Usuario),
		customer.Whatsapp,
	}
	if other := otherSpelling(customer.Whatsapp); other != "" {
		parts = append(parts, other)
	}
	if customer.CpfCnpj != "" {
		parts = append(parts, text.Fold(customer.CpfCnpj), text.Fold(taxid.Format(customer.CpfCnpj)))
	}
	if customer.ExternalID != "" {
		parts = append(parts, text.Fold(customer.ExternalID))
	}
	return text.Searchable(strings.Join(parts, "\n"))
}

// FoldedName is a name as lists are sorted by it, without case and accents.
func FoldedName(name string) string { return text.Searchable(text.Fold(name)) }

// otherSpelling is a Brazilian mobile number with its ninth digit taken away,
// or given to it: 55 11 9 8765 4321 and 55 11 8765 4321 are one phone.
func otherSpelling(phone string) string {
	if !strings.HasPrefix(phone, "55") {
		return ""
	}
	switch {
	case len(phone) == 13 && phone[4] == '9' && phone[5] >= '6':
		return phone[:4] + phone[5:]
	case len(phone) == 12 && phone[4] >= '6':
		return phone[:4] + "9" + phone[4:]
	}
	return ""
}

// searchTerms are what a text must contain: the term itself, or its digits when
// it is punctuated like a phone.
func searchTerms(search string) []listing.Term {
	term := text.Searchable(text.Fold(search))
	if term == "" {
		return nil
	}
	spellings := listing.Term{term}
	if strings.Trim(term, "0123456789+-.()/ ") == "" {
		if digits := dialled(text.Digits(term)); digits != "" && digits != term {
			spellings = append(spellings, digits)
		}
	}
	return []listing.Term{spellings}
}

// dialled drops the zeros that people in Brazil dial before an area code.
func dialled(digits string) string {
	if len(digits) >= 11 {
		return strings.TrimLeft(digits, "0")
	}
	return digits
}

// Searches reports whether a search is one for anybody: there is something to look for.
func Searches(search string) bool { return searchTerms(search) != nil }

// Found are the ids of the customers of a company that a search finds, for lists
// of what belongs to them.
func Found(ctx context.Context, db *sqldb.DB, companyID int64, search string) ([]int64, error) {
	return table.IDs(ctx, db, listing.Query{CompanyID: companyID, Search: searchTerms(search)})
}

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
		WHERE company_id = ? AND whatsapp <> '' AND whatsapp {in ?} AND ` + Visible + `
	UNION ALL SELECT 'cpf_cnpj', cpf_cnpj, id, name FROM customers
		WHERE company_id = ? AND cpf_cnpj <> '' AND cpf_cnpj {in ?} AND ` + Visible + `
	UNION ALL SELECT 'name', due_on || ' ' || name_key, id, name FROM customers
		WHERE company_id = ? AND name_key {in ?} AND due_on || ' ' || name_key {in ?} AND ` + Visible

// Namesakes finds the customers who have one of the values of each field, the
// first of several.
func Namesakes(
	ctx context.Context, querier sqldb.Querier, companyID int64, values map[string][]string,
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
