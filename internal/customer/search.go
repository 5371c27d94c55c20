package customer

import (
	"context"
	"strings"

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
		parts = append(
			parts,
			text.Fold(customer.CpfCnpj),
			text.Fold(taxid.Format(customer.CpfCnpj)),
		)
	}
	if customer.ExternalID != "" {
		parts = append(parts, text.Fold(customer.ExternalID))
	}
	return sqldb.Searchable(strings.Join(parts, "\n"))
}

// FoldedName is a name as lists are sorted by it, without case and accents.
func FoldedName(name string) string { return sqldb.Searchable(text.Fold(name)) }

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
	term := sqldb.Searchable(text.Fold(search))
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

// SearchCondition is the condition that a search finds the customer whose text a
// column has.
func SearchCondition(engine sqldb.Engine, column, search string) (condition string, values []any) {
	return searchTerms(search)[0].Contained(engine, column)
}

// Found are the ids of those customers of a company whom a search finds, for lists
// of what belongs to them.
func Found(ctx context.Context, db *sqldb.DB, companyID int64, search string) ([]int64, error) {
	return table.IDs(ctx, db, listing.Query{CompanyID: companyID, Search: searchTerms(search)})
}
