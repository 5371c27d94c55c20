package panel

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/dashboard"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

var (
	linkedNumber = regexp.MustCompile(`href="(/(?:customers|invoices)\?[^"]+)">([0-9]+)</a>`)
	arrearsCard  = regexp.MustCompile(`href="([^"]+)"><span class="label"><svg[^>]*>(?:<[a-z]+ [^>]*/> ?)*</svg>Em atraso</span><span class="value">([^<]*)</span><span class="more">([0-9]+) faturas`)
	listedRow    = regexp.MustCompile(`<td class="title( cut)?">`)
)

// Debts of every age, also of months gone by: the card shows all of it, and
// every number on the page is the length of the list that it links to.
func TestNumbersOfTheHomePageAreTheListsBehindThem(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		office := newOffice(t, engine)
		person := office.owner(t, "ana@example.com")
		made, err := person.Catalog.CreatePlan(t.Context(), person.actor, catalog.ReadNewPlan(values("name", "Mensal", "value", "35.00", "period", "1month")))
		if err != nil {
			t.Fatal(err)
		}
		plan, today := made.ID, person.actor.Today(office.clock.Now())
		for n, days := range []int{1, 7, 8, 15, 16, 30, 31, 60, 61, 400, 0, -9} {
			_, err := person.Customers.Create(t.Context(), person.actor, customer.ReadNew(values("name", fmt.Sprint("Cliente ", n),
				"plan_id", fmt.Sprint(plan), "data_de_vencimento", today.AddDays(-days).String())))
			if err != nil {
				t.Fatal(err)
			}
		}
		home := person.get("/").body
		card := arrearsCard.FindStringSubmatch(home)
		if card == nil || card[2] != "R$\u00a0350,00" || card[3] != "10" {
			t.Fatalf("the card says %q", card)
		}
		person.wantRows(card[1], 10)
		numbers := linkedNumber.FindAllStringSubmatch(home, -1)
		if len(numbers) < 14 {
			t.Fatalf("%d numbers have a link", len(numbers))
		}
		for _, found := range numbers {
			n, err := strconv.Atoi(found[2])
			if err != nil {
				t.Fatal(err)
			}
			person.wantRows(found[1], n)
		}
		for _, text := range []string{"Receita recorrente mensal", "Perda de clientes no mês", "Ticket médio", "Pago em dia", "A partir de 61 dias", "8 a 15 dias", `role="img" aria-label="Doze meses"`, "O mesmo em números"} {
			if !strings.Contains(home, text) {
				t.Errorf("the page lacks %q", text)
			}
		}
		if other := person.get("/?plan_id=" + fmt.Sprint(plan+1)).body; strings.Contains(other, "Cliente 1") && !strings.Contains(other, "Indicadores") {
			t.Error("the figures of another plan are missing")
		}
	})
}

// wantRows follows a link and counts the rows of the list.
func (p *person) wantRows(link string, want int) {
	p.t.Helper()
	page := p.get(html.UnescapeString(link)).body
	if n := len(listedRow.FindAllString(page, -1)); n != want {
		p.t.Errorf("%s has %d rows, want %d", link, n, want)
	}
}

func TestExportHasTheCompanysOwnFields(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	person := office.owner(t, "ana@example.com")
	for name, custom := range map[string]customer.Custom{
		"Ana": customer.NewCustom(map[string]string{"MAC": "00:1a", "Contrato": "=7"}), "Bia": customer.NewCustom(map[string]string{"MAC": "00:1b"}), "Caio": "",
	} {
		if _, err := person.Customers.Create(t.Context(), person.actor, customer.Draft{Name: input.Some(name), Custom: input.Some(custom)}); err != nil {
			t.Fatal(err)
		}
	}
	person.get("/customers/export").want(t, http.StatusOK, ";custom.Contrato;custom.MAC\n", ";'=7;00:1a\n", ";;00:1b\n", ";;\n")
}

// What months had stays when a customer is deleted.
func TestHomeKeepsWhatCameOfADeletedCustomer(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	person := office.owner(t, "ana@example.com")
	plan, err := person.Catalog.CreatePlan(t.Context(), person.actor, catalog.ReadNewPlan(values("name", "Mensal", "value", "35.00", "period", "1month")))
	if err != nil {
		t.Fatal(err)
	}
	record, err := person.Customers.Create(t.Context(), person.actor, customer.ReadNew(values("name", "Ana", "plan_id", fmt.Sprint(plan.ID))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := person.Billing.SetStatus(t.Context(), person.actor, 1, billing.ReadStatusChange(values("status", "Pago"))); err != nil {
		t.Fatal(err)
	}
	before, err := person.Dashboard.Month(t.Context(), person.actor, dashboard.Question{})
	if err != nil || before.Revenue.Received == 0 {
		t.Fatalf("%+v, %v", before.Revenue, err)
	}
	if err := person.Customers.Delete(t.Context(), person.actor, record.ID); err != nil {
		t.Fatal(err)
	}
	after, err := person.Dashboard.Month(t.Context(), person.actor, dashboard.Question{})
	if err != nil {
		t.Fatal(err)
	}
	if after.Revenue.Received != before.Revenue.Received || after.Customers.New != before.Customers.New || after.Customers.NewDeleted != 1 ||
		*after.Customers.Renewed != *before.Customers.Renewed || after.Punctuality.OnTime != before.Punctuality.OnTime {
		t.Errorf("before %+v %+v %+v\nafter %+v %+v %+v", before.Revenue, before.Customers, before.Punctuality, after.Revenue, after.Customers, after.Punctuality)
	}
}
