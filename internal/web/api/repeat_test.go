package api

import (
	"fmt"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

func TestRepeatedKeyGivesTheFirstAnswer(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		const ana = `{"name":"Ana","plan_id":1}`
		first := caller.call(t, "POST", "/customers", ana, "Idempotency-Key", "k")
		caller.clock.Advance(time.Hour)
		again := caller.call(t, "POST", "/customers", ana, "Idempotency-Key", "k")
		if first.status != 200 || again.status != 200 || again.body != first.body {
			t.Errorf("first %d %s\nagain %d %s", first.status, first.body, again.status, again.body)
		}
		if first.header.Get("Idempotency-Replayed") != "" || again.header.Get("Idempotency-Replayed") != "true" {
			t.Error("the repeat, and only it, says that it is one")
		}
		if n := caller.count(t, `SELECT count(*) FROM customers`); n != 1 {
			t.Errorf("%d customers, want one", n)
		}

		const other = "Idempotency-Key: was used for another request; use a new key for each request"
		caller.call(t, "POST", "/customers", `{"name":"Bia"}`, "Idempotency-Key", "k").want(t, 422, other)
		caller.call(t, "POST", "/customers?_=1", ana, "Idempotency-Key", "k").want(t, 422, other)
		caller.call(t, "POST", "/customers/1/renew-due-date", "", "Idempotency-Key", "k").want(t, 422, other)

		refused := caller.call(t, "POST", "/customers", `{}`, "Idempotency-Key", "bad").want(t, 422, "name: is required")
		if again := caller.call(t, "POST", "/customers", `{}`, "Idempotency-Key", "bad"); again.body != refused.body {
			t.Errorf("a refusal was repeated as %s", again.body)
		}

		renewed := caller.call(t, "POST", "/customers/1/renew-due-date", "", "Idempotency-Key", "r")
		if again := caller.call(t, "POST", "/customers/1/renew-due-date", "", "Idempotency-Key", "r"); again.body != renewed.body || renewed.status != 200 {
			t.Errorf("renewed %s, and again %s", renewed.body, again.body)
		}
		if got := data[record](t, caller.call(t, "GET", "/customers/1", "")); *got.DueDate != "2026-03-31" {
			t.Errorf("due on %s after one renewal, sent twice", *got.DueDate)
		}
	})
}

func TestKeyIsForPostAndHasALimit(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		caller.create(t, `{"name":"Ana"}`)
		for _, name := range []string{"Bia", "Eva"} {
			if got := data[record](t, caller.call(t, "PUT", "/customers/1", fmt.Sprintf(`{"name":%q}`, name), "Idempotency-Key", "k")); got.Name != name {
				t.Errorf("a PUT with a key made it %s", got.Name)
			}
		}
		for _, key := range []string{strings.Repeat("ü", 255), "a b/c", `"`} {
			for range 2 {
				if answer := caller.call(t, "POST", "/customers", `{"name":"Ana"}`, "Idempotency-Key", key); answer.status != 200 {
					t.Errorf("%q: %d %s", key, answer.status, answer.body)
				}
			}
		}
		caller.call(t, "POST", "/customers", `{"name":"Ana"}`, "Idempotency-Key", strings.Repeat("k", 256)).want(t, 422, "Idempotency-Key: must have at most 255 characters")
		caller.call(t, "POST", "/customers", `{"name":"Ana"}`, "Idempotency-Key", "\xff").want(t, 422, "Idempotency-Key: must be valid UTF-8")
		if n := caller.count(t, `SELECT count(*) FROM customers`); n != 4 {
			t.Errorf("%d customers, want 4", n)
		}
	})
}

func TestParallelRepeatsMakeOneCustomer(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		answers := make([]answer, 10)
		var wg sync.WaitGroup
		for i := range answers {
			wg.Go(func() { answers[i] = caller.call(t, "POST", "/customers", `{"name":"Ana"}`, "Idempotency-Key", "k") })
		}
		wg.Wait()
		for _, answer := range answers {
			switch answer.status {
			case 200:
				if got := data[record](t, answer); got.ID != 1 {
					t.Errorf("made %+v", got)
				}
			case 409:
				answer.want(t, 409, "the first request with this Idempotency-Key is still running")
			default:
				t.Errorf("%d %s", answer.status, answer.body)
			}
		}
		if n := caller.count(t, `SELECT count(*) FROM customers`); n != 1 {
			t.Errorf("%d customers, want one", n)
		}
	})
}

