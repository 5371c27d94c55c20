package program

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
)

// subscriber is a customer of a sandbox with an invoice to be debited
// automatically.
type subscriber struct {
	*installation
	token    string
	customer int64
	until    string // the day when all is over
}

var subscribed = newMold(func(in *installation) subscriber {
	in.sandboxed()
	company := in.company()
	plan := in.create("id", "plan", "create", "--company", company, "--name", "Mensal", "--value", "35.00", "--period", "1month")
	in.run("gateway", "set", "--company", company, "--provider", "sandbox")
	s := subscriber{token: in.token(company)}
	server := in.serve()
	day := func(days int) string { return time.Now().AddDate(0, 0, days).Format("2006-01-02") }
	s.until = day(29)
	s.customer = server.client(s.token).want(200, "POST", "/customers", map[string]any{
		"name": "Bia Reis", "plan_id": plan, "data_de_vencimento": day(14),
	}).customer(in.t).ID
	server.stop()
	return s
})

func subscriberOn(t *testing.T, engine sqldb.Engine) *subscriber {
	t.Helper()
	in, s := subscribed.copy(t, engine)
	s.installation = in
	return &s
}

func (s *subscriber) path(rest string) string {
	return fmt.Sprintf("/customers/%d/autopay%s", s.customer, rest)
}

// phase is a part of the life of an authorisation: what is done, and how it is
// known that it has come to its end.
type phase struct {
	name string
	do   func(s *subscriber, client *client)
	over func(s *subscriber, client *client) bool
}

func (s *subscriber) shows(client *client, text string) bool {
	answer, err := client.send("GET", s.path(""), nil)
	return err == nil && strings.Contains(string(answer.Data), text)
}

func (s *subscriber) post(client *client, rest string, body any) {
	_, _ = client.send("POST", s.path(rest), body) // by a process that may die of it
}

func advance(s *subscriber, client *client) {
	_, _ = client.send("POST", "/sandbox/clock", map[string]any{"to": s.until})
}

func arrived(_ *subscriber, client *client) bool {
	answer, err := client.send("GET", "/sandbox/clock", nil)
	return err == nil && strings.Contains(string(answer.Data), `"advancing":false`) &&
		strings.Contains(string(answer.Data), `"to":"`)
}

var phases = []phase{
	{"ask", func(s *subscriber, client *client) { s.post(client, "", nil) }, func(s *subscriber, client *client) bool {
		return s.shows(client, `"pix_copy_paste":"0002`)
	}},
	{"authorise", func(s *subscriber, client *client) {
		s.post(client, "/simulate", map[string]any{"what": "authorise"})
		s.post(client, "/simulate", map[string]any{"what": "fail"})
	}, func(s *subscriber, client *client) bool { return s.shows(client, `"next_debit":{`) }},
	{"debit", advance, arrived},
}

// ending takes the place of the last phase where the company ends it all.
var ending = []phase{
	phases[0], phases[1],
	{"end", func(s *subscriber, client *client) { _, _ = client.send("DELETE", s.path(""), nil) }, func(s *subscriber, client *client) bool {
		return s.shows(client, `"autopay":"ended"`) && s.shows(client, `"next_debit":null`)
	}},
	{"debit", advance, arrived},
}

// live goes through phases, and dies in one of them at a point.
func (s *subscriber) live(phases []phase, dies, point string) {
	s.t.Helper()
	server := s.serveMortal()
	for _, phase := range phases {
		if phase.name == dies {
			server.stop()
			dying := s.serveMortal("CARTEIRA_CRASH_AT=" + point)
			phase.do(s, dying.client(s.token))
			s.wantDead(dying.process)
			db := s.open()
			// Half a minute later the leases of the killed process have expired.
			execute(s.t, db, `UPDATE charges SET next_check_at = 1 WHERE claim <> ''`)
			execute(s.t, db, `UPDATE authorisations SET next_check_at = 1 WHERE claim <> ''`)
			execute(s.t, db, `UPDATE gateways SET resume_at = 0`)
			execute(s.t, db, driverGone)
			server = s.serveMortal()
		}
		client := server.client(s.token)
		phase.do(s, client)
		eventually(s.t, phase.name+" comes to its end", func() bool { return phase.over(s, client) })
	}
	server.stop()
}

// Wherever between the request for an authorisation and the payment of an invoice
// the process dies, the next one goes on, and the invoice is paid once: the first
// attempt fails, the second one pays.
func TestDeathAtEveryPointOfADebitIsMadeGood(t *testing.T) {
	t.Parallel()
	for _, point := range [][2]string{
		{"ask", "authorisation-reserved"},
		{"ask", "authorisation-asked"},
		{"authorise", "authorisation-claimed"},
		{"authorise", "authorisation-looked-up"},
		{"authorise", "charge-reserved"},
		{"authorise", "charge-created"},
		{"authorise", "charge-adopted"},
		{"debit", "check-claimed"},
		{"debit", "charge-looked-up"},
		{"debit", "before-settlement-commit"},
		{"debit", "after-settlement-commit"},
		{"debit", "debit-retried"},
	} {
		t.Run(point[1], func(t *testing.T) {
			dealtEngine(t, func(t *testing.T, engine sqldb.Engine) {
				bia := subscriberOn(t, engine)
				bia.live(phases, point[0], point[1])
				for text, want := range map[string]int64{
					`SELECT count(*) FROM payments`:                                                     1,
					`SELECT count(*) FROM sandbox_payments`:                                             1,
					`SELECT count(*) FROM events WHERE name = 'invoice.paid'`:                           1,
					`SELECT count(*) FROM payment_reviews`:                                              0,
					`SELECT count(*) FROM charges WHERE state = 'paid' AND debit_retries > 0`:           1,
					`SELECT count(*) FROM charges WHERE state IN ('reserved', 'pending', 'cancelling')`: 0,
					`SELECT count(*) FROM sandbox_authorisations`:                                       1,
				} {
					if got := count(t, bia.open(), text); got != want {
						t.Errorf("%s: %d, want %d", text, got, want)
					}
				}
			})
		})
	}
}

