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

func (w *world) model(tb testing.TB, actor account.Actor) model {
	tb.Helper()
	list, err := sqldb.All(tb.Context(), w.db, scanListed, `SELECT `+listColumns+` FROM customers c`+joins+` WHERE c.company_id = ? ORDER BY c.id DESC`, actor.Company.ID)
	must(tb, err)
	return list
}

func (m model) match(filter Filter, today civil.Date) model {
	return slices.DeleteFunc(slices.Clone(m), func(customer Customer) bool {
		return filter.Search != "" && !found(customer, filter.Search) ||
			filter.Status != "" && customer.Status(today) != filter.Status ||
			filter.PlanID != 0 && customer.Plan.ID != filter.PlanID ||
			filter.ProductID != 0 && customer.Product.ID != filter.ProductID ||
			!filter.DueFrom.IsZero() && (customer.DueOn.IsZero() || customer.DueOn.Before(filter.DueFrom)) ||
			!filter.DueTo.IsZero() && (customer.DueOn.IsZero() || customer.DueOn.After(filter.DueTo)) ||
			customer.UpdatedAt.UnixMicro() < filter.UpdatedSince ||
			filter.ExternalID != "" && customer.ExternalID != filter.ExternalID
	})
}

// found is the contract's rule of search, put plainly: a text of the customer
// contains the term, whatever its case and accents; and digits punctuated like
// a phone are in one of the spellings of the customer's.
func found(customer Customer, search string) bool {
	term := strings.Map(func(r rune) rune {
		if r >= 0xE000 && r <= 0xF8FF { // private use, which is never typed
			return -1
		}
		return r
	}, text.Fold(search))
	spellings := []string{customer.Whatsapp}
	if whatsapp := customer.Whatsapp; strings.HasPrefix(whatsapp, "55") && len(whatsapp) == 13 && whatsapp[4] == '9' && whatsapp[5] >= '6' {
		spellings = append(spellings, whatsapp[:4]+whatsapp[5:])
	} else if strings.HasPrefix(whatsapp, "55") && len(whatsapp) == 12 && whatsapp[4] >= '6' {
		spellings = append(spellings, whatsapp[:4]+"9"+whatsapp[4:])
	}
	digits := text.Digits(term)
	if len(digits) >= 11 { // long enough for an area code after the zero
		digits = strings.TrimLeft(digits, "0")
	}
	if strings.Trim(term, "0123456789+-.()/ ") == "" && digits != "" && containsAny(spellings, digits) {
		return true
	}
	return containsAny(append(spellings, text.Fold(customer.Name), text.Fold(customer.Email), text.Fold(customer.Usuario), text.Fold(customer.ExternalID)), term)
}

func containsAny(texts []string, term string) bool {
	return slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, term) })
}

func (m model) page(page input.Page) []int64 {
	from := min(page.Offset(), int64(len(m)))
	return ids(m[from:min(from+page.Size, int64(len(m)))])
}

func ids(list []Customer) []int64 {
	all := make([]int64, len(list))
	for i, customer := range list {
		all[i] = customer.ID
	}
	return all
}

// wantPage compares a page of a list with the model's.
func (w *world) wantPage(tb testing.TB, actor account.Actor, model model, filter Filter, page input.Page) {
	tb.Helper()
	list, total, err := w.List(tb.Context(), actor, filter, page)
	if err != nil || total != int64(len(model)) || !slices.Equal(ids(list), model.page(page)) {
		tb.Errorf("%+v, page %+v: %d of %d, %v; want %d of %d\ngot  %v\nwant %v",
			filter, page, len(list), total, err, len(model.page(page)), len(model), ids(list), model.page(page))
	}
}

// populate inserts many customers at once, with all that a creation leaves in
// the tables of customers.
func (w *world) populate(tb testing.TB, actor account.Actor, list []Customer) {
	tb.Helper()
	must(tb, w.db.Write(tb.Context(), func(tx *sqldb.Tx) error {
		for i := range list {
			list[i].UUID, list[i].UpdatedAt = id.NewUUID(), tx.Now()
			list[i].createdAt(tx.Now(), actor.Company.Zone)
			list[i].expiry = expiry{}.after(list[i].expires(), actor.Today(tx.Now()))
		}
		made, err := insertMany(tb.Context(), actor.In(tx), list)
		if err != nil || len(made) != len(list) {
			return fmt.Errorf("%d of %d were inserted: %w", len(made), len(list), err)
		}
		places := map[tally.Key]int64{}
		for _, customer := range list {
			customer.ID = made[customer.UUID]
			places[counted(customer, 1).Key]++
		}
		for place, n := range maps.All(places) {
			if err := counter.Add(tb.Context(), tx, actor.Company.ID, tally.Change{Key: place, N: n}); err != nil {
				return err
			}
		}
		return nil
	}))
}
