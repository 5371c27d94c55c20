package panel

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
	"carteira/internal/web/panel/kit"
)

// A session with an old proof needs a new one before it may give the account
// away, on every such route, and what it sent is not lost.
func TestSensitiveRoutesWantARecentProof(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		ids := person.fill()
		known := map[string]kit.Route{}
		for _, route := range office.table() {
			known[route.Pattern()] = route
		}
		person.clock.Advance(account.ProofLife)
		before := person.everything()
		for pattern := range kit.Sensitive {
			if _, there := known[pattern]; !there {
				t.Errorf("%s is no route", pattern)
			}
		}
		for _, route := range known {
			if !route.WantsProof() {
				continue
			}
			status := http.StatusForbidden
			if route.Method == http.MethodGet {
				status = http.StatusOK
			}
			person.try(route, ids).want(t, status, "É você?", `name="proof"`)
		}
		if after := person.everything(); after != before {
			t.Error("something was changed without a proof")
		}
		asked := person.post("/api/tokens", "name", "ERP <novo>").want(t, http.StatusForbidden, `value="ERP &lt;novo&gt;"`)
		asked.lacks(t, password)
		person.post("/api/tokens", "name", "ERP", "proof", "wrong").want(t, http.StatusUnprocessableEntity, "É você?", `value="ERP"`)
		person.post("/api/tokens", "name", "ERP", "proof", password).want(t, http.StatusOK, "cart_")
		person.post("/api/tokens", "name", "Site").want(t, http.StatusOK, "cart_") // the proof is recent now
		person.clock.Advance(account.ProofLife)
		person.get("/customers/export?search=x").want(t, http.StatusOK, "É você?", `value="/customers/export?search=x"`, "Este arquivo tem dados dos seus clientes", `href="/customers"`)
		person.post("/profile/proof", "next", "/customers/export", "proof", "wrong").want(t, http.StatusUnprocessableEntity, "É você?")
		comes := person.post("/profile/proof", "next", "/customers/export?search=x", "proof", password).
			want(t, http.StatusOK, "O arquivo está sendo baixado", `href="/customers"`, `href="/customers/export?search=x"`)
		if got := comes.header.Get("Refresh"); got != "0; url=/customers/export?search=x" {
			t.Errorf("the file comes by %q", got)
		}
		person.get("/customers/export").want(t, http.StatusOK).lacks(t, "<html")
	})
}

func TestProofsCannotBeGuessed(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	person := office.owner(t, "ana@example.com")
	person.clock.Advance(account.ProofLife)
	for range 10 {
		person.post("/profile/proof", "proof", "wrong").want(t, http.StatusUnprocessableEntity)
	}
	person.post("/profile/proof", "proof", password).want(t, http.StatusTooManyRequests)
}

func TestSecondFactorEndsOtherSessionsAndProves(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		thief := office.visitor(t)
		thief.signIn("ana@example.com", password)
		secret := person.switchOn()
		person.get("/").want(t, http.StatusOK)
		if answer := thief.get("/"); answer.location != "/login" {
			t.Errorf("the other session goes on with %d", answer.status)
		}
		person.clock.Advance(account.ProofLife)
		person.post("/api/tokens", "name", "ERP").want(t, http.StatusForbidden, "um código do aplicativo")
		person.post("/api/tokens", "name", "ERP", "proof", totpOf(t, secret, person.clock.Now())).want(t, http.StatusOK, "cart_")
	})
}

// A change of where money goes is on the home page of all owners for a week.
func TestHomeTellsOwnersOfAnotherGateway(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		p := office.owner(t, "ana@example.com")
		other, staff := p.colleague(account.RoleOwner), p.colleague(account.RoleStaff)
		const notice = "O destino do dinheiro dos seus clientes foi alterado."
		p.get("/").lacks(t, notice)
		p.follow("/payments/gateways/bank", "token", "secret-1").want(t, http.StatusOK)
		p.get("/").lacks(t, notice) // it was she who did it
		move := regexp.MustCompile(`name="id" value="(\d+)"[^>]*><svg[^>]*><use[^>]*></svg>Fui eu`).FindStringSubmatch(other.get("/").want(t, http.StatusOK, notice, "Ana").body)
		staff.get("/").lacks(t, notice)
		other.post("/payments/moved", "id", "x").want(t, http.StatusUnprocessableEntity)
		other.follow("/payments/moved", "id", move[1]).want(t, http.StatusOK).lacks(t, notice)
		p.follow("/payments/gateways/bank", "token", "secret-2").want(t, http.StatusOK)
		other.get("/").want(t, http.StatusOK, notice)
		p.clock.Advance(moneyNoticeDays*24*time.Hour + time.Minute)
		p.signIn("ana@example.com", password)
		p.get("/").want(t, http.StatusOK).lacks(t, notice)
	})
}

// switchOn sets a second factor up in the panel and returns its secret.
func (p *person) switchOn() string {
	p.t.Helper()
	factor, err := p.Accounts.BeginSecondFactor(p.t.Context(), p.actor)
	if err != nil {
		p.t.Fatal(err)
	}
	p.post("/profile/second-factor", "code", totpOf(p.t, factor.Secret, p.clock.Now())).want(p.t, http.StatusOK)
	p.clock.Advance(time.Minute)
	return strings.TrimSpace(fmt.Sprint(factor.Secret))
}

// totpOf is the code of RFC 6238 that an app shows at an instant.
func totpOf(t *testing.T, base32Secret string, at time.Time) string {
	t.Helper()
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(base32Secret)
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha1.New, key)
	_ = binary.Write(mac, binary.BigEndian, at.Unix()/30)
	sum := mac.Sum(nil)
	n := binary.BigEndian.Uint32(sum[sum[19]&15:]) & 0x7fffffff
	return fmt.Sprintf("%06d", n%1_000_000)
}
