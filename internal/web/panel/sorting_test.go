package panel

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/housetest"
	"carteira/internal/platform/sqldb"
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
	eachOffice(t, func(t *testing.T, office *office) {
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
	eachOffice(t, func(t *testing.T, office *office) {
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