// Wherever the process dies while a company ends an authorisation, nothing is
// debited by it any more.
func TestDeathAtEveryPointOfAnEndIsMadeGood(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"authorisation-claimed", "authorisation-ended", "charge-cancelled"} {
		t.Run(point, func(t *testing.T) {
			dealtEngine(t, func(t *testing.T, engine sqldb.Engine) {
				bia := subscriberOn(t, engine)
				bia.live(ending, "end", point)
				for text, want := range map[string]int64{
					`SELECT count(*) FROM sandbox_payments`:                             0,
					`SELECT count(*) FROM sandbox_authorisations WHERE state = 'ended'`: 1,
					`SELECT count(*) FROM authorisations WHERE state = 'ended'`:         1,
					`SELECT count(*) FROM charges WHERE state = 'cancelled'`:            1,
					`SELECT count(*) FROM customers WHERE autopay = 'ended'`:            1,
					`SELECT count(*) FROM events WHERE name = 'autopay.changed'`:        3,
				} {
					if got := count(t, bia.open(), text); got != want {
						t.Errorf("%s: %d, want %d", text, got, want)
					}
				}
			})
		})
	}
}

// page calls the payer's page of the invoice, and returns what it shows.
func (s *subscriber) page(client *client, method, rest string) string {
	code, err := sqldb.Value[string](s.t.Context(), s.open(), `SELECT code FROM pay_links`)
	if err != nil {
		s.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, strings.TrimSuffix(client.base, "/api/v1")+"/pay/"+code+rest, http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "" // of a process that has died
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return string(body)
}

// paying is the life of a code that pays and authorises.
var paying = []phase{
	{"code", func(s *subscriber, client *client) { s.page(client, http.MethodPost, "/authorise") }, func(s *subscriber, client *client) bool {
		return strings.Contains(s.page(client, http.MethodGet, ""), `id="only"`)
	}},
	{"pay", func(s *subscriber, client *client) { s.page(client, http.MethodPost, "/simulate") }, func(s *subscriber, client *client) bool {
		return s.shows(client, `"autopay":"active"`)
	}},
}

// Wherever the process dies while a code is made and paid that authorises, too,
// there is one charge and one authorisation.
func TestDeathAtEveryPointOfACodeThatAuthorisesIsMadeGood(t *testing.T) {
	t.Parallel()
	for _, point := range [][2]string{
		{"code", "charge-reserved"},
		{"code", "charge-created"},
		{"code", "charge-adopted"},
		{"pay", "before-settlement-commit"},
		{"pay", "after-settlement-commit"},
	} {
		t.Run(point[1], func(t *testing.T) {
			dealtEngine(t, func(t *testing.T, engine sqldb.Engine) {
				bia := subscriberOn(t, engine)
				bia.live(paying, point[0], point[1])
				for text, want := range map[string]int64{
					`SELECT count(*) FROM payments`:                                                     1,
					`SELECT count(*) FROM sandbox_payments`:                                             1,
					`SELECT count(*) FROM sandbox_charges`:                                              1,
					`SELECT count(*) FROM events WHERE name = 'invoice.paid'`:                           1,
					`SELECT count(*) FROM payment_reviews`:                                              0,
					`SELECT count(*) FROM charges WHERE state IN ('reserved', 'pending', 'cancelling')`: 0,
					`SELECT count(*) FROM sandbox_authorisations WHERE state = 'active'`:                1,
					`SELECT count(*) FROM authorisations`:                                               1,
				} {
					if got := count(t, bia.open(), text); got != want {
						t.Errorf("%s: %d, want %d", text, got, want)
					}
				}
			})
		})
	}
}

// exchanging is the life of a debit that makes place for a code.
var exchanging = []phase{
	phases[0], phases[1],
	{"instead", func(s *subscriber, client *client) { s.page(client, http.MethodPost, "/instead") }, func(s *subscriber, client *client) bool {
		return strings.Contains(s.page(client, http.MethodGet, ""), "/qr.png")
	}},
	{"pay", func(s *subscriber, client *client) { s.page(client, http.MethodPost, "/simulate") }, func(s *subscriber, client *client) bool {
		return strings.Contains(s.page(client, http.MethodGet, ""), "Pagamento recebido")
	}},
	{"debit", advance, arrived},
}

// Wherever the process dies while a payer exchanges an announced debit for a code,
// the code pays and the debit does not.
func TestDeathWhileACodeTakesThePlaceOfADebitIsMadeGood(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"charge-cancelled", "charge-reserved", "charge-created", "charge-adopted"} {
		t.Run(point, func(t *testing.T) {
			dealtEngine(t, func(t *testing.T, engine sqldb.Engine) {
				bia := subscriberOn(t, engine)
				bia.live(exchanging, "instead", point)
				for text, want := range map[string]int64{
					`SELECT count(*) FROM payments`:         1,
					`SELECT count(*) FROM sandbox_payments`: 1,
					`SELECT count(*) FROM sandbox_payments WHERE charge_id IN (SELECT charge_id FROM sandbox_debits)`: 0,
					`SELECT count(*) FROM payment_reviews`:                               0,
					`SELECT count(*) FROM charges WHERE debit_failure <> ''`:             0,
					`SELECT count(*) FROM sandbox_authorisations WHERE state = 'active'`: 1,
				} {
					if got := count(t, bia.open(), text); got != want {
						t.Errorf("%s: %d, want %d", text, got, want)
					}
				}
			})
		})
	}
}
