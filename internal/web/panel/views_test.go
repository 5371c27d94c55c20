package panel

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/web/panel/kit"
)

func TestViewsOfAListAreSavedAndDeleted(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := sortedOffice(t, office)
		colleague := person.colleague(account.RoleReadOnly)
		const address = "/customers?search=lima&sort=name&page=2"
		query := regexp.MustCompile(`name="query" value="([^"]*)"`).FindStringSubmatch(person.get(address).want(t, http.StatusOK).body)
		if query == nil || strings.Contains(query[1], "page") {
			t.Fatalf("the form would save %v", query)
		}
		saved := person.post("/views", "list", "customers", "view", "Os <Lima>", "query", strings.ReplaceAll(query[1], "&amp;", "&"), "back", address)
		if saved.location != "/customers?search=lima&sort=name" {
			t.Errorf("saving led to %d %s", saved.status, saved.location)
		}
		list := person.get(saved.location).want(t, http.StatusOK, "A visão Os &lt;Lima&gt; foi salva.", `aria-current="true">Os &lt;Lima&gt;</a>`)
		if names := list.firstNames(); names != "álvaro, Bruno, Carla, Dora" {
			t.Error(names)
		}
		person.get("/invoices").want(t, http.StatusOK).lacks(t, "Os &lt;Lima&gt;")
		colleague.get("/customers").want(t, http.StatusOK).lacks(t, "Os &lt;Lima&gt;")

		remove := regexp.MustCompile(`/views/\d+/delete`).FindString(list.body)
		colleague.post(remove).want(t, http.StatusNotFound)
		person.follow(remove, "back", address).want(t, http.StatusOK, "A visão Os &lt;Lima&gt; foi excluída.").lacks(t, remove)
		person.follow("/views", "list", "customers", "view", " ", "query", "", "back", address).want(t, http.StatusOK, "é obrigatório")
		person.post("/views", "list", "customers", "view", "x", "query", "%zz").want(t, http.StatusUnprocessableEntity)
		if led := colleague.post("/views", "list", "invoices", "view", "Mine", "query", "").location; led != "/invoices" { // who only reads has views, too
			t.Errorf("led to %s", led)
		}
	})
}

func TestColumnsOfAListAreChosen(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := sortedOffice(t, office)
		heads := func(path string) string {
			t.Helper()
			head := regexp.MustCompile(`(?s)<thead>.*</thead>`).FindString(person.get(path).want(t, http.StatusOK).body)
			return strings.Join(strings.Fields(regexp.MustCompile(`(?s)<svg.*?</svg>|<[^>]*>`).ReplaceAllString(head, " ")), " ")
		}
		usual := heads("/customers")
		if usual != "Nome WhatsApp Plano Valor Vencimento Situação Ações" {
			t.Error(usual)
		}
		for list, columns := range map[account.List][]kit.ListColumn{account.CustomerList: kit.ColumnsOfCustomers, account.InvoiceList: kit.ColumnsOfInvoices} {
			path := "/" + string(list)
			for _, column := range columns {
				led := person.post("/columns", "list", string(list), "columns", column.Name, "back", path+"?sort=name").location
				if led != path+"?sort=name" {
					t.Errorf("led to %s", led)
				}
				if got := heads(path); len(strings.Fields(got)) > 6 {
					t.Errorf("%s alone: %s", column.Name, got)
				}
			}
		}
		person.post("/columns", "list", "customers", "columns", "updated_at", "columns", "email", "columns", "password_hash")
		if got := heads("/customers"); got != "Nome E-mail Última alteração Ações" {
			t.Error(got)
		}
		person.get("/customers?"+url.Values{"sort": {"-updated_at"}}.Encode()).want(t, http.StatusOK, `aria-sort="descending"`, `value="email" checked`)
		person.post("/columns", "list", "customers") // none: the usual ones
		if got := heads("/customers"); got != usual {
			t.Error(got)
		}
	})
}

var arranging = regexp.MustCompile(`(?s)<form[^>]* action="/(views|columns)[^"]*">.*?</form>`)

// unarranged is a page without the forms by which everybody arranges lists.
func unarranged(body string) string { return arranging.ReplaceAllString(mainOf(body), "") }

// A column that is left out leaves the head and every row alike.
func TestEveryListHasViewsAndColumns(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person, _ := office.seller(t, "ana@example.com")
		ids := person.fill()
		head, row := regexp.MustCompile(`(?s)<thead>.*?</thead>`), regexp.MustCompile(`(?s)<tbody><tr>.*?</tr>`)
		for _, list := range account.Lists {
			path := "/" + string(list)
			if list == account.DeliveryList {
				path = fmt.Sprintf("/webhooks/%d", ids["webhooks"])
			}
			person.post("/views", "list", string(list), "view", "Minha", "query", "sort=-id", "back", path)
			person.get(path+"?sort=-id").want(t, http.StatusOK, `aria-current="true">Minha</a>`, `action="/columns"`)
			for _, column := range kit.ColumnsOf[list] {
				person.post("/columns", "list", string(list), "columns", column.Name, "back", path)
				body := person.get(path).want(t, http.StatusOK, `value="`+column.Name+`" checked`).body
				heads, cells := strings.Count(head.FindString(body), "<th"), strings.Count(row.FindString(body), "<td")
				if heads--; cells == 0 || heads != cells { // thead begins as th does
					t.Errorf("%s with %s alone has %d heads over %d cells", path, column.Name, heads, cells)
				}
			}
		}
	})
}
