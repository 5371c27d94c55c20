package panel

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

// A session whose last proof is old is asked for another before it may give the
// account away, on every such route, and what it sent is not lost.
func TestSensitiveRoutesWantARecentProof(t *testing.T) {
	eachOffice(t, func(t *testing.T, o *office) {
		p := o.owner(t, "ana@example.com")
		ids := p.fill()
		known := map[string]route{}
		for _, r := range o.table() {
			known[r.pattern()] = r
		}
		p.clock.Advance(account.ProofLife)
		before := p.everything()
		for pattern := range sensitive {
			r, there := known[pattern]
			if !there {
				t.Errorf("%s is no route", pattern)
				continue
			}
			status := http.StatusForbidden
			if r.method == http.MethodGet {
				status = http.StatusOK
			}
			p.try(r, ids).want(t, status, "É você?", `name="proof"`)
		}
		if after := p.everything(); after != before {
			t.Error("something was changed without a proof")
		}
		asked := p.post("/api/tokens", "name", "ERP <novo>").want(t, http.StatusForbidden, `value="ERP &lt;novo&gt;"`)
		asked.lacks(t, password)
		p.post("/api/tokens", "name", "ERP", "proof", "wrong").want(t, http.StatusUnprocessableEntity, "É você?", `value="ERP"`)
		p.post("/api/tokens", "name", "ERP", "proof", password).want(t, http.StatusOK, "cart_")
		p.post("/api/tokens", "name", "Site").want(t, http.StatusOK, "cart_") // the proof is recent now
		p.clock.Advance(account.ProofLife)
		p.get("/customers/export?search=x").want(t, http.StatusOK, "É você?", `value="/customers/export?search=x"`)
		p.post("/profile/proof", "next", "/customers/export", "proof", "wrong").want(t, http.StatusUnprocessableEntity, "É você?")
		if a := p.post("/profile/proof", "next", "/customers/export", "proof", password); a.location != "/customers/export" {
			t.Errorf("led to %q with %d", a.location, a.status)
		}
		p.get("/customers/export").want(t, http.StatusOK).lacks(t, "<html")
	})
}

func TestProofsCannotBeGuessed(t *testing.T) {
	o := newOffice(t, sqldb.SQLite)
	p := o.owner(t, "ana@example.com")
	p.clock.Advance(account.ProofLife)
	for range 10 {
		p.post("/profile/proof", "proof", "wrong").want(t, http.StatusUnprocessableEntity)
	}
	p.post("/profile/proof", "proof", password).want(t, http.StatusTooManyRequests)
}

func TestSecondFactorEndsOtherSessionsAndProves(t *testing.T) {
	eachOffice(t, func(t *testing.T, o *office) {
		p := o.owner(t, "ana@example.com")
		thief := o.visitor(t)
		thief.signIn("ana@example.com", password)
		secret := p.switchOn()
		p.get("/").want(t, http.StatusOK)
		if a := thief.get("/"); a.location != "/login" {
			t.Errorf("the other session goes on with %d", a.status)
		}
		p.clock.Advance(account.ProofLife)
		p.post("/api/tokens", "name", "ERP").want(t, http.StatusForbidden, "um código do aplicativo")
		p.post("/api/tokens", "name", "ERP", "proof", totpOf(t, secret, p.clock.Now())).want(t, http.StatusOK, "cart_")
	})
}

// A change of where money goes is on the home page of all owners for a week.
func TestHomeTellsOwnersOfAnotherGateway(t *testing.T) {
	eachOffice(t, func(t *testing.T, o *office) {
		p := o.owner(t, "ana@example.com")
		other, staff := p.colleague(account.RoleOwner), p.colleague(account.RoleStaff)
		const notice = "O destino do dinheiro dos seus clientes foi alterado."
		p.get("/").lacks(t, notice)
		p.follow("/payments/gateways/bank", "token", "secret-1").want(t, http.StatusOK)
		for _, who := range []*person{p, other} {
			who.get("/").want(t, http.StatusOK, notice, "Ana")
		}
		staff.get("/").lacks(t, notice)
		p.clock.Advance(moneyNoticeDays*24*time.Hour + time.Minute)
		p.signIn("ana@example.com", password)
		p.get("/").want(t, http.StatusOK).lacks(t, notice)
	})
}

// switchOn sets a second factor up in the panel and returns its secret.
func (p *person) switchOn() string {
	p.t.Helper()
	f, err := p.Accounts.BeginSecondFactor(p.t.Context(), p.actor)
	if err != nil {
		p.t.Fatal(err)
	}
	p.post("/profile/second-factor", "code", totpOf(p.t, f.Secret, p.clock.Now())).want(p.t, http.StatusOK)
	p.clock.Advance(time.Minute)
	return strings.TrimSpace(fmt.Sprint(f.Secret))
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
