package panel

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/sqldb"
	"carteira/internal/reseller"
	"carteira/test/kit/housetest"
)

var (
	namesInList = regexp.MustCompile(`<a class="name[^"]*" id="[ci][0-9]+" href="([^"]*)">([^<]*)</a>`)
	headsInList = regexp.MustCompile(`<th aria-sort="([a-z]+)"><a class="sorted" href="([^"]*)">([^<]*)<`)
)

// firstNames are the first names of a list's records, from top to bottom.
func (a answer) firstNames() string {
	var names []string
	for _, found := range namesInList.FindAllStringSubmatch(a.body, -1) {
		first, _, _ := strings.Cut(html.UnescapeString(found[2]), " ")
		names = append(names, first)
	}
	return strings.Join(names, ", ")
}

// head is where the head of a column leads, and its aria-sort.
func (a answer) head(t *testing.T, label string) (link, aria string) {
	t.Helper()
	for _, found := range headsInList.FindAllStringSubmatch(a.body, -1) {
		if found[3] == label {
			return html.UnescapeString(found[2]), found[1]
		}
	}
	t.Fatalf("no head %s:\n%s", label, a.body)
	return "", ""
}

// sortedOffice has four customers; all but the last owe an invoice.
func sortedOffice(t *testing.T, office *office) *person {
	t.Helper()
	person := office.owner(t, "ana@example.com")
	for _, pairs := range [][]string{
		{"name", "Carla Lima", "data_de_vencimento", "2026-03-01"},
		{"name", "álvaro Lima", "data_de_vencimento", "2026-03-20"},
		{"name", "Bruno Lima", "data_de_vencimento", "2026-03-10"},
		{"name", "Dora Lima"},
	} {
		record, err := office.Customers.Create(t.Context(), person.actor, customer.ReadNew(values(pairs...)))
		housetest.Must(t, err)
		if record.DueOn.IsZero() {
			continue
		}
		_, err = office.Billing.CreateExtra(t.Context(), person.actor, record.ID,
			billing.ReadExtra(values("amount", "7.00", "due", record.DueOn.String())))
		housetest.Must(t, err)
	}
	return person
}

// Three clicks on a head: upwards, downwards, and the newest first again. The
// filter stays.
func TestColumnHeadsSortTheLists(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := sortedOffice(t, office)
		for _, list := range []struct{ path, label, newest, upwards, downwards string }{
			{"/customers", "Nome", "Dora, Bruno, álvaro, Carla", "álvaro, Bruno, Carla, Dora", "Dora, Carla, Bruno, álvaro"},
			{"/customers", "Vencimento", "Dora, Bruno, álvaro, Carla", "Carla, Bruno, álvaro, Dora", "álvaro, Bruno, Carla, Dora"},
			{"/invoices", "Cliente", "Bruno, álvaro, Carla", "álvaro, Bruno, Carla", "Carla, Bruno, álvaro"},
			{"/invoices", "Vencimento", "Bruno, álvaro, Carla", "Carla, Bruno, álvaro", "álvaro, Bruno, Carla"},
		} {
			path := list.path + "?search=lima&page=1"
			for _, want := range [][2]string{
				{"none", list.newest}, {"ascending", list.upwards}, {"descending", list.downwards}, {"none", list.newest},
			} {
				shown := person.get(path).want(t, http.StatusOK)
				link, aria := shown.head(t, list.label)
				if aria != want[0] || shown.firstNames() != want[1] {
					t.Errorf("%s: %s, %s; want %v", path, aria, shown.firstNames(), want)
				}
				if path = link; !strings.Contains(link, "search=lima") || strings.Contains(link, "page=") {
					t.Errorf("the head leads to %s", link)
				}
			}
		}
	})
}

func TestOrderOfAListStaysOnTheWayThroughIt(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := sortedOffice(t, office)
		list := person.get("/customers?sort=name&search=lima&per_page=2").want(t, http.StatusOK,
			`name="sort" value="name"`,                            // the forms of the search and of more filters
			`page=2&amp;per_page=2&amp;search=lima&amp;sort=name`, // the next page
			`search=lima&amp;sort=name&amp;status=Ativo`,          // a filter of one click
		)
		second := html.UnescapeString(namesInList.FindAllStringSubmatch(list.body, -1)[1][1])
		person.get(second).want(t, http.StatusOK, "Bruno Lima",
			`href="/customers?per_page=2&amp;search=lima&amp;sort=name"`, // back to the list as it was
			"at=1", "at=3")
		third := regexp.MustCompile(`href="([^"]*at=3[^"]*)" rel="next"`).FindStringSubmatch(person.get(second).body)
		if third == nil {
			t.Fatal("no neighbour")
		}
		person.get(html.UnescapeString(third[1])).want(t, http.StatusOK, "<h1>Carla Lima", "sort=name") // by name, not by number
	})
}

