package reminder

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// From the house's test kit.
var values, must = housetest.Form, housetest.Must

// patience bounds what must end by itself; no test waits for it to pass.
const patience = 4 * time.Minute

// morning is 8:30 of 20 January 2026 in São Paulo, after quiet hours.
var morning = time.Date(2026, 1, 20, 11, 30, 0, 0, time.UTC)

// carrier takes what test channels send and gives the configured answers.
type carrier struct {
	mu      sync.Mutex
	letters []Letter
	answer  func(kind string, letter Letter) (string, error)
}

func (c *carrier) take(kind string, letter Letter) (string, error) {
	c.mu.Lock()
	answer := c.answer
	c.mu.Unlock()
	receipt, err := "receipt", error(nil)
	if answer != nil {
		receipt, err = answer(kind, letter)
	}
	if err == nil {
		c.mu.Lock()
		c.letters = append(c.letters, letter)
		c.mu.Unlock()
	}
	return receipt, err
}

func (c *carrier) answers(fn func(kind string, letter Letter) (string, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = fn
}

// taken is what has arrived, and forgets it.
func (c *carrier) taken() []Letter {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.letters
	c.letters = nil
	return list
}

type courier struct {
	kind string
	*carrier
}

func (c courier) Send(_ context.Context, letter Letter) (string, error) {
	return c.take(c.kind, letter)
}

func (c *carrier) kind(name string, reach Reach, idempotent bool) Kind {
	return Kind{
		Name: name, Title: name, Reach: reach, Idempotent: idempotent,
		Options: []Option{{Name: "token", Secret: true}, {Name: "region"}},
		Open:    func(map[string]string, Env) (Sender, error) { return courier{name, c}, nil },

		Reporter: teller{},
	}
}

// payments makes links, or fails if configured so.
type payments struct {
	err   error
	asked func() // is called when a link is asked for

	debitOn civil.Date // when every invoice will be debited
}

func (p *payments) PaymentLink(_ context.Context, _ account.Actor, id int64) (string, error) {
	if p.asked != nil {
		p.asked()
	}
	return fmt.Sprintf("https://example.com/pay/%d", id), p.err
}

func (p *payments) PixCode(_ context.Context, _ account.Actor, id int64) (string, error) {
	return fmt.Sprintf("PIX%d", id), p.err
}

func (p *payments) DebitOn(context.Context, account.Actor, int64) (civil.Date, error) {
	return p.debitOn, nil
}
func (p *payments) Picture(code string) ([]byte, error) { return []byte("PNG of " + code), nil }

// house is a company and the services of one process, on a clock that tests set.
type house struct {
	*Service
	t         *testing.T
	url       string
	clock     *sqldbtest.Clock
	box       *secret.Box
	carrier   *carrier
	payments  *payments
	customers *customer.Service
	billing   *billing.Service
	catalog   *catalog.Service
	actor     account.Actor
}

func each(t *testing.T, test func(t *testing.T, h *house)) {
	t.Helper()
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		t.Helper()
		test(t, newHouse(t, engine))
	})
}

func newHouse(t *testing.T, engine sqldb.Engine) *house {
	t.Helper()
	h := &house{
		t: t, url: sqldbtest.URL(t, engine), clock: sqldbtest.NewClock(morning), box: secret.NewBox(secret.NewKey()),
		carrier: &carrier{}, payments: &payments{},
	}
	h = h.process(t)
	h.actor = h.company("America/Sao_Paulo")
	return h
}

// process is the same house seen by another process.
func (h *house) process(t *testing.T) *house {
	t.Helper()
	other := *h
	db := sqldbtest.Open(t, h.url, sqldbtest.WithClock(h.clock))
	events := &event.Log{}
	other.customers = customer.New(db, events)
	other.billing = billing.New(db, events, other.customers)
	other.catalog = catalog.New(db)
	carrier := h.carrier
	other.Service = New(db, h.box, account.New(db, account.Config{}), other.customers, Options{
		Kinds: []Kind{carrier.kind("zap", ByWhatsapp, false), carrier.kind("mail", ByEmail, false), carrier.kind("own", ByAny, true)},
		Links: h.payments, PublicURL: "https://carteira.example",
	})
	other.billing.Watch(other.InvoicesChanged)
	return &other
}

func (h *house) company(zone string) account.Actor {
	h.t.Helper()
	company, _, err := h.accounts.CreateCompany(h.t.Context(), account.ReadNewCompany(values("name", "Rede Clara", "email", fmt.Sprintf("p%d@example.com", h.count(`SELECT count(*) FROM companies`)), "timezone", zone)))
	must(h.t, err)
	return account.System(company, "test")
}

// valuesWithList is values as a page sends them: a list with nothing in it is
// one all the same.
func valuesWithList(name string, pairs ...string) *input.Form {
	m := map[string][]string{}
	for pair := range slices.Chunk(pairs, 2) {
		m[pair[0]] = []string{pair[1]}
	}
	return input.FromForm(m, name)
}

func pageOf(size int64) input.Page { return input.Page{Number: 1, Size: size} }

func wantField(t *testing.T, err error, field, words string) {
	t.Helper()
	if got := strings.Join(fault.FieldsOf(err).Get(field), "; "); got == "" || !strings.Contains(got, words) {
		t.Errorf("%v, want %s: …%s…", err, field, words)
	}
}

func wantKind(t *testing.T, err error, kind fault.Kind) {
	t.Helper()
	if fault.KindOf(err) != kind || err == nil {
		t.Errorf("%v, want %s", err, kind)
	}
}

func (h *house) plan(value string) int64 {
	h.t.Helper()
	plan, err := h.catalog.CreatePlan(h.t.Context(), h.actor, catalog.ReadNewPlan(values("name", "Mensal", "value", value, "period", "1month")))
	must(h.t, err)
	return plan.ID
}

