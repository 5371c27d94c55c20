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
	parts := []string{text.Fold(customer.Name), text.Fold(customer.Email), text.Fold(customer.Usuario), customer.Whatsapp}
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

func searchTerms(search string) []listing.Term { return listing.TermsOf(search, dialled) }

// dialled is a number without the zeros that people in Brazil dial before an area code.
func dialled(typed string) string {
	digits := text.Digits(typed)
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
	Namesake
	Field string // whatsapp or cpf_cnpj
}

// Alike lists the customers who have the phone or the CPF or CNPJ of a draft, for
// a person to decide whether it is one of them. A draft with problems has none.
func (s *Service) Alike(ctx context.Context, actor account.Actor, draft Draft) ([]Alike, error) {
	keys := []Likeness{{"whatsapp", draft.Whatsapp.Value}, {"cpf_cnpj", draft.CpfCnpj.Value}}
	if draft.Problems.Any() {
		return nil, nil
	}
	found, err := Namesakes(ctx, s.db, actor.Company.ID, keys)
	var alike []Alike
	for _, key := range keys {
		if other, there := found[key]; there {
			alike = append(alike, Alike{other, key.Field})
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

// Namesakes finds the customers who have one of the likenesses, the first of
// several. One without a value is none.
func Namesakes(ctx context.Context, querier sqldb.Querier, companyID int64, keys []Likeness) (map[Likeness]Namesake, error) {
	found, names, given := map[Likeness]Namesake{}, []string{}, false
	values := map[string][]string{"whatsapp": {}, "cpf_cnpj": {}, "name": {}} // a database takes nil for no list at all
	for _, key := range keys {
		if key.Value == "" {
			continue
		}
		values[key.Field], given = append(values[key.Field], key.Value), true
		if _, name, cut := strings.Cut(key.Value, " "); cut && key.Field == "name" {
			names = append(names, name)
		}
	}
	if !given {
		return found, nil
	}
	err := sqldb.Each(ctx, querier, namesakesText,
		[]any{companyID, values["whatsapp"], companyID, values["cpf_cnpj"], companyID, names, values["name"]},
		func(row sqldb.Row) error {
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
