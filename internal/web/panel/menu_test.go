package panel

import (
	"fmt"
	"net/http"
	"testing"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/platform/sqldb"
	"carteira/internal/web/panel/kit"
	"carteira/test/kit/housetest"
)

func TestMenuSaysHowMuchWaits(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.get("/customers").want(t, http.StatusOK).lacks(t, `class="count"`)
		person.fill() // one payment for review
		plans := person.get("/plans")
		plans.want(t, http.StatusOK, `<span class="count">1<span class="sr-only"> para revisar</span></span>`)
		for range 2 {
			_, err := office.Customers.Create(t.Context(), person.actor,
				customer.ReadNew(values("name", "Bia", "plan_id", "1", "data_de_vencimento", "2026-01-10")))
			housetest.Must(t, err)
		}
		person.get("/plans").want(t, http.StatusOK, `<span class="count">2<span class="sr-only"> em atraso</span></span>`)
		person.colleague(account.RoleAttendant).get("/plans").want(t, http.StatusOK, " em atraso").lacks(t, "para revisar")
	})
}

func TestBadgeOfManyDoesNotSayHowManyMore(t *testing.T) {
	for count, want := range map[int64]string{1: "1", 999: "999", 1000: "999+", 120_000: "999+"} {
		if got := (kit.Badge{Count: count}).Text(); got != want {
			t.Errorf("%d is written %s", count, got)
		}
	}
}

func TestUsersHaveAMenuOfTheirOwn(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.get("/").want(t, http.StatusOK, `popovertarget="me"`, `<span class="face" aria-hidden="true">A</span>`,
			"ana@example.com", `href="/profile"`, `action="/logout"`, `name="theme" value="dark"`)
	})
}

func TestNextPlanCanBeMadeAtOnce(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		plan := []string{"name", "Anual", "value", "1.200,00", "period_count", "1", "period_unit", "year"}
		if led := person.post("/plans/new", append(plan, "another", "yes")...).location; led != "/plans/new" {
			t.Errorf("another plan: %s", led)
		}
		if led := person.post("/products/new", "name", "Fibra", "another", "yes").location; led != "/products/new" {
			t.Errorf("another product: %s", led)
		}
		if led := person.post("/products/new", "name", "Rádio").location; led != "/products" {
			t.Errorf("one product: %s", led)
		}
	})
}

// The head of a customer's page says what matters, and each button what comes of
// it.
func TestCustomersPageSaysWhatRenewingComesTo(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.fill()
		person.get("/customers/1").want(t, http.StatusOK, "Vence em 31/01/2026", "(11) 98765-4321",
			"1 mês (até 28/02/2026)", "3 meses (até 30/04/2026)", "12 meses (até 31/01/2027)", "Mais ações")
	})
}

func TestChargeCanBeSentByMail(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		ids := person.fill()
		path := "/customers/" + kit.IDText(ids["customers"])
		person.get(path+"/charge").want(t, http.StatusOK).lacks(t, "mailto:")
		person.post(path+"/edit", "name", "João", "whatsapp", "11987654321", "email", "joao@example.com")
		person.get(path+"/charge").want(t, http.StatusOK, `href="mailto:joao@example.com?body=Ol`, "subject=Fatura%20de%20Rede", "Enviar por e-mail")
	})
}

// Who resells nothing finds the pages of resale behind their heading.
func TestResaleIsFoldedUntilItIsUsed(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		const folded = "<details><summary>Revenda</summary>"
		person.get("/customers").want(t, http.StatusOK, folded, `href="/resellers"`, `href="/credits"`)
		person.get("/resellers").want(t, http.StatusOK, "<h2>Revenda</h2>").lacks(t, folded)
		housetest.Must(t, person.grant())
		person.get("/customers").want(t, http.StatusOK, "<h2>Revenda</h2>").lacks(t, folded)
		person.colleague(account.RoleAttendant).get("/customers").want(t, http.StatusOK).lacks(t, "Revenda")
	})
}

// A renewal by one click reaches a year at most: three years of a quarterly plan are a slip of the finger.
func TestRenewalsOfOneClickReachAYear(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	person := office.owner(t, "ana@example.com")
	for period, want := range map[string][]string{
		"3months": {";3 meses (até 30/04/2026)", ";6 meses (até 31/07/2026)", ";12 meses (até 31/01/2027)"},
		"1year":   {";1 ano (até 31/01/2027)"},
		"30days":  {";30 dias (até 02/03/2026)", ";90 dias", ";360 dias"},
	} {
		plan, err := person.Catalog.CreatePlan(t.Context(), person.actor, catalog.ReadNewPlan(values("name", period, "value", "35.00", "period", period)))
		housetest.Must(t, err)
		record, err := person.Customers.Create(t.Context(), person.actor, customer.ReadNew(values("name", "Bia", "plan_id", fmt.Sprint(plan.ID), "data_de_vencimento", "2026-01-31")))
		housetest.Must(t, err)
		person.get(fmt.Sprintf("/customers/%d", record.ID)).want(t, http.StatusOK, want...).lacks(t, ";36 meses", ";9 meses", "anos (até")
	}
}
