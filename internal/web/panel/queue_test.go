package panel

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/platform/sqldb"
	"carteira/internal/web/panel/kit"
	"carteira/test/kit/housetest"
)

func TestDebtorsAreChargedOneAfterTheOther(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.useBank()
		first, second := person.debtor("Bia Lima", "(11) 98765-4321"), person.debtor("Caio", "")
		list := []string{"id", fmt.Sprint(first.ID), "id", fmt.Sprint(second.ID), "action", "remind"}
		to := person.post("/invoices/bulk", list...).location
		if !strings.HasPrefix(to, "/queue?") {
			t.Fatalf("without a channel it leads to %q", to)
		}
		shown := person.get(to).want(t, http.StatusOK, "1/2", "Bia Lima", "Enviar e ir ao próximo", "Recebi", fmt.Sprintf("/invoices/%d/pay?back=", first.ID))
		found := waLink.FindStringSubmatch(shown.body)
		if found == nil || !strings.Contains(found[1], "%2Fpay%2F") || !strings.Contains(found[1], "pix%3Ccode%3E") {
			t.Errorf("WhatsApp is %q", found)
		}
		person.get(to+"&skip="+fmt.Sprint(first.ID)).want(t, http.StatusOK, "2/2", "Caio", "não tem número de WhatsApp", "deixados para depois: 1")
		person.follow("/queue", "invoice", fmt.Sprint(first.ID), "back", to).want(t, http.StatusOK, "2/2", "Caio")
		person.colleague(account.RoleStaff).get(to).want(t, http.StatusOK, "2/2", "Caio").lacks(t, "Bia Lima")
		person.get("/settings/audit").want(t, http.StatusOK, "Cobrança feita à mão", "Bia Lima")
		person.follow("/queue", "invoice", fmt.Sprint(second.ID), "back", to).want(t, http.StatusOK, "Todos da lista já foram cobrados hoje")

		stranger := office.owner(t, "bia@example.com")
		stranger.post("/queue", "invoice", fmt.Sprint(first.ID)).want(t, http.StatusNotFound)
		person.post("/queue", "invoice", "x").want(t, http.StatusNotFound)
	})
}

var queuedInvoice = regexp.MustCompile(`name="invoice" value="(\d+)"`)

// The oldest debt comes first, and two who charge at the same time are not shown the same customers.
func TestColleaguesShareAQueue(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		ana := office.owner(t, "ana@example.com")
		ana.useBank()
		plan, err := ana.Catalog.CreatePlan(t.Context(), ana.actor, catalog.ReadNewPlan(values("name", "Mensal", "value", "35.00", "period", "1month")))
		housetest.Must(t, err)
		for n := range 7 {
			_, err := ana.Customers.Create(t.Context(), ana.actor, customer.ReadNew(values("name", fmt.Sprintf("Devedor %d", n), "plan_id", fmt.Sprint(plan.ID),
				"data_de_vencimento", fmt.Sprintf("2026-01-%02d", 20-n), "whatsapp", fmt.Sprintf("1198765000%d", n))))
			housetest.Must(t, err)
		}
		bia := ana.colleague(account.RoleStaff)
		ana.get("/queue").want(t, http.StatusOK, "1/7", "Devedor 6")
		shown := func(who *person) string {
			t.Helper()
			found := queuedInvoice.FindStringSubmatch(who.get("/queue").body)
			if found == nil {
				t.Fatal("nobody is shown")
			}
			return found[1]
		}
		ana.follow("/queue", "invoice", shown(ana), "back", "/queue").want(t, http.StatusOK, "2/7")
		bia.follow("/queue", "invoice", shown(bia), "back", "/queue").want(t, http.StatusOK, "3/7")
		for range 2 {
			first, second := shown(ana), shown(bia)
			if first == second {
				t.Errorf("both are shown invoice %s", first)
			}
			ana.follow("/queue", "invoice", first, "back", "/queue").want(t, http.StatusOK)
			bia.follow("/queue", "invoice", second, "back", "/queue").want(t, http.StatusOK)
		}
		ana.get("/queue").want(t, http.StatusOK, "7/7", "Enviar e ir ao próximo") // none of them was left out
		ana.follow("/queue", "invoice", shown(bia), "back", "/queue").want(t, http.StatusOK, "Todos da lista já foram cobrados hoje")
	})
}

// What a queue is of is read from its address as it was written there.
func TestAddressOfAQueue(t *testing.T) {
	for _, chosen := range []kit.Picks{{All: true, Query: "overdue=true"}, {All: true, Query: "status=a&x=b%20c"}, {IDs: []int64{3, 5}}} {
		for _, path := range []string{"/invoices", "/customers"} {
			_, query, _ := strings.Cut(queuePath(path, chosen), "?")
			values, err := url.ParseQuery(query)
			if got, of := queuePicks(values); err != nil || fmt.Sprint(got) != fmt.Sprint(chosen) || of != path {
				t.Errorf("%+v of %s became %+v of %s, %v", chosen, path, got, of, err)
			}
		}
	}
	if got, of := queuePicks(url.Values{}); !got.All || got.Query != "overdue=true" || of != "/invoices" {
		t.Errorf("an empty address is %+v of %s", got, of)
	}
}

func TestCustomersOfAQueueAreChargedForWhatTheyOweFirst(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	person := office.owner(t, "ana@example.com")
	person.useBank()
	invoice := person.debtor("Bia Lima", "(11) 98765-4321")
	to := person.post("/customers/bulk", "id", fmt.Sprint(invoice.Customer.ID), "action", "remind").location
	person.get(to).want(t, http.StatusOK, "1/1", "Bia Lima", fmt.Sprintf(`name="invoice" value="%d"`, invoice.ID))
}
