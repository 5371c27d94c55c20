package panel

import (
	"html/template"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/event"
	"carteira/internal/payment"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/taxid"
	"carteira/internal/web/page"
	"carteira/internal/webhook"
)

// The templates of testdata/rows are what the rows were before they were written by
// hand, and what they are held against.
var rowTemplates = page.New(os.DirFS("testdata/rows"), tags, func(page.Lang) template.FuncMap {
	return template.FuncMap{"taxid": taxid.Format}
})

// hostileTexts leave the place where they are written unless they are escaped.
var hostileTexts = []string{
	"", "Ana", `"><script>alert(1)</script>`, `' onmouseover='x`, "a&b=c#d?e", "&lt;b&gt;", "</td></table>", "<!--", "\x00\xff\xc3<",
	"José + Ângela", "javascript:alert(1)", "%22%3e", "{{.}}", "`=/", "\u2028\ufdd0",
}

// allColumns shows every column of a list.
func allColumns() arrangement {
	shown := map[string]bool{}
	for _, name := range []string{
		"whatsapp", "email", "cpf_cnpj", "external_id", "plan", "product", "amount", "due_date", "status", "created_at", "updated_at",
		"number", "description", "paid_on", "through", "payment_id", "when", "attempts", "answer", "took",
	} {
		shown[name] = true
	}
	return arrangement{shown: shown}
}

// wantRows compares rows with their template in every language, for those who may
// do all and for those who may do nothing, with all columns and with none.
func wantRows[T interface{ Rows(page.View) template.HTML }](t *testing.T, name string, make func(arrangement) T) {
	t.Helper()
	all := frame{Staff: true, Desk: true}
	all.Company.Subscription.Functions = account.FunctionsOf(account.FunctionPayments)
	for _, lang := range page.Langs {
		for _, frame := range []frame{all, {Desk: true}, {}} {
			for _, arranged := range []arrangement{allColumns(), {}} {
				data := make(arranged)
				view := page.View{Name: name, Data: data, Frame: frame, Zone: time.UTC, Lang: lang}
				request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
				request.AddCookie(&http.Cookie{Name: "carteira_lang", Value: string(lang)})
				answer := httptest.NewRecorder()
				rowTemplates.Render(answer, request, view)
				want := strings.TrimSuffix(answer.Body.String(), "\n")
				want = emptyCell.ReplaceAllString(want, "></td>")
				if got := string(data.Rows(view)); got != want {
					at := 0
					for at < min(len(got), len(want)) && got[at] == want[at] {
						at++
					}
					from := max(0, at-60)
					t.Fatalf("%s differs at %d:\ngot  %.200q\nwant %.200q", name, at, got[from:], want[from:])
				}
			}
		}
	}
}

// emptyCell is a cell that the templates label though there is nothing in it.
var emptyCell = regexp.MustCompile(` data-label="[^"]*"></td>`)

var rowsToday = civil.MustParse("2026-02-01")

func TestRowsOfCustomersAreThoseOfTheirTemplate(t *testing.T) {
	data := customersData{Today: rowsToday, Query: `a=<">&b=ç +`, Owes: map[int64]money.Cents{1: 5, 2: math.MaxInt64}}
	data.Pager.From = 51
	for n, text := range hostileTexts {
		record := customer.Customer{
			ID: int64(n), Name: text, Usuario: text, Whatsapp: text, Email: text, CpfCnpj: text, ExternalID: text,
			DueOn: rowsToday.AddDays(n - 3), CreatedOn: rowsToday, UpdatedAt: time.Unix(int64(n), 0),
		}
		record.Plan.ID, record.Plan.Name, record.Plan.Value = int64(n%2), text, money.Cents(n)
		record.Product.Name = text
		if n%5 == 0 {
			record.CancelledAt = time.Unix(1, 0)
		}
		data.List = append(data.List, record)
	}
	wantRows(t, "customers", func(arranged arrangement) customersData {
		data.Arranged = arranged
		return data
	})
}

func TestRowsOfInvoicesAreThoseOfTheirTemplate(t *testing.T) {
	data := invoicesData{Today: rowsToday, Query: `a=<">&b=ç +`, Back: `/invoices?x='"<`}
	statuses := []billing.Status{billing.Open, billing.Paid, billing.Cancelled, "<odd>"}
	for n, text := range hostileTexts {
		record := billing.Invoice{
			ID: int64(n), Description: text, Status: statuses[n%len(statuses)], Amount: money.Cents(n * 1000),
			DueOn: rowsToday.AddDays(n/4 - 2), CreatedAt: time.Unix(int64(n), 0), UpdatedAt: time.Unix(int64(n), 0),
		}
		record.Customer.Name, record.Plan.Name = text, text
		data.List = append(data.List, record)
	}
	wantRows(t, "invoices", func(arranged arrangement) invoicesData {
		data.Arranged = arranged
		return data
	})
}

func TestRowsOfPaymentsAreThoseOfTheirTemplate(t *testing.T) {
	data := receivedData{list: list{Back: `/payments?x='"<`}}
	statuses := []billing.PaymentStatus{billing.PaymentApplied, billing.PaymentPartial, billing.PaymentReview, billing.PaymentDismissed, "<odd>"}
	for n, text := range hostileTexts {
		paid := payment.Payment{
			ID: text, CustomerName: text, InvoiceID: int64(n), Orphan: n%7 == 3, Amount: 100, Refund: money.Cents(50 * (n % 3)),
			Status: statuses[n%len(statuses)], ReviewID: int64(n % 2), PaidAt: time.Unix(int64(n), 0),
		}
		data.List = append(data.List, paymentRow{paid, text, text})
	}
	wantRows(t, "payments", func(arranged arrangement) receivedData {
		data.Arranged = arranged
		return data
	})
}

func TestRowsOfDeliveriesAreThoseOfTheirTemplate(t *testing.T) {
	data := webhookData{list: list{Query: `a=<">&b=ç +`}}
	for n, text := range hostileTexts {
		delivery := webhook.Delivery{
			ID: int64(n), Event: event.Name(text), Status: append(deliveryStatuses, "<odd>")[n%6], CreatedAt: time.Unix(int64(n), 0),
		}
		if n%3 > 0 {
			delivery.Attempts = []webhook.Attempt{{ResponseStatus: 200 * (n % 2), Duration: time.Duration(n) * time.Millisecond}}
		}
		data.List = append(data.List, deliveryRow{delivery})
	}
	wantRows(t, "deliveries", func(arranged arrangement) webhookData {
		data.Arranged = arranged
		return data
	})
}
