package api

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

type autopayOf struct {
	Autopay       string
	Authorisation *struct {
		Code    *string `json:"pix_copy_paste"`
		EndedBy *string `json:"ended_by"`
	}
	Next *struct {
		On     string
		Amount string
	} `json:"next_debit"`
	Failed  *struct{ Failure string } `json:"failed_debit"`
	History []struct{ Autopay string }
}

// subscriber makes a customer of the monthly plan and returns its path.
func (c *caller) subscriber(t *testing.T, due string) string {
	t.Helper()
	type record struct {
		ID      int64
		Autopay string
	}
	made := data[record](t, c.call(t, http.MethodPost, "/customers", `{"name":"Bia","plan_id":1,"data_de_vencimento":"`+due+`"}`))
	if made.Autopay != "none" {
		t.Errorf("a new customer's autopay is %q", made.Autopay)
	}
	_, err := c.Payments.ConfigureGateway(t.Context(), c.actor, c.Payments.ReadGateway(values("provider", "sandbox")))
	must(t, err)
	return fmt.Sprintf("/customers/%d", made.ID)
}

// until moves the clock on and lets the engine work.
func (c *caller) until(t *testing.T, span time.Duration) {
	t.Helper()
	for ; span > 0; span -= 6 * time.Hour {
		c.clock.Advance(min(span, 6*time.Hour))
		for range 20 {
			n, err := c.Payments.Reconcile(t.Context())
			if must(t, err); n == 0 {
				break
			}
		}
		c.exec(t, `UPDATE gateways SET resume_at = 0`)
	}
}

func TestAutopayIsPlayedThroughInTheSandbox(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		path := caller.subscriber(t, "2026-02-13")
		asked := data[autopayOf](t, caller.call(t, http.MethodPost, path+"/autopay", ""))
		if asked.Autopay != "asked" || asked.Authorisation.Code == nil {
			t.Errorf("asked: %+v", asked)
		}
		active := data[autopayOf](t, caller.call(t, http.MethodPost, path+"/autopay/simulate", `{"what":"authorise"}`))
		if active.Autopay != "active" || active.Authorisation.Code != nil {
			t.Errorf("authorised: %+v", active)
		}
		data[any](t, caller.call(t, http.MethodPost, path+"/autopay/simulate", `{"what":"fail"}`))
		caller.until(t, 6*time.Hour)
		announced := data[autopayOf](t, caller.call(t, http.MethodGet, path+"/autopay", ""))
		if announced.Next == nil || announced.Next.On != "2026-02-13" || announced.Next.Amount != "35.00" {
			t.Errorf("announced: %+v", announced.Next)
		}
		caller.until(t, 13*24*time.Hour)
		retried := data[autopayOf](t, caller.call(t, http.MethodGet, path+"/autopay", ""))
		if retried.Next == nil || retried.Next.On != "2026-02-18" {
			t.Errorf("after the account was empty: %+v", retried.Next)
		}
		caller.until(t, 6*24*time.Hour)
		type invoice struct {
			Status string
			Via    string `json:"paid_via"`
		}
		paid := data[[]invoice](t, caller.call(t, http.MethodGet, path+"/invoices?per_page=1&sort=id", ""))
		if len(paid) != 1 || paid[0].Status != "Pago" || paid[0].Via != "sandbox" {
			t.Errorf("the invoice is %+v", paid)
		}
		ended := data[autopayOf](t, caller.call(t, http.MethodPost, path+"/autopay/simulate", `{"what":"end"}`))
		if ended.Autopay != "ended" || *ended.Authorisation.EndedBy != "payer" || len(ended.History) != 3 {
			t.Errorf("ended: %+v", ended)
		}
	})
}

func TestAutopayRefusesWhatItCannotDo(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		path := caller.subscriber(t, "2026-02-13") + "/autopay"
		caller.call(t, http.MethodPost, path, `{"journey":"request"}`).want(t, 422, "ispb: is required by the journey request")
		caller.call(t, http.MethodPost, path, `{"journey":"request","ispb":"123","branch":"1","account":"22"}`).
			want(t, 422, "ispb: must be digits, eight of them in the ISPB of the bank")
		caller.call(t, http.MethodPost, path, `{"ispb":"12345678"}`).want(t, 422, "ispb: belongs to the journey request")
		caller.call(t, http.MethodPost, path+"/simulate", `{"what":"sleep"}`).want(t, 422, "what: must be one of: authorise, refuse, end, fail")
		caller.call(t, http.MethodPost, path+"/simulate", `{"what":"authorise"}`).want(t, 409, "the customer has not been asked, or it has ended")
		data[any](t, caller.call(t, http.MethodPost, path, ""))
		caller.call(t, http.MethodPost, path+"/simulate", `{"what":"end"}`).want(t, 409, "the authorisation is asked")
		data[any](t, caller.call(t, http.MethodPost, path+"/simulate", `{"what":"authorise"}`))
		caller.call(t, http.MethodPost, path, "").want(t, 409, "the customer has authorised already; end that first to ask anew")
		if ended := data[autopayOf](t, caller.call(t, http.MethodDelete, path, "")); ended.Autopay != "ended" {
			t.Errorf("ended: %+v", ended)
		}
		data[any](t, caller.call(t, http.MethodDelete, path, "")) // again changes nothing
		type record struct{ ID int64 }
		free := data[record](t, caller.call(t, http.MethodPost, "/customers", `{"name":"Caio"}`))
		caller.call(t, http.MethodPost, fmt.Sprintf("/customers/%d/autopay", free.ID), "").want(t, 422, "plan_id: the customer needs a plan")
	})
}

func TestAutopayOfAGatewayThatFailsIs502(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		path := caller.subscriber(t, "2026-02-13") + "/autopay"
		_, err := caller.Payments.ConfigureGateway(t.Context(), caller.actor, caller.Payments.ReadGateway(values("provider", "broken")))
		must(t, err)
		caller.call(t, http.MethodPost, path, "").want(t, 502, "Banco Quebrado is not working at the moment; try again in a little while")
		caller.call(t, http.MethodPost, path+"/simulate", `{"what":"authorise"}`).want(t, 403, "the customer's bank is real")
	})
}
