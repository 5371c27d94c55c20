package customer

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/id"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
	"carteira/internal/tally"
)

// model is what lists are held against: a company's customers, newest first,
// read in the plainest way and filtered in memory.
type model []Customer

func (w *world) model(tb testing.TB, a account.Actor) model {
	tb.Helper()
	list, err := sqldb.All(tb.Context(), w.db, scan, `SELECT `+columns+` FROM customers c`+joins+` WHERE c.company_id = ? ORDER BY c.id DESC`, a.Company.ID)
	must(tb, err)
	return list
}

func (m model) match(f Filter, today civil.Date) model {
	return slices.DeleteFunc(slices.Clone(m), func(c Customer) bool {
		return f.Search != "" && !found(c, f.Search) ||
			f.Status != "" && c.Status(today) != f.Status ||
			f.PlanID != 0 && c.Plan.ID != f.PlanID ||
			f.ProductID != 0 && c.Product.ID != f.ProductID ||
			!f.DueFrom.IsZero() && (c.DueOn.IsZero() || c.DueOn.Before(f.DueFrom)) ||
			!f.DueTo.IsZero() && (c.DueOn.IsZero() || c.DueOn.After(f.DueTo)) ||
			f.ExternalID != "" && c.ExternalID != f.ExternalID
	})
}

// found is the contract's rule of search, put plainly: a text of the customer
// contains the term, whatever its case and accents; and digits punctuated like
// a phone are in one of the spellings of the customer's.
func found(c Customer, search string) bool {
	term := strings.Map(func(r rune) rune {
		if r >= 0xE000 && r <= 0xF8FF { // private use, which nobody types
			return -1
		}
		return r
	}, text.Fold(search))
	spellings := []string{c.Whatsapp}
	if p := c.Whatsapp; strings.HasPrefix(p, "55") && len(p) == 13 && p[4] == '9' && p[5] >= '6' {
		spellings = append(spellings, p[:4]+p[5:])
	} else if strings.HasPrefix(p, "55") && len(p) == 12 && p[4] >= '6' {
		spellings = append(spellings, p[:4]+"9"+p[4:])
	}
	digits := text.Digits(term)
	if len(digits) >= 11 { // long enough for an area code after the zero
		digits = strings.TrimLeft(digits, "0")
	}
	if strings.Trim(term, "0123456789+-.()/ ") == "" && digits != "" && containsAny(spellings, digits) {
		return true
	}
	return containsAny(append(spellings, text.Fold(c.Name), text.Fold(c.Email), text.Fold(c.Usuario)), term)
}

func containsAny(texts []string, term string) bool {
	return slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, term) })
}

func (m model) page(p input.Page) []int64 {
	from := min(p.Offset(), int64(len(m)))
	return ids(m[from:min(from+p.Size, int64(len(m)))])
}

func ids(list []Customer) []int64 {
	all := make([]int64, len(list))
	for i, c := range list {
		all[i] = c.ID
	}
	return all
}

// wantPage compares a page of a list with the model's.
func (w *world) wantPage(tb testing.TB, a account.Actor, m model, f Filter, p input.Page) {
	tb.Helper()
	list, total, err := w.List(tb.Context(), a, f, p)
	if err != nil || total != int64(len(m)) || !slices.Equal(ids(list), m.page(p)) {
		tb.Errorf("%+v, page %+v: %d of %d, %v; want %d of %d\ngot  %v\nwant %v",
			f, p, len(list), total, err, len(m.page(p)), len(m), ids(list), m.page(p))
	}
}

// populate inserts many customers at once, with all that a creation leaves in
// the tables of customers.
func (w *world) populate(tb testing.TB, a account.Actor, list []Customer) {
	tb.Helper()
	must(tb, w.db.Write(tb.Context(), func(tx *sqldb.Tx) error {
		for i := range list {
			list[i].UUID, list[i].UpdatedAt = id.NewUUID(), tx.Now()
			list[i].createdAt(tx.Now(), a.Company.Zone)
			list[i].expiry = expiry{}.after(list[i].expires(), a.Today(tx.Now()))
		}
		made, err := insertMany(tb.Context(), tx, a.Company.ID, list)
		if err != nil || len(made) != len(list) {
			return fmt.Errorf("%d of %d were inserted: %w", len(made), len(list), err)
		}
		places := map[tally.Key]int64{}
		for _, c := range list {
			c.ID = made[c.UUID]
			places[counted(c, 1).Key]++
		}
		for place, n := range maps.All(places) {
			if err := counter.Add(tb.Context(), tx, a.Company.ID, tally.Change{Key: place, N: n}); err != nil {
				return err
			}
		}
		return nil
	}))
}
