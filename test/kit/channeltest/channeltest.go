// Package channeltest is the suite that every channel passes: what its sender
// returns when a message is taken, refused, put off, or in doubt. Each
// channel brings a server of its own that imitates the carrier. Only tests
// import it.
package channeltest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/outbound"
	"carteira/internal/reminder"
)

// Answer is how a carrier answers.
type Answer string

// The answers.
const (
	Accept  Answer = "accept"
	Refuse  Answer = "refuse"
	Busy    Answer = "busy"
	Silence Answer = "silence" // it takes the message and hangs up without a word
	Garbage Answer = "garbage" // it takes the message and talks nonsense
)

// Received is what arrived at a carrier.
type Received struct{ To, Text string }

// Rig is a channel with a carrier.
type Rig struct {
	Kind     reminder.Kind
	Options  map[string]string // they lead to the carrier
	Address  string            // the option that the carrier's address is in; empty: Meta's is fixed
	Answer   func(Answer)
	Received func() []Received
	Close    func() // from then on there is no listener
	Texts    bool   // it carries any text; else only approved templates
}

// Env reaches servers of this machine, which have the certificate of httptest.
func Env() reminder.Env { return env([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}) }

func env(allow []netip.Prefix) reminder.Env {
	gate := outbound.NewGate(allow, nil)
	near := gate.Neighbours()
	options := outbound.Options{Timeout: 5 * time.Second, RootCAs: roots(), UserAgent: "Carteira/1.0"}
	once := options
	once.Once = true
	return reminder.Env{
		Gate: near, Once: outbound.NewClient(near, once), WebhookGate: gate, Webhooks: outbound.NewClient(gate, options),
		RootCAs: roots(),
	}
}

// certified is a server with a certificate that others borrow.
var certified = sync.OnceValue(func() *httptest.Server {
	server := httptest.NewTLSServer(nil)
	server.Close()
	return server
})

func roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(certified().Certificate())
	return pool
}

// Certificate is one that Env trusts, for 127.0.0.1.
func Certificate() tls.Certificate { return certified().TLS.Certificates[0] }

// Letter is one that every channel can carry.
func Letter() reminder.Letter {
	return reminder.Letter{
		ID: "msg_0123456789abcdef01234567", CompanyID: 7, Company: "Rede Clara", To: "5511987654321", Name: "Ana Souza",
		Subject: "Vence amanhã", Text: "Olá, Ana!\n\nSua conta de R$ 35,00 vence \"amanhã\". 😀\n.\nObrigado",
		Template: reminder.ApprovedTemplate{Name: "vencimento", Language: "pt_BR", Params: []string{"Ana", "R$ 35,00"}},
		At:       time.Date(2026, 1, 20, 9, 0, 0, 0, time.FixedZone("", -3*3600)), CustomerID: 12,
		CustomerUUID: "c0ffee00-0000-4000-8000-000000000012",
		Whatsapp:     "5511987654321", Email: "ana@example.com", DueOn: civil.MustParse("2026-01-21"),
	}
}

func (r *Rig) letter() reminder.Letter {
	letter := Letter()
	if r.Kind.Reach == reminder.ByEmail {
		letter.To = letter.Email
	}
	return letter
}

func (r *Rig) open(t *testing.T) reminder.Sender {
	t.Helper()
	sender, err := r.Kind.Open(r.options(), Env())
	if err != nil {
		t.Fatal(err)
	}
	return sender
}

// options are those of the rig, and the defaults.
func (r *Rig) options() map[string]string {
	all := map[string]string{}
	for _, option := range r.Kind.Options {
		if option.Default != "" {
			all[option.Name] = option.Default
		}
	}
	maps.Copy(all, r.Options)
	return all
}

func (r *Rig) send(t *testing.T, letter reminder.Letter) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	receipt, err := r.open(t).Send(ctx, letter)
	if err != nil {
		r.wantNoSecret(t, err)
	}
	return receipt, err
}

// wantNoSecret wants no credential in what may be shown.
func (r *Rig) wantNoSecret(t *testing.T, err error) {
	t.Helper()
	for _, option := range r.Kind.Options {
		if v := r.Options[option.Name]; option.Secret && v != "" && strings.Contains(err.Error(), v) {
			t.Errorf("%v shows %s", err, option.Name)
		}
	}
}

