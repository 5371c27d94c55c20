package panel

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"carteira/internal/customer"
	"carteira/internal/platform/address"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
	"carteira/test/kit/housetest"
)

// The fields of a customer that a page or a file does not show, each with a
// reason.
var (
	notOnPage = map[string]string{
		"Autopay":      "the part of PIX Automático shows it, from what the payment room knows",
		"ID":           "of the path",
		"UUID":         "for programs",
		"OwnDay":       "follows from the due date",
		"UpdatedAt":    "the history has every change",
		"CancelReason": "shown with the day of the cancellation",
	}
	notInForm = map[string]string{
		"Autopay":      "the payment room's, never typed",
		"Credit":       "money that came makes it, never typed",
		"ID":           "of the path",
		"UUID":         "made once, never changed",
		"OwnDay":       "follows from the due date",
		"CreatedAt":    "not to be changed",
		"UpdatedAt":    "not to be changed",
		"CancelledAt":  "a cancellation has its own form",
		"CancelReason": "a cancellation has its own form",
	}
	notExported = map[string]string{
		"Autopay":      "an import asks nobody for an authorisation",
		"Credit":       "an import would invent money; the file of payments has it",
		"ID":           "an import would give another",
		"UUID":         "an import would give another",
		"OwnDay":       "follows from the due date",
		"CreatedAt":    "an import is another creation",
		"UpdatedAt":    "an import is another change",
		"Custom":       "each company has other names, a file has one header for all",
		"CancelReason": "an import takes no cancelled customers; status shows who is",
	}
)

// differs reports whether a customer is shown otherwise than an empty one.
func differs(show func(customer.Customer) string) func(customer.Customer) bool {
	empty := show(customer.Customer{})
	return func(record customer.Customer) bool { return show(record) != empty }
}

func TestEveryFieldOfACustomerIsOnItsPagesAndExported(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	var full customer.Customer
	housetest.Fill(t, &full, civil.MustParse("2026-01-31"), customer.NewCustom(map[string]string{"mac": "00"}),
		customer.Price{Amount: 1, Own: true}, address.Address{City: "Santos"},
		customer.Plan{ID: 1, Name: "Mensal", Value: 3500}, customer.Product{ID: 1, Name: "Fibra"})
	req := &kit.Request{Request: httptest.NewRequest(http.MethodGet, "/", http.NoBody), Lang: page.English, Today: civil.MustParse("2026-01-31")}
	render := func(view page.View) string {
		shown := httptest.NewRecorder()
		view.Frame = kit.Frame{}
		office.Pages.Render(shown, req.Request, view)
		if shown.Code != http.StatusOK {
			t.Fatalf("%s: %d\n%s", view.Name, shown.Code, shown.Body)
		}
		return shown.Body.String()
	}

	housetest.EachField(t, full, notOnPage, differs(func(record customer.Customer) string {
		return render(page.View{Name: "customer", Data: newCustomerData(req, record)})
	}), "the customer's page does not show it (templates/customer.html)")

	housetest.EachField(t, full, notInForm, differs(func(record customer.Customer) string {
		return render(page.View{Name: "customer_form", Data: customerForm{RecordForm: kit.RecordForm{Form: customerValues(record)}, Texts: textFields(req.Lang, &record)}})
	}), "the form does not have it (customerValues, templates/customer_form.html)")

	housetest.EachField(t, full, notExported, differs(func(record customer.Customer) string {
		return strings.Join(csvRow(customerColumns(req.Today), &record), ";")
	}), "the exported file does not have it (customerColumns)")
}
