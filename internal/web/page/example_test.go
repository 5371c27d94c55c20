package page_test

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
	"carteira/internal/web/page"
)

//go:embed testdata/*.html
var files embed.FS // with the *, or files that begin with _ are left out

type debt struct {
	Amount    money.Cents
	DueOn     civil.Date
	CreatedAt time.Time
}

// What docs/panel.md shows of an edge of pages.
func Example() {
	templates, err := fs.Sub(files, "testdata")
	if err != nil {
		panic(err) // embedded
	}
	pages := page.New(templates)
	zone := time.FixedZone("", -3*3600)
	data := debt{3500, civil.Of(time.Date(2027, time.January, 31, 0, 0, 0, 0, zone)), time.Date(2027, time.January, 5, 12, 0, 0, 0, time.UTC)}

	show := func(w http.ResponseWriter, r *http.Request) {
		pages.Render(w, r, page.View{Name: "hello", Title: "Customers", Data: data, Zone: zone})
	}
	refuse := func(w http.ResponseWriter, r *http.Request) {
		pages.Fail(w, r, fault.NotFound("customer")) // the page of an error, by its kind
	}
	save := func(w http.ResponseWriter, r *http.Request) {
		page.Say(w, r, "Saved.")    // shown once, on the next page
		page.Go(w, r, "/customers") // 303
	}

	for _, handler := range []http.HandlerFunc{show, refuse, save} {
		answer := httptest.NewRecorder()
		handler(answer, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
		shown := regexp.MustCompile(`<p>R.*</p>`).FindString(strings.ReplaceAll(answer.Body.String(), "\u00a0", " "))
		fmt.Printf("%d%s%s\n", answer.Code, answer.Header().Get("Location"), shown)
	}
	// Output:
	// 200<p>R$ 35,00, 31/01/2027, 05/01/2027 09:00</p>
	// 404
	// 303/customers
}