// Run runs the suite. make makes a rig of its own for each test.
func Run(t *testing.T, make func(t *testing.T) *Rig) {
	t.Run("a message arrives whole, and once", func(t *testing.T) { arrives(t, make(t)) })
	t.Run("what the carrier says is understood", func(t *testing.T) { understood(t, make) })
	t.Run("nothing is sent where nobody listens", func(t *testing.T) { unheard(t, make(t)) })
	t.Run("internal addresses are refused", func(t *testing.T) { internal(t, make(t)) })
	t.Run("wrong options are refused by name", func(t *testing.T) { wrongOptions(t, make(t)) })
	t.Run("many at once", func(t *testing.T) { together(t, make(t)) })
	t.Run("no time at all", func(t *testing.T) { hasty(t, make(t)) })
}

func arrives(t *testing.T, rig *Rig) {
	letter := rig.letter()
	receipt, err := rig.send(t, letter)
	if err != nil || receipt == "" {
		t.Fatalf("receipt %q, %v", receipt, err)
	}
	got := rig.Received()
	if len(got) != 1 || got[0].To != letter.To && rig.Kind.Reach != reminder.ByAny {
		t.Fatalf("arrived %+v", got)
	}
	if rig.Texts && got[0].Text != letter.Text {
		t.Errorf("arrived %q, want %q", got[0].Text, letter.Text)
	}
}

func understood(t *testing.T, make func(t *testing.T) *Rig) {
	for answer, want := range map[Answer]string{
		Refuse: "*reminder.Refusal", Busy: "*reminder.Passing",
		Silence: "*reminder.Doubt", Garbage: "*reminder.Doubt",
	} {
		rig := make(t)
		rig.Answer(answer)
		_, err := rig.send(t, rig.letter())
		if got := fmt.Sprintf("%T", err); got != want {
			t.Errorf("%s: %s (%v), want %s", answer, got, err, want)
		}
		if n := len(rig.Received()); n > 1 {
			t.Errorf("%s: it came %d times", answer, n)
		}
	}
}

func unheard(t *testing.T, rig *Rig) {
	sender := rig.open(t)
	rig.Close()
	_, err := sender.Send(t.Context(), rig.letter())
	if _, ok := errors.AsType[*reminder.Passing](err); !ok {
		t.Errorf("%T: %v, want a Passing", err, err)
	}
}

// internal tries channels without the operator's leave.
func internal(t *testing.T, rig *Rig) {
	if rig.Address == "" {
		t.Skip("its address is the carrier's own")
	}
	guarded := env(nil)
	sender, err := rig.Kind.Open(rig.options(), guarded)
	if err != nil {
		t.Fatal(err)
	}
	_, err = sender.Send(t.Context(), rig.letter())
	if _, ok := errors.AsType[*reminder.Refusal](err); !ok || !strings.Contains(err.Error(), "must not point to an internal address") {
		t.Errorf("sending: %T: %v", err, err)
	}
	err = rig.Kind.Check(t.Context(), rig.options(), guarded)
	if got := strings.Join(fault.FieldsOf(err).Get(rig.Address), ""); !strings.Contains(got, "internal address") {
		t.Errorf("saving: %v", err)
	}
	if len(rig.Received()) != 0 {
		t.Error("something arrived")
	}
	if err := rig.Kind.Check(t.Context(), rig.options(), Env()); err != nil {
		t.Errorf("what the operator allows is refused: %v", err)
	}
}

// wrongOptions wants each required option to be missed.
func wrongOptions(t *testing.T, rig *Rig) {
	for _, option := range rig.Kind.Options {
		if !option.Required || option.Name == rig.Address {
			continue
		}
		options := rig.options()
		options[option.Name] = ""
		if _, err := rig.Kind.Open(options, Env()); len(fault.FieldsOf(err).Get(option.Name)) == 0 {
			t.Errorf("without %s: %v", option.Name, err)
		}
	}
}

func together(t *testing.T, rig *Rig) {
	const n = 12
	sender := rig.open(t)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			letter := rig.letter()
			letter.ID = fmt.Sprintf("msg_%d", i)
			if _, err := sender.Send(t.Context(), letter); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := len(rig.Received()); got != n {
		t.Errorf("%d arrived, want %d", got, n)
	}
}

// hasty has no time for a message: nothing is known to have been sent.
func hasty(t *testing.T, rig *Rig) {
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	if _, err := rig.open(t).Send(ctx, rig.letter()); err == nil {
		t.Error("it was sent")
	}
}
