package api

import (
	"fmt"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

type paymentAnswer struct {
	ID             int64
	Amount         string
	RefundedAmount string `json:"refunded_amount"`
	PaidVia        string `json:"paid_via"`
	Status         string
	Note           *string
	Refunds        []struct {
		Amount     string
		RefundedOn string `json:"refunded_on"`
		By         *string
		Note       *string
	}
	Invoice *struct {
		ID     int64
		Status string
	}
	Customer struct {
		ID   int64
		UUID *string
		Name string
	}
}

// ledgerOf is a caller with three payments: a part in cash, the rest by PIX, and
// one of another customer.
func ledgerOf(t *testing.T, engine sqldb.Engine) *caller {
	t.Helper()
	caller := newService(t, engine).newCaller(t)
	for _, name := range []string{"Ana", "Bia"} {
		caller.create(t, fmt.Sprintf(`{"name":%q,"plan_id":1,"data_de_vencimento":"2026-01-31"}`, name))
	}
	for _, pay := range []struct{ id, body string }{
		{"1", `{"status":"Pago","amount":"20.00","difference":"partial","paid_via":"cash","paid_at":"2026-01-20"}`},
		{"1", `{"status":"Pago","paid_via":"pix","note":"E123"}`},
		{"2", `{"status":"Pago"}`},
	} {
		data[any](t, caller.call(t, "POST", "/invoices/"+pay.id+"/status", pay.body))
	}
	return caller
}

func TestPaymentsAreListedAndFiltered(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := ledgerOf(t, engine)
		for query, want := range map[string]string{
			"":                            "[3 2 1]",
			"customer_id=1":               "[2 1]",
			"invoice_id=2":                "[3]",
			"paid_via=cash":               "[1]",
			"paid_via=shells":             "[]",
			"status=partial":              "[1]",
			"status=applied&paid_via=pix": "[2]",
			"from=2026-01-21":             "[3 2]",
			"to=2026-01-20":               "[1]",
			"per_page=1&page=2":           "[2]",
			"status=refunded":             "[]",
		} {
			answer := caller.call(t, "GET", "/payments?"+query, "")
			var ids []int64
			for _, p := range data[[]paymentAnswer](t, answer) {
				ids = append(ids, p.ID)
			}
			if got := fmt.Sprint(ids); got != want {
				t.Errorf("%s: %s, want %s", query, got, want)
			}
		}
		caller.call(t, "GET", "/payments?status=lost", "").want(t, 422, "status: must be one of: applied, partial, review, refunded, dismissed, credit")
		got := data[paymentAnswer](t, caller.call(t, "GET", "/payments/2", ""))
		if got.Amount != "15.00" || got.PaidVia != "pix" || *got.Note != "E123" || got.Invoice.Status != "Pago" || got.Customer.Name != "Ana" {
			t.Errorf("payment 2 is %+v", got)
		}
		caller.call(t, "GET", "/payments/9", "").want(t, 404, "payment not found")
	})
}