// paidAnew gives a payment of an invoice back, pays the invoice again, and is the
// path that undoes that.
func (c *caller) paidAnew(t *testing.T, invoice, payment int64) string {
	t.Helper()
	data[any](t, c.call(t, "POST", fmt.Sprintf("/payments/%d/refund", payment), `{"effect":"reopen"}`))
	data[any](t, c.call(t, "POST", fmt.Sprintf("/invoices/%d/status", invoice), `{"status":"Pago"}`))
	return fmt.Sprintf("/payments/%d/undo", c.count(t, `SELECT max(id) FROM payments`))
}

// reviewed has money come for invoice 1 that waits for a decision, and is the path
// that decides.
func (c *caller) reviewed(t *testing.T, deed string) string {
	t.Helper()
	c.exec(t, `INSERT INTO payments (company_id, provider, payment_id, paid_via, invoice_id, customer_id, customer_name, plan_id, product_id,
			amount_cents, currency, paid_at, paid_offset, paid_on, status, confirmed_by, note, created_at)
		SELECT company_id, 'woovi', ?, 'woovi', id, customer_id, 'Ana', 0, 0, 3500, 'BRL', created_at, created_offset, created_on, 'review', '', '',
			created_at FROM invoices WHERE id = (SELECT MIN(id) FROM invoices)`, deed)
	c.exec(t, `INSERT INTO payment_reviews (company_id, payment_id, reason, created_at, resolution, resolved_by, note)
		SELECT company_id, id, 'double', created_at, '', '', '' FROM payments WHERE payment_id = ?`, deed)
	return fmt.Sprintf("/payments/%d/%s", c.count(t, `SELECT max(id) FROM payments`), deed)
}

// pathOf is where an operation is called, once what it needs is there.
func (c *caller) pathOf(t *testing.T, operation, documented string) string {
	t.Helper()
	switch operation {
	case "refundPayment": // which needs a payment
		c.call(t, "POST", "/invoices/1/status", `{"status":"Pago"}`)
		return fmt.Sprintf("/payments/%d/refund", c.count(t, `SELECT max(id) FROM payments WHERE status = 'applied'`))
	case "applyPayment", "dismissPayment":
		return c.reviewed(t, path.Base(documented))
	case "undoPayment": // and one of which nothing went back
		return c.paidAnew(t, 1, c.count(t, `SELECT max(id) FROM payments WHERE status = 'applied'`))
	}
	return documented
}

// Every POST, while its first request is running.
func TestRepeatOfWhatIsStillRunningIsAConflict(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		for _, op := range operations() {
			if op.Method != http.MethodPost {
				continue
			}
			path := caller.pathOf(t, op.OperationID, op.Path)
			send := func() answer {
				return caller.call(t, op.Method, path, string(op.Body), "Idempotency-Key", op.OperationID)
			}
			if answer := send(); answer.status != 200 {
				t.Errorf("%s: %d %s", op.OperationID, answer.status, answer.body)
			}
			caller.exec(t, `UPDATE idempotency_keys SET status = 0, carried_out = ?, lease_until = ?`, false, caller.clock.Now().Add(time.Minute).UnixMicro())
			send().want(t, 409, "the first request with this Idempotency-Key is still running")
		}
	})
}

// slowBody lets something happen while the request is on its way.
type slowBody struct {
	io.Reader
	meanwhile func()
}

func (b *slowBody) Read(p []byte) (int, error) {
	if b.meanwhile != nil {
		b.meanwhile()
		b.meanwhile = nil
	}
	return b.Reader.Read(p)
}

// slowly creates a customer. The request has been admitted when its body is
// read: the client does not send it before the server asks.
func (c *caller) slowly(t *testing.T, body string, meanwhile func()) answer {
	t.Helper()
	patient := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Minute, DisableKeepAlives: true}}
	return c.exchange(t, patient, "POST", "/customers", &slowBody{strings.NewReader(body), meanwhile},
		"Authorization", "Bearer "+c.token, "Expect", "100-continue")
}

func TestSlowCallCountsFromItsArrival(t *testing.T) {
	caller := limitedService(t, sqldbtest.URL(t, sqldb.SQLite), 1).newCaller(t)
	if answer := caller.slowly(t, `{"name":"Ana"}`, func() { caller.clock.Advance(20 * time.Second) }); answer.status != 200 {
		t.Fatalf("%d %s", answer.status, answer.body)
	}
	caller.clock.Advance(30 * time.Second)
	wait, err := strconv.Atoi(caller.call(t, "GET", "/account", "").header.Get("Retry-After"))
	if err != nil || wait != 10 { // 60 seconds after the call, and not after its answer
		t.Errorf("Retry-After %d, %v", wait, err)
	}
	caller.clock.Advance(time.Duration(wait) * time.Second)
	if answer := caller.call(t, "GET", "/account", ""); answer.status != 200 {
		t.Errorf("after Retry-After: %d %s", answer.status, answer.body)
	}
}