// customer makes one with a phone and an address, due on a day.
func (h *house) customer(dueOn string, more ...string) customer.Customer {
	h.t.Helper()
	record, err := h.customers.Create(h.t.Context(), h.actor, customer.ReadNew(values(append([]string{
		"name", "Ana Souza", "whatsapp", "11987654321", "email", "ana@example.com", "data_de_vencimento", dueOn,
	}, more...)...)))
	must(h.t, err)
	return record
}

func (h *house) update(id int64, pairs ...string) {
	h.t.Helper()
	_, err := h.customers.Update(h.t.Context(), h.actor, id, customer.ReadChanges(values(pairs...)))
	must(h.t, err)
}

func (h *house) channel(kind string, pairs ...string) int64 {
	h.t.Helper()
	channel, _, err := h.CreateChannel(h.t.Context(), h.actor, h.ReadNewChannel(values(append([]string{"kind", kind}, pairs...)...)))
	must(h.t, err)
	return channel.ID
}

func (h *house) template(text string, pairs ...string) int64 {
	h.t.Helper()
	template, err := h.CreateTemplate(h.t.Context(), h.actor, ReadNewTemplate(values(append([]string{"name", "Lembrete", "text", text}, pairs...)...)))
	must(h.t, err)
	return template.ID
}

// remind makes an active rule through channels.
func (h *house) remind(offset int, hour string, template int64, channels ...int64) Rule {
	h.t.Helper()
	rule, err := h.CreateRule(h.t.Context(), h.actor, ReadNewRule(values(
		"name", fmt.Sprintf("%+d", offset), "active", "true", "offset_days", strconv.Itoa(offset), "hour", hour,
		"template_id", number(template), "channels", strings.Trim(joinIDs(channels), ","))))
	must(h.t, err)
	return rule
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// usual is a rule three days before at nine through WhatsApp, then mail.
func (h *house) usual() Rule {
	h.t.Helper()
	return h.remind(-3, "09:00", h.template("Olá {first_name}, vence {due_date}"), h.channel("zap"), h.channel("mail"))
}

// at sets the clock to a time of the company's calendar.
func (h *house) at(text string) {
	h.t.Helper()
	at, err := time.ParseInLocation("2006-01-02 15:04", text, h.actor.Company.Zone)
	must(h.t, err)
	h.clock.Set(at)
}

// work plans, and sends all that is due.
func (h *house) work() {
	h.t.Helper()
	_, err := h.Plan(h.t.Context())
	must(h.t, err)
	h.send()
}

// send goes on until nothing is due.
func (h *house) send() {
	h.t.Helper()
	engine := newEngine(h.Service, slog.New(slog.DiscardHandler))
	for range 10_000 {
		n, _, err := engine.round(h.t.Context())
		must(h.t, err)
		engine.sending.Wait()
		if n == 0 {
			return
		}
	}
	h.t.Fatal("there is always more")
}

// log is the messages, oldest first.
func (h *house) log() []Message {
	h.t.Helper()
	list, _, err := h.Messages(h.t.Context(), h.actor, Filter{}, input.Page{Number: 1, Size: 100_000})
	must(h.t, err)
	slices.Reverse(list)
	return list
}

// only is the one message there is.
func (h *house) only() Message {
	h.t.Helper()
	list := h.log()
	if len(list) != 1 {
		h.t.Fatalf("%d messages, want one: %+v", len(list), list)
	}
	return list[0]
}

func (h *house) want(message Message, status Status, reason string) {
	h.t.Helper()
	if message.Status != status || !strings.Contains(message.Reason, reason) || reason == "" && message.Reason != "" {
		h.t.Errorf("message is %s: %q, want %s: %q", message.Status, message.Reason, status, reason)
	}
}

func (h *house) count(text string, args ...any) int64 {
	h.t.Helper()
	n, err := sqldb.Value[int64](h.t.Context(), h.db, text, args...)
	must(h.t, err)
	return n
}

func (h *house) exec(text string, args ...any) {
	h.t.Helper()
	must(h.t, h.db.Write(h.t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(h.t.Context(), text, args...)
		return err
	}))
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for late := time.Now().Add(patience); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("still not so: %s", what)
		}
	}
}

// writeImported passes customers to the service as an import does.
func (h *house) writeImported(list []customer.Customer) error {
	return h.db.Write(h.t.Context(), func(tx *sqldb.Tx) error {
		return h.customersImported(h.t.Context(), h.actor.In(tx), list)
	})
}

// sendTest is Test with what a form says.
func (h *house) sendTest(actor account.Actor, channelID int64, in *input.Form) (TestResult, error) {
	h.t.Helper()
	request, err := h.ReadTest(h.t.Context(), actor, channelID, in)
	if err != nil {
		return TestResult{}, err
	}
	return h.Test(h.t.Context(), actor, channelID, request)
}

// changeChannel is UpdateChannel with what a form says.
func (h *house) changeChannel(actor account.Actor, channelID int64, in *input.Form) (Channel, error) {
	h.t.Helper()
	draft, err := h.ReadChannelChanges(h.t.Context(), actor, channelID, in)
	if err != nil {
		return Channel{}, err
	}
	return h.UpdateChannel(h.t.Context(), actor, channelID, draft)
}

// preview is Preview with what a form says.
func (h *house) preview(actor account.Actor, templateID, customerID int64, in *input.Form) (Preview, error) {
	h.t.Helper()
	return h.Preview(h.t.Context(), actor, PreviewRequest{TemplateID: templateID, CustomerID: customerID, Draft: ReadTemplate(in)})
}