func TestRefundIsBookedOnce(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := ledgerOf(t, engine)
		for body, want := range map[string]string{
			`{"amount":"15.01"}`:           "amount: must be more than zero and not more than the 15.00 that are left of the payment",
			`{"amount":"0.00"}`:            "amount: must be more than zero",
			`{"refunded_on":"2026-02-01"}`: "refunded_on: must not be in the future",
			`{"refunded_at":"2026-01-30"}`: "refunded_on: must not be before the payment, 2026-01-31",
			`{"effect":"other"}`:           "effect: must be one of: reopen, discount",
			`{"amuont":"1.00"}`:            "amuont: unknown field; did you mean amount?",
		} {
			caller.call(t, "POST", "/payments/2/refund", body).want(t, 422, want)
		}
		got := data[paymentAnswer](t, caller.call(t, "POST", "/payments/2/refund", `{"amount":"5.00","note":"Sent back"}`))
		if got.RefundedAmount != "5.00" || got.Status != "applied" || got.Invoice.Status != "Pago" {
			t.Errorf("a part: %+v", got)
		}
		if of := got.Refunds; len(of) != 1 || of[0].Amount != "5.00" || of[0].RefundedOn != "2026-01-31" || *of[0].Note != "Sent back" || of[0].By == nil {
			t.Errorf("the refunds are %+v", of)
		}
		caller.call(t, "POST", "/payments/2/undo", "").want(t, 422, "payment: a part of it was given back; give back the rest instead")
		if got = data[paymentAnswer](t, caller.call(t, "POST", "/payments/2/refund", "")); got.RefundedAmount != "15.00" || got.Status != "refunded" {
			t.Errorf("the rest: %+v", got)
		}
		if due := data[record](t, caller.call(t, "GET", "/customers/1", "")); *due.DueDate != "2026-01-31" {
			t.Errorf("the renewal stands: %s", *due.DueDate)
		}
		caller.call(t, "POST", "/payments/2/refund", "").want(t, 422, "payment: was given back already")
		if got = data[paymentAnswer](t, caller.call(t, "POST", "/payments/1/undo", "")); got.Status != "dismissed" {
			t.Errorf("the part that was undone: %+v", got)
		}
		for query, want := range map[string]int{"": 2, "?invoice_id=1": 1, "?status=dismissed": 1} { // what was undone only where it is asked for
			answer := caller.call(t, "GET", "/payments"+query, "")
			if list := data[[]paymentAnswer](t, answer); len(list) != want || !strings.Contains(answer.body, fmt.Sprintf(`"total":%d`, want)) {
				t.Errorf("%q: %d payments, want %d: %s", query, len(list), want, answer.body)
			}
		}
		data[any](t, caller.call(t, "POST", "/invoices/2/status", `{"status":"Em aberto"}`))
		caller.call(t, "POST", "/payments/3/refund", "").want(t, 422, "payment: does not count: it was undone or dismissed")
		caller.call(t, "DELETE", "/customers/1", "")
		if got = data[paymentAnswer](t, caller.call(t, "GET", "/payments/1", "")); got.Invoice != nil || got.Customer.UUID != nil || got.Customer.Name != "Ana" {
			t.Errorf("of a deleted customer: %+v", got)
		}
	})
}

func TestInvoiceIsCreatedAndEdited(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		caller.create(t, `{"name":"Ana","plan_id":1,"data_de_vencimento":"2026-02-10"}`)
		for body, want := range map[string]string{
			`{}`:                                   "customer_id: is required",
			`{"customer_id":9}`:                    "customer_id: does not exist",
			`{"customer_id":1,"total_amount":"0"}`: "total_amount: must be more than zero",
			`{"customer_id":1,"renews":true}`:      "due_date: has invoice 1, which is Em aberto",
			`{"customer_id":1,"amount":"1.00"}`:    "amount: unknown field",
		} {
			if answer := caller.call(t, "POST", "/invoices", body); answer.status != 422 || !strings.Contains(answer.body, want) {
				t.Errorf("%s: %d %s, want %s", body, answer.status, answer.body, want)
			}
		}
		made := data[invoiceAnswer](t, caller.call(t, "POST", "/invoices", `{"customer_id":1,"total_amount":"50.00","description":"Visita"}`))
		if made.ID != 2 || made.TotalAmount != "50.00" || made.DueDate != "2026-01-31" {
			t.Errorf("made %+v", made)
		}
		read := caller.call(t, "GET", "/invoices/1", "")
		body := strings.TrimSuffix(strings.TrimPrefix(read.body, `{"success":true,"data":`), `}`)
		if answer := caller.call(t, "PUT", "/invoices/1", body); answer.body != read.body {
			t.Errorf("sent back: %d %s\nread %s", answer.status, answer.body, read.body)
		}
		edited := data[invoiceAnswer](t, caller.call(t, "PUT", "/invoices/1", `{"total_amount":"30.00","due_date":"2026-02-12"}`))
		if edited.TotalAmount != "30.00" || edited.DueDate != "2026-02-12" {
			t.Errorf("edited %+v", edited)
		}
		data[any](t, caller.call(t, "POST", "/invoices/1/status", `{"status":"Cancelado"}`))
		caller.call(t, "PUT", "/invoices/1", `{"total_amount":"31.00"}`).
			want(t, 422, "status: this invoice is Cancelado; only one that is Em aberto can be changed")
		again := data[invoiceAnswer](t, caller.call(t, "POST", "/invoices", `{"customer_id":1,"renews":true}`))
		if again.TotalAmount != "35.00" || again.DueDate != "2026-02-10" {
			t.Errorf("issued again %+v", again)
		}
	})
}

