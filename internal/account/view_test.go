package account_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

func view(list, name, query string) account.ViewDraft {
	return account.ReadView(form("list", list, "view", name, "query", query))
}

// views are what a user saved of customers, as "name query".
func (h house) views(t *testing.T, actor account.Actor) string {
	t.Helper()
	list, _, err := h.Arranged(t.Context(), actor, account.CustomerList)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, one := range list {
		all = append(all, one.Name+" "+one.Query)
	}
	return strings.Join(all, ", ")
}

func TestViewsAreTheUsersOwn(t *testing.T) {
	eachHouse(t, func(t *testing.T, h house) {
		_, visit := h.signIn(t)
		ana := visit.Actor
		user, _, err := h.CreateUser(t.Context(), ana, account.ReadNewUser(form("name", "Bia", "email", "bia@example.com", "role", "staff")))
		if err != nil {
			t.Fatal(err)
		}
		bia := ana
		bia.UserID = user.ID
		save := func(actor account.Actor, draft account.ViewDraft) account.View {
			t.Helper()
			saved, err := h.SaveView(t.Context(), actor, draft)
			if err != nil {
				t.Fatal(err)
			}
			return saved
		}
		late := save(ana, view("customers", "Late", "status=Vencido"))
		save(ana, view("customers", "All", ""))
		save(ana, view("invoices", "Late", "overdue=true"))
		save(bia, view("customers", "Late", "sort=name"))
		if again := save(ana, view("customers", "Late", "status=Vencido&sort=name")); again.ID != late.ID {
			t.Errorf("the same name is another view: %d, %d", again.ID, late.ID)
		}
		if got := h.views(t, ana); got != "All , Late status=Vencido&sort=name" {
			t.Error(got)
		}
		if _, err := h.DeleteView(t.Context(), bia, late.ID); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("somebody else's: %v", err)
		}
		if gone, err := h.DeleteView(t.Context(), ana, late.ID); err != nil || gone.Name != "Late" {
			t.Errorf("deleted %+v, %v", gone, err)
		}
		if a, b := h.views(t, ana), h.views(t, bia); a != "All " || b != "Late sort=name" {
			t.Errorf("%s; %s", a, b)
		}
		if err := h.RemoveUser(t.Context(), ana, bia.UserID, false); err != nil {
			t.Fatal(err)
		}
		if left, err := sqldb.Value[int64](t.Context(), h.db, `SELECT count(*) FROM list_views WHERE name = 'Late'`); err != nil || left != 1 {
			t.Errorf("%d of Late are left, %v", left, err) // Ana's, of invoices
		}
	})
}

func TestViewsAreBounded(t *testing.T) {
	eachHouse(t, func(t *testing.T, h house) {
		_, visit := h.signIn(t)
		ana := visit.Actor
		for _, draft := range []account.ViewDraft{
			view("customers", "", "x"), view("passwords", "X", "x"), view("customers", strings.Repeat("x", 61), ""),
			view("customers", "X", strings.Repeat("x", 2001)),
		} {
			if _, err := h.SaveView(t.Context(), ana, draft); fault.KindOf(err) != fault.KindInvalid {
				t.Errorf("%+v: %v", draft.View, err)
			}
		}
		for n := range 20 {
			if _, err := h.SaveView(t.Context(), ana, view("customers", fmt.Sprint("View ", n), "")); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := h.SaveView(t.Context(), ana, view("customers", "One more", "")); fault.KindOf(err) != fault.KindConflict {
			t.Errorf("one too many: %v", err)
		}
		if _, err := h.SaveView(t.Context(), ana, view("customers", "View 7", "sort=name")); err != nil {
			t.Errorf("one that is there is changed: %v", err)
		}
		if _, err := h.SaveView(t.Context(), ana, view("invoices", "One more", "")); err != nil {
			t.Errorf("of another list: %v", err)
		}
	})
}

func TestColumnsOfAListAreRemembered(t *testing.T) {
	eachHouse(t, func(t *testing.T, h house) {
		_, visit := h.signIn(t)
		ana := visit.Actor
		want := func(list account.List, names ...string) {
			t.Helper()
			_, got, err := h.Arranged(t.Context(), ana, list)
			if err != nil || !slices.Equal(got, names) {
				t.Errorf("%s: %v, %v; want %v", list, got, err, names)
			}
		}
		choose := func(names ...string) error {
			return h.ChooseColumns(t.Context(), ana, account.ReadColumns(
				input.FromForm(map[string][]string{"list": {"customers"}, "columns": names}, "columns")))
		}
		want(account.CustomerList)
		for _, names := range [][]string{{"plan", "status"}, {"email"}, {}} {
			if err := choose(names...); err != nil {
				t.Fatal(err)
			}
			want(account.CustomerList, names...)
			want(account.InvoiceList)
		}
		if err := choose(make([]string, 0)...); err != nil {
			t.Error(err)
		}
		if err := choose(strings.Fields(strings.Repeat("x ", 21))...); fault.KindOf(err) != fault.KindInvalid {
			t.Errorf("too many: %v", err)
		}
	})
}
