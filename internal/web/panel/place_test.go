package panel

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/test/kit/housetest"
)

// neighbours are the links of a page to the records before and after it.
func (a answer) neighbours() (prev, next string) {
	for _, found := range regexp.MustCompile(`href="([^"]*)" rel="(prev|next)"`).FindAllStringSubmatch(a.body, -1) {
		if found[2] == "prev" {
			prev = html.UnescapeString(found[1])
		} else {
			next = html.UnescapeString(found[1])
		}
	}
	return prev, next
}

// rowLinks are the links of a list's rows, from top to bottom.
func (a answer) rowLinks() []string {
	var links []string
	for _, found := range regexp.MustCompile(`<a class="name[^>]* href="([^"]*)"`).FindAllStringSubmatch(a.body, -1) {
		links = append(links, html.UnescapeString(found[1]))
	}
	return links
}

// The record of a payment is its invoice: previous and next walk the list of
// payments, in its order and with its filters.
func TestPaymentsHaveNeighboursAndAWayBack(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := sortedOffice(t, office)
		for id, day := range []string{"2026-01-20", "2026-01-05", "2026-01-31"} {
			person.post(fmt.Sprintf("/invoices/%d/pay", id+1), "paid_via", "cash", "amount", "7,00", "paid_at", day)
		}
		const list = "/payments?sort=paid_on&status=applied&per_page=2"
		links := person.get(list).want(t, http.StatusOK).rowLinks()
		if len(links) != 2 {
			t.Fatal(links)
		}
		first := person.get(links[0]).want(t, http.StatusOK, "← Pagamentos", html.EscapeString(list), "álvaro Lima")
		prev, next := first.neighbours()
		if prev != "" || !strings.HasPrefix(next, "/invoices/") {
			t.Fatalf("the first of the list: %q, %q", prev, next)
		}
		second := person.get(next).want(t, http.StatusOK, html.EscapeString(list), "Carla Lima")
		_, next = second.neighbours()
		third := person.get(next).want(t, http.StatusOK, html.EscapeString(list), "Bruno Lima") // of the second page
		prev, next = third.neighbours()
		if next != "" {
			t.Errorf("after the last of the list comes %q", next)
		}
		person.get(prev).want(t, http.StatusOK, "Carla Lima")

		attendant := person.colleague(account.RoleAttendant) // who does not see what was received
		if prev, next := attendant.get(links[1]).want(t, http.StatusOK).neighbours(); prev+next != "" {
			t.Errorf("an attendant walks %q, %q", prev, next)
		}
		for _, odd := range []string{"/payments?from=x", "/payments?status=odd", "/customers"} {
			at := fmt.Sprintf("/invoices/1?at=2&from=%s", odd)
			if prev, next := person.get(at).want(t, http.StatusOK).neighbours(); prev+next != "" {
				t.Errorf("%s has the neighbours %q, %q", at, prev, next)
			}
		}
		for _, at := range []string{"0", "-1", "x", "9223372036854775807"} {
			person.get("/invoices/1?from=/payments&at="+at).want(t, http.StatusOK)
		}
	})
}

// Money that came for a customer who was deleted has no page: its row is no link,
// and who walks the list passes it.
func TestPaymentOfADeletedInvoiceIsPassedOver(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		invoice := person.fill()["invoices"] // with money for a deleted customer
		housetest.Must(t, person.payByHand(invoice))
		later := person.debtor("Bia", "")
		housetest.Must(t, person.payByHand(later.ID))
		list := person.get("/payments?sort=paid_on").want(t, http.StatusOK, `<span class="name cut">Zé &lt;b&gt;Ido&lt;/b&gt;</span>`)
		links := list.rowLinks()
		if len(links) != 2 {
			t.Fatal(links)
		}
		prev, next := person.get(links[0]).want(t, http.StatusOK).neighbours()
		if prev != "" {
			t.Errorf("before %s comes %s", links[0], prev)
		}
		if next != links[1] && !strings.HasPrefix(links[1], next[:strings.Index(next, "?")]) {
			t.Errorf("after %s comes %s", links[0], next)
		}
		prev, _ = person.get(links[1]).want(t, http.StatusOK).neighbours()
		if !strings.HasPrefix(links[0], prev[:strings.Index(prev, "?")+1]) {
			t.Errorf("before %s comes %s", links[1], prev)
		}
	})
}

func TestDeliveriesHaveNeighboursAndAWayBack(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		hook := fmt.Sprintf("/webhooks/%d", person.fill()["webhooks"])
		for range 2 {
			person.post(hook + "/test")
		}
		links := person.get(hook+"?sort=id").want(t, http.StatusOK, "Tentativas", "Resposta", "Demorou", `formaction="/deliveries/`).rowLinks()
		if len(links) < 2 {
			t.Fatal(links)
		}
		back := `href="` + hook + `?sort=id"`
		prev, next := person.get(links[0]).want(t, http.StatusOK, back, `id="ask"`).neighbours()
		if prev != "" || !strings.HasPrefix(next, "/deliveries/") || next[:strings.Index(next, "?")] != links[1][:strings.Index(links[1], "?")] {
			t.Errorf("the first of %v: %q, %q", links, prev, next)
		}
		if prev, _ := person.get(next).want(t, http.StatusOK, back).neighbours(); prev == "" {
			t.Error("there is no way to the first")
		}
		person.get(links[0][:strings.Index(links[0], "?")]).want(t, http.StatusOK, `href="`+hook+`"`)
	})
}

// The page that answers a test is the webhook's: what it links to exists.
func TestPageOfATestedWebhookLeadsOn(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		hook := fmt.Sprintf("/webhooks/%d", person.fill()["webhooks"])
		for _, answer := range []answer{person.post(hook + "/test"), person.post(hook+"/replay", "since", "x")} {
			answer.lacks(t, `href="`+hook+`/test`, `href="`+hook+`/replay`, `value="`+hook+`/test"`)
			answer.want(t, answer.status, `href="`+hook+`?status=delivered"`, `name="back" value="`+hook+`"`)
		}
	})
}

// A view of deliveries is one for all webhooks, and leads to the one at hand.
func TestViewOfDeliveriesServesEveryWebhook(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.fill()
		person.post("/webhooks/new", "url", "https://other.example/hook", "events", "customer.created")
		saved := person.post("/views", "list", "webhooks", "view", "Falhas", "query", "status=failed", "back", "/webhooks/1?status=failed&page=2")
		if saved.location != "/webhooks/1?status=failed" {
			t.Errorf("saving led to %s", saved.location)
		}
		for _, hook := range []string{"/webhooks/1", "/webhooks/2"} {
			person.get(hook).want(t, http.StatusOK, `href="`+hook+`?status=failed">Falhas</a>`)
		}
		if led := person.post("/views", "list", "webhooks", "view", "Tudo", "query", "", "back", "/customers").location; led != "/webhooks" {
			t.Errorf("a form of nobody's making led to %s", led)
		}
	})
}