func TestOrderOfNobodysMakingIsTheUsualOne(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	person := sortedOffice(t, office)
	for _, path := range []string{"/customers?sort=password", "/customers?sort=--name", "/customers?sort=-"} {
		if names := person.get(path).want(t, http.StatusOK).firstNames(); names != "Dora, Bruno, álvaro, Carla" {
			t.Errorf("%s: %s", path, names)
		}
	}
}

var (
	linkedNames = regexp.MustCompile(`<a class="name[^"]*"[^>]*>([^<]*)</a>`)
	rowsInList  = regexp.MustCompile(`(?s)<tbody>.*</tbody>|<ul class="plainlist">.*?</ul>`)
)

// names are the names of a list's records, from top to bottom.
func (a answer) names() string {
	var names []string
	for _, found := range linkedNames.FindAllStringSubmatch(a.body, -1) {
		names = append(names, html.UnescapeString(found[1]))
	}
	return strings.Join(names, ", ")
}

func TestPaymentsAreSortedByTheirDay(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := sortedOffice(t, office)
		for id, day := range []string{"2026-01-20", "2026-01-05", "2026-01-31"} {
			person.post(fmt.Sprintf("/invoices/%d/pay", id+1), "paid_via", "cash", "amount", "7,00", "paid_at", day)
		}
		path := "/payments?status=applied&page=1"
		for _, want := range [][2]string{
			{"descending", "Bruno Lima, Carla Lima, álvaro Lima"},
			{"none", "Bruno Lima, álvaro Lima, Carla Lima"},
			{"ascending", "álvaro Lima, Carla Lima, Bruno Lima"},
			{"descending", "Bruno Lima, Carla Lima, álvaro Lima"},
		} {
			shown := person.get(path).want(t, http.StatusOK)
			link, aria := shown.head(t, "Recebido em")
			if aria != want[0] || shown.names() != want[1] {
				t.Errorf("%s: %s, %s; want %v", path, aria, shown.names(), want)
			}
			path = link
		}
	})
}

func TestResellersAreSortedInThePanel(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person, _ := office.seller(t, "ana@example.com")
		for _, name := range []string{"Gama", "álamo", "Beta"} {
			_, err := office.Resellers.Create(t.Context(), person.actor, reseller.ReadNewReseller(values("name", name, "email", "x"+name+"@example.com")))
			housetest.Must(t, err)
		}
		shown := person.get("/resellers?sort=name&per_page=2").want(t, http.StatusOK, `rel="next"`)
		if names := shown.names(); names != "álamo, Beta" {
			t.Error(names)
		}
		person.get("/resellers?sort=-name").want(t, http.StatusOK)
		second := regexp.MustCompile(`href="(/resellers/\d+\?[^"]*at=2)"`).FindStringSubmatch(shown.body)
		person.get(html.UnescapeString(second[1])).want(t, http.StatusOK, "<h1>Beta", "at=1", "at=3") // by name
	})
}

// Lists in the order of time have the oldest first after a click on their head.
func TestListsOfWhatHappenedBeginAtEitherEnd(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person, _ := office.seller(t, "ana@example.com")
		ids := person.fill()
		for _, path := range []string{"/settings/audit", "/credits", fmt.Sprintf("/webhooks/%d", ids["webhooks"])} {
			newest := person.get(path).want(t, http.StatusOK, "sort=id")
			oldest := person.get(path+"?sort=id").want(t, http.StatusOK)
			if rowsInList.FindString(newest.body) == "" {
				t.Errorf("%s is empty", path)
			}
			strip := func(text string) []string {
				rows := regexp.MustCompile(`(?s)<(tr|li)>.*?</(tr|li)>`).FindAllString(rowsInList.FindString(text), -1)
				for n, row := range rows {
					rows[n] = regexp.MustCompile(`(?s)<[^>]*>|from=[^"]*`).ReplaceAllString(row, "")
				}
				return rows
			}
			down, up := strip(newest.body), strip(oldest.body)
			slices.Reverse(up)
			if !slices.Equal(down, up) {
				t.Errorf("%s:\n%q\n%q", path, down, up)
			}
		}
	})
}
