package payment

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// pageCode shares a customer's page and returns the code of its address.
func (w *world) pageCode(t *testing.T, customerID int64) string {
	t.Helper()
	link, err := w.ShareCustomerPage(t.Context(), account.Operator(w.actor.Company), customerID)
	must(t, err)
	return strings.TrimPrefix(link.URL, "https://pay.example.com/my/")
}

func TestCustomerPageShowsWhatIsOwedAndWhatWasPaid(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		invoice := w.invoice(t)
		ana := invoice.Customer.ID
		_, err := w.invoices.SetStatus(t.Context(), w.actor, invoice.ID, billing.ReadStatusChange(values("status", "Pago")))
		must(t, err)
		_, err = w.invoices.CreateExtra(t.Context(), w.actor, ana, billing.ReadExtra(values("amount", "10.00", "due", "2026-02-20")))
		must(t, err)
		_, err = w.invoices.CreateExtra(t.Context(), w.actor, ana, billing.ReadExtra(values("amount", "5.00", "due", "2026-01-15")))
		must(t, err)
		shown, err := w.CustomerPage(t.Context(), w.pageCode(t, ana))
		must(t, err)
		if len(shown.Open) < 2 || len(shown.Settled) != 1 || shown.Settled[0].ID != invoice.ID || shown.Customer.Name != "Ana Lima" {
			t.Fatalf("%+v", shown)
		}
		total := shown.Open[0].Due.Rest
		for n, open := range shown.Open[1:] {
			total += open.Due.Rest
			if open.ID < shown.Open[n].ID {
				t.Error("the newest comes first")
			}
		}
		if shown.Total != total {
			t.Errorf("total %d, want %d", shown.Total, total)
		}
	})
}

func TestWithdrawnCustomerPageLeadsNowhereAndTheNextHasAnotherAddress(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ana, operator := w.invoice(t).Customer.ID, account.Operator(w.actor.Company)
		first := w.pageCode(t, ana)
		if again := w.pageCode(t, ana); again != first {
			t.Errorf("sharing twice made %s and %s", first, again)
		}
		must(t, w.WithdrawCustomerPage(t.Context(), operator, ana))
		must(t, w.WithdrawCustomerPage(t.Context(), operator, ana)) // closed already
		if _, err := w.CustomerPage(t.Context(), first); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("a withdrawn page answers %v", err)
		}
		link, err := w.CustomerPageLink(t.Context(), operator, ana)
		if must(t, err); link.URL != "" {
			t.Errorf("there is still %s", link.URL)
		}
		if second := w.pageCode(t, ana); second == first {
			t.Error("the withdrawn address works again")
		}
		for action, want := range map[string]int64{"customer.page_shared": 2, "customer.page_withdrawn": 1} {
			got, err := sqldb.Value[int64](t.Context(), w.db, `SELECT count(*) FROM audit_log WHERE company_id = ? AND action = ? AND record_id = ?`,
				w.actor.Company.ID, action, ana)
			if must(t, err); got != want {
				t.Errorf("%d lines %s, want %d", got, action, want)
			}
		}
	})
}

func TestCustomerPageOpensNobodyElsesInvoices(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		mine, other := w.invoice(t), w.invoice(t)
		code := w.pageCode(t, mine.Customer.ID)
		if _, _, err := w.CustomerInvoice(t.Context(), code, other.ID); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("the invoice of another customer: %v", err)
		}
		if _, err := w.CustomerPayURL(t.Context(), code, other.ID); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("the payment of another customer: %v", err)
		}
		path, err := w.CustomerPayURL(t.Context(), code, mine.ID)
		must(t, err)
		page, err := w.Page(t.Context(), strings.TrimPrefix(path, "/pay/"))
		if must(t, err); page.Invoice.ID != mine.ID {
			t.Errorf("leads to invoice %d", page.Invoice.ID)
		}
		stranger := w.newCompany(t)
		if _, err := w.ShareCustomerPage(t.Context(), stranger, mine.Customer.ID); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("another company shares the page: %v", err)
		}
		if err := w.WithdrawCustomerPage(t.Context(), stranger, mine.Customer.ID); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("another company withdraws the page: %v", err)
		}
	})
}

func TestCustomerPageGoesWithItsCustomer(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ana := w.invoice(t).Customer.ID
		code := w.pageCode(t, ana)
		must(t, w.customers.Delete(t.Context(), w.actor, ana))
		if _, err := w.CustomerPage(t.Context(), code); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("the page of a customer who is gone answers %v", err)
		}
	})
}

func TestTwoProcessesThatShareAPageMakeOneAddress(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ana, second := w.invoice(t).Customer.ID, w.process(t)
		links, failures := [2]CustomerLink{}, [2]error{}
		var done sync.WaitGroup
		for n, process := range []*world{w, second} {
			done.Go(func() {
				links[n], failures[n] = process.ShareCustomerPage(t.Context(), account.Operator(w.actor.Company), ana)
			})
		}
		done.Wait()
		if failures != ([2]error{}) || links[0].URL != links[1].URL {
			t.Errorf("%v, %v", links, failures)
		}
	})
}

func TestCustomerPageShowsABoundedNumberOfInvoices(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		record, err := w.customers.Create(t.Context(), w.actor, customer.ReadNew(values("name", "Bia")))
		must(t, err)
		for n := range customerPageInvoices + 2 {
			_, err := w.invoices.CreateExtra(t.Context(), w.actor, record.ID, billing.ReadExtra(values("amount", "1.00", "due", "2026-02-01", "description", fmt.Sprint(n))))
			must(t, err)
		}
		shown, err := w.CustomerPage(t.Context(), w.pageCode(t, record.ID))
		if must(t, err); len(shown.Open) != customerPageInvoices || !shown.More {
			t.Errorf("%d invoices, more %t", len(shown.Open), shown.More)
		}
	})
}