type invoiceAnswer struct {
	ID          int64
	TotalAmount string `json:"total_amount"`
	DueDate     string `json:"due_date"`
}

func TestMoneyInReviewIsAppliedKeptOrDismissed(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := ledgerOf(t, engine)
		kept := caller.reviewed(t, "apply")
		for body, want := range map[string]string{
			`{}`:                               "invoice_id: is required: the invoice that it pays, or credit: true",
			`{"credit":true,"invoice_id":1}`:   "credit: must not be true with an invoice_id: it is the one or the other",
			`{"invoice_id":99}`:                "invoice_id: must be an open invoice of the customer who paid",
			`{"invoice_id":1,"amuont":"1.00"}`: "amuont: unknown field",
		} {
			caller.call(t, "POST", kept, body).want(t, 422, want)
		}
		if got := data[paymentAnswer](t, caller.call(t, "POST", kept, `{"credit":true}`)); got.Status != "credit" {
			t.Errorf("kept: %+v", got)
		}
		if got := data[struct{ Credit string }](t, caller.call(t, "GET", "/customers/1", "")); got.Credit != "35.00" {
			t.Errorf("the customer's credit is %q", got.Credit)
		}
		caller.call(t, "POST", kept, `{"credit":true}`).want(t, 422, "payment: does not wait for a decision: it is credit")
		caller.call(t, "POST", "/payments/1/apply", `{"credit":true}`).want(t, 422, "payment: does not wait for a decision: it is partial")
		extra := data[struct{ ID int64 }](t, caller.call(t, "POST", "/invoices", `{"customer_id":1,"total_amount":"20.00"}`)).ID
		spent := data[paymentAnswer](t, caller.call(t, "POST", kept, fmt.Sprintf(`{"invoice_id":%d}`, extra)))
		if spent.PaidVia != "credit" || spent.Amount != "20.00" || spent.Invoice.Status != "Pago" {
			t.Errorf("credit paid: %+v", spent)
		}
		other := data[struct{ ID int64 }](t, caller.call(t, "POST", "/invoices", `{"customer_id":1,"total_amount":"35.00"}`)).ID
		twice := strings.Replace(caller.reviewed(t, "again"), "/again", "/apply", 1)
		got := data[paymentAnswer](t, caller.call(t, "POST", twice, fmt.Sprintf(`{"invoice_id":%d}`, other)))
		if got.Status != "applied" || got.Invoice.ID != other || got.Invoice.Status != "Pago" {
			t.Errorf("applied elsewhere: %+v", got)
		}
		gone := caller.reviewed(t, "dismiss")
		caller.call(t, "POST", gone, `{}`).want(t, 422, "note: is required")
		if got := data[paymentAnswer](t, caller.call(t, "POST", gone, `{"note":"ours"}`)); got.Status != "dismissed" {
			t.Errorf("dismissed: %+v", got)
		}
	})
}

// A company that moves does not move the day of its money: payment and invoice are
// of one day before and after, and so is the event.
func TestPaymentAndInvoiceAreOfOneDayWhereverTheCompanyMoves(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := ledgerOf(t, engine)
		type paid struct {
			PaidAt string `json:"paid_at"`
		}
		want := data[paid](t, caller.call(t, "GET", "/invoices/2", "")).PaidAt
		for _, zone := range []string{"Pacific/Auckland", "America/Rio_Branco"} {
			_, err := caller.Accounts.SetCompany(t.Context(), caller.actor, account.ReadCompanyDraft(values("timezone", zone)))
			must(t, err)
			for _, path := range []string{"/invoices/2", "/payments/3"} {
				if got := data[paid](t, caller.call(t, "GET", path, "")).PaidAt; got != want {
					t.Errorf("%s: %s was paid at %s, want %s", zone, path, got, want)
				}
			}
		}
	})
}
