package program

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
)

const (
	bankToken  = "APP_USR-0000-crash-tests"
	bankSecret = "secret-of-the-crash-tests"
)

// bank speaks as Mercado Pago does, as far as these tests need it.
type bank struct {
	*httptest.Server
	mu       sync.Mutex
	payments []map[string]any
	keys     map[string]int // positions by idempotency key
	tills    *mold[till]
}

func newBank(t *testing.T) *bank {
	t.Helper()
	b := &bank{keys: map[string]int{}, tills: tills}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/payments", b.create)
	mux.HandleFunc("GET /v1/payments/search", b.search)
	mux.HandleFunc("GET /v1/payments/{id}", b.read)
	mux.HandleFunc("PUT /v1/payments/{id}", b.cancel)
	b.routeOrders(mux)
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if r.Header.Get("Authorization") != "Bearer "+bankToken {
			t.Errorf("a call without the company's token: %s %s", r.Method, r.URL)
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(b.Close)
	return b
}

func answerJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func (b *bank) create(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Amount    json.Number `json:"transaction_amount"`
		Reference string      `json:"external_reference"`
		Expires   string      `json:"date_of_expiration"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		answerJSON(w, 400, map[string]any{"message": err.Error()})
		return
	}
	at, status := b.made(r, 200)
	if at < 0 {
		at = b.add(r, body.Reference, body.Amount)
		b.payments[at]["date_of_expiration"] = body.Expires
	}
	answerJSON(w, status, b.payments[at])
}

// made is the position of what a key has made before, with the status for that; -1
// and 201 when it has made nothing.
func (b *bank) made(r *http.Request, before int) (at, status int) {
	if at, known := b.keys[r.Header.Get("X-Idempotency-Key")]; known {
		return at, before
	}
	return -1, http.StatusCreated
}

// add makes a payment and returns its position.
func (b *bank) add(r *http.Request, reference string, amount json.Number) int {
	at := len(b.payments)
	b.keys[r.Header.Get("X-Idempotency-Key")] = at
	id := 7100 + at
	b.payments = append(b.payments, map[string]any{
		"id": id, "status": "pending", "status_detail": "pending_waiting_transfer", "transaction_amount": amount,
		"transaction_amount_refunded": 0, "currency_id": "BRL", "external_reference": reference,
		"point_of_interaction": map[string]any{"transaction_data": map[string]any{"qr_code": fmt.Sprintf("00020126-code-%d", id)}},
	})
	return at
}

func (b *bank) search(w http.ResponseWriter, r *http.Request) {
	found := []map[string]any{}
	for _, payment := range b.payments {
		if payment["external_reference"] == r.URL.Query().Get("external_reference") {
			found = append(found, payment)
		}
	}
	answerJSON(w, 200, map[string]any{"results": found, "paging": map[string]int{"total": len(found)}})
}

func (b *bank) find(id string) map[string]any {
	for _, payment := range b.payments {
		if fmt.Sprint(payment["id"]) == id {
			return payment
		}
	}
	return nil
}

func (b *bank) read(w http.ResponseWriter, r *http.Request) {
	p := b.find(r.PathValue("id"))
	if p == nil {
		answerJSON(w, 404, map[string]any{"message": "Payment not found"})
		return
	}
	answerJSON(w, 200, p)
}

func (b *bank) cancel(w http.ResponseWriter, r *http.Request) {
	p := b.find(r.PathValue("id"))
	switch {
	case p == nil:
		answerJSON(w, 404, map[string]any{"message": "Payment not found"})
	case p["status"] != "pending":
		answerJSON(w, 400, map[string]any{"message": "The action requested is not valid for the current payment state"})
	default:
		p["status"] = "cancelled"
		answerJSON(w, 200, p)
	}
}

// charges are how many were made; pay pays them all.
func (b *bank) charges() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.payments)
}

func (b *bank) pay() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, payment := range b.payments {
		if payment["status"] == "pending" {
			payment["status"], payment["status_detail"], payment["date_approved"] = "approved", "accredited", time.Now().Format("2006-01-02T15:04:05.000-07:00")
		}
	}
}

func (b *bank) payable() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, payment := range b.payments {
		if payment["status"] == "pending" {
			n++
		}
	}
	return n
}

// callBack sends a server the callback of the bank's first payment, signed.
func (b *bank) callBack(address string) error {
	return b.callBackAbout(address, "payment", "7100", `{"id":1,"type":"payment","data":{"id":"7100"}}`)
}

// callBackAbout signs the id in small letters.
func (b *bank) callBackAbout(address, topic, id, body string) error {
	const request = "bb56a2f1-6aae-46ac-982e-9dcd3581d08e"
	ts := fmt.Sprint(time.Now().UnixMilli())
	mac := hmac.New(sha256.New, []byte(bankSecret))
	fmt.Fprintf(mac, "id:%s;request-id:%s;ts:%s;", strings.ToLower(id), request, ts)
	req, err := http.NewRequest(http.MethodPost, address+"?data.id="+id+"&type="+topic, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("X-Request-Id", request)
	req.Header.Set("X-Signature", "ts="+ts+",v1="+hex.EncodeToString(mac.Sum(nil)))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the callback was answered with %d", resp.StatusCode)
	}
	return nil
}

// till is a company with one open invoice of 35.00 that the bank charges.
type till struct {
	*installation
	bank     *bank
	token    string
	invoice  string
	callback string // path
}

// tills are by what the company has chosen at the bank.
var (
	tills      = newMold(func(in *installation) till { return openTill(in) })
	orderTills = newMold(func(in *installation) till { return openTill(in, "--option", "api=orders") })
)

func openTill(in *installation, options ...string) (t till) {
	in.t.Helper()
	in.secret(bankToken, bankSecret)
	company := in.company()
	plan := in.create("id", "plan", "create", "--company", company, "--name", "Mensal", "--value", "35.00", "--period", "1month")
	files := in.t.TempDir()
	for name, text := range map[string]string{"token": bankToken, "secret": bankSecret} {
		if err := os.WriteFile(filepath.Join(files, name), []byte(text+"\n"), 0o600); err != nil {
			in.t.Fatal(err)
		}
	}
	var made struct {
		CallbackURL string `json:"callback_url"`
	}
	printed := in.run(append([]string{
		"gateway", "set", "--company", company, "--provider", "mercadopago",
		"--option", "access_token=@" + filepath.Join(files, "token"), "--option", "webhook_secret=@" + filepath.Join(files, "secret"),
	}, options...)...)
	if err := json.Unmarshal([]byte(printed), &made); err != nil || strings.Contains(printed, bankToken) {
		in.t.Fatalf("gateway set printed %s: %v", printed, err)
	}
	t.callback = made.CallbackURL[strings.Index(made.CallbackURL, "/gateways/"):]
	t.token = in.token(company)
	server := in.serveMortal("CARTEIRA_FAKE_GATEWAY=http://127.0.0.1:9") // no gateway is called yet
	planID, _ := strconv.Atoi(plan)
	due := time.Now().AddDate(0, 0, 3).Format("2006-01-02")
	answer := server.client(t.token).want(200, "POST", "/customers", map[string]any{"name": "Ana Lima", "email": "ana@example.com", "plan_id": planID, "data_de_vencimento": due})
	list := server.client(t.token).want(200, "GET", fmt.Sprintf("/customers/%d/invoices", answer.customer(in.t).ID), nil)
	var invoices []struct{ ID int64 }
	if err := json.Unmarshal(list.Data, &invoices); err != nil || len(invoices) != 1 {
		in.t.Fatalf("%v: %s", err, list.body)
	}
	t.invoice = strconv.FormatInt(invoices[0].ID, 10)
	server.stop()
	return t
}

// till makes a till that the bank charges for.
func (b *bank) till(t *testing.T, engine sqldb.Engine) *till {
	t.Helper()
	in, made := b.tills.copy(t, engine)
	in.env = append(in.env, "CARTEIRA_FAKE_GATEWAY="+b.URL)
	made.installation, made.bank = in, b
	return &made
}

// serveMortal serves with the binary that can be made to die at a given point
// and to call other addresses as the gateways.
func (in *installation) serveMortal(env ...string) *server {
	in.t.Helper()
	program, err := mortal()
	if err != nil {
		in.t.Fatal(err)
	}
	s := &server{process: start(in.t, program, slices.Concat(in.env, env), "serve"), in: in}
	s.await(&s.stderr, func(string) bool {
		for _, line := range s.log() {
			if line.Msg == "serving" {
				s.address = line.Address
			}
		}
		return s.address != ""
	})
	in.t.Cleanup(func() { in.wantNoSecret(s.stdout.String() + s.stderr.String()) })
	return s
}

// wantSettled wants the invoice to be paid, once, by one charge.
func (t *till) wantSettled() {
	t.t.Helper()
	db := t.open()
	eventually(t.t, "the invoice is paid", func() bool { return t.paid(db) })
	for text, want := range map[string]int64{
		`SELECT count(*) FROM events WHERE name = 'invoice.paid'`:                      1,
		`SELECT count(*) FROM events WHERE name = 'customer.renewed'`:                  1,
		`SELECT count(*) FROM payments`:                                                1,
		`SELECT count(*) FROM payment_reviews`:                                         0,
		`SELECT count(*) FROM charges WHERE state = 'paid'`:                            1,
		`SELECT count(*) FROM charges WHERE state IN ('reserved','pending')`:           0,
		`SELECT count(*) FROM invoices WHERE paid_via = 'mercadopago'`:                 1,
		`SELECT count(*) FROM customers WHERE due_on <> (SELECT due_on FROM invoices)`: 1,
	} {
		if got := count(t.t, db, text); got != want {
			t.t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
	if n := t.bank.charges(); n != 1 {
		t.t.Errorf("%d charges at the gateway, want one", n)
	}
}

func (t *till) paid(db *sqldb.DB) bool {
	t.t.Helper()
	return count(t.t, db, `SELECT count(*) FROM invoices WHERE status = 'paid'`) == 1
}

// wantSettledInTime lets the hours until the next look at the charge pass, again
// and again: a look that was under way when the payer paid has seen nothing, and
// puts the next one off.
func (t *till) wantSettledInTime() {
	t.t.Helper()
	db := t.open()
	var looked time.Time
	eventually(t.t, "a look finds the payment", func() bool {
		if time.Since(looked) > time.Second {
			looked = time.Now()
			execute(t.t, db, `UPDATE charges SET next_check_at = 0 WHERE state IN ('reserved', 'pending')`)
			execute(t.t, db, `UPDATE gateways SET resume_at = 0`)
		}
		return t.paid(db)
	})
	t.wantSettled()
}

// Wherever between the reservation of a charge and the payment of its invoice
// the process dies, the next one finds the charge and settles it, once.
func TestDeathAtEveryPointOfAPaymentIsMadeGood(t *testing.T) {
	t.Parallel()
	for _, point := range []struct {
		name string
		made int // charges at the gateway when it died
		paid int64
	}{
		{name: "charge-reserved"},
		{name: "charge-created", made: 1},
		{name: "charge-adopted", made: 1},
		{name: "callback-kept", made: 1},
		{name: "check-claimed", made: 1},
		{name: "charge-looked-up", made: 1},
		{name: "before-settlement-commit", made: 1},
		{name: "after-settlement-commit", made: 1, paid: 1},
	} {
		t.Run(point.name, func(t *testing.T) {
			dealtEngine(t, func(t *testing.T, engine sqldb.Engine) {
				till := newBank(t).till(t, engine)
				till.dieAt(point.name)
				db := till.open()
				if n := till.bank.charges(); n != point.made {
					t.Errorf("%d charges at the gateway", n)
				}
				if n := count(t, db, `SELECT count(*) FROM invoices WHERE status = 'paid'`); n != point.paid {
					t.Errorf("%d paid when it died", n)
				}
				// Half a minute later the lease of the killed process has expired.
				execute(t, db, `UPDATE charges SET next_check_at = 0 WHERE state <> 'paid'`)
				server := till.serveMortal()
				if point.made == 0 { // nothing was made; the next request makes it
					server.client(till.token).want(200, "POST", "/invoices/"+till.invoice+"/pix", nil)
				}
				till.bank.pay()
				till.wantSettledInTime()
				server.stop()
			})
		})
	}
}

// dieAt brings a payment to the point and lets the process die there.
func (t *till) dieAt(point string) {
	t.t.Helper()
	env := "CARTEIRA_CRASH_AT=" + point
	if strings.HasPrefix(point, "charge-") && point != "charge-looked-up" {
		server := t.serveMortal(env)
		if answer, err := server.client(t.token).send("POST", "/invoices/"+t.invoice+"/pix", nil); err == nil {
			t.t.Fatalf("answered %d by a process that should be dead: %s", answer.status, answer.body)
		}
		t.wantDead(server.process)
		return
	}
	server := t.serveMortal()
	server.client(t.token).want(200, "POST", "/invoices/"+t.invoice+"/pix", nil)
	server.stop()
	t.bank.pay()
	if point == "callback-kept" {
		server = t.serveMortal(env)
		if err := t.bank.callBack("http://" + server.address + t.callback); err == nil {
			t.t.Fatal("the callback was answered by a process that should be dead")
		}
		t.wantDead(server.process)
		return
	}
	execute(t.t, t.open(), `UPDATE charges SET next_check_at = 0`)
	program, err := mortal()
	if err != nil {
		t.t.Fatal(err)
	}
	t.wantDead(start(t.t, program, slices.Concat(t.env, []string{env}), "serve"))
}

func (in *installation) wantDead(process *process) {
	in.t.Helper()
	if code := process.wait(); code != -1 {
		in.t.Fatalf("exit code %d, want a death by signal:\n%s", code, process.stderr.String())
	}
}

// If its invoice was cancelled, a charge is cancelled at the gateway, whenever
// the process dies.
func TestDeathWhileCancellingIsMadeGood(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		till := newBank(t).till(t, engine)
		server := till.serveMortal()
		server.client(till.token).want(200, "POST", "/invoices/"+till.invoice+"/pix", nil)
		server.stop()
		server = till.serveMortal("CARTEIRA_CRASH_AT=charge-cancelled")
		_, _ = server.client(till.token).send("POST", "/invoices/"+till.invoice+"/status", map[string]any{"status": "Cancelado"})
		till.wantDead(server.process)
		db := till.open()
		execute(t, db, `UPDATE charges SET next_check_at = 0`)
		execute(t, db, `UPDATE gateways SET resume_at = 0`)
		server = till.serveMortal()
		eventually(t, "the charge is known to be cancelled", func() bool {
			return count(t, db, `SELECT count(*) FROM charges WHERE state = 'cancelled'`) == 1
		})
		if n := till.bank.payable(); n != 0 {
			t.Errorf("%d can be paid", n)
		}
		server.stop()
	})
}

// A callback is enough: the charge does not wait for its next check.
func TestCallbackOfTheBankSettlesWithinMoments(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		till := newBank(t).till(t, engine)
		server := till.serveMortal()
		server.client(till.token).want(200, "POST", "/invoices/"+till.invoice+"/pix", nil)
		till.bank.pay()
		for range 3 {
			if err := till.bank.callBack("http://" + server.address + till.callback); err != nil {
				t.Fatal(err)
			}
		}
		till.wantSettled()
		metrics := server.get("/metrics").body
		for _, want := range []string{
			`carteira_payment_charges_total{outcome="made",provider="mercadopago"} 1`,
			`carteira_payment_callbacks_total{outcome="kept",provider="mercadopago"} 1`,
			`carteira_payment_settlement_lag_seconds_count 1`, `carteira_payment_reviews_open 0`, `carteira_payment_oldest_reserved_seconds 0`,
		} {
			if !strings.Contains(metrics, want) {
				t.Errorf("/metrics lacks %s", want)
			}
		}
		server.stop()
	})
}

// A released binary calls only the providers.
func TestReleasedBinaryCannotBeDiverted(t *testing.T) {
	text, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "CARTEIRA_FAKE_GATEWAY") {
		t.Error("it reads CARTEIRA_FAKE_GATEWAY")
	}
}
