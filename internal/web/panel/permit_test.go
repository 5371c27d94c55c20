package panel

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
	"carteira/internal/reseller"
	"carteira/internal/web/page"
)

// below makes a reseller of p's company with a password, and signs its owner in.
func (p *person) below(more ...string) *person {
	p.t.Helper()
	all, err := p.Accounts.Companies(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	email := fmt.Sprintf("dono%d@example.com", len(all)+1)
	made, err := p.Resellers.Create(p.t.Context(), p.actor, reseller.ReadNewReseller(values(append([]string{"name", "Loja do Beto", "email", email, "password", password}, more...)...)))
	if err != nil {
		p.t.Fatal(err)
	}
	other := p.visitor(p.t)
	other.signIn(email, password)
	other.refresh(made.ID)
	return other
}

// refresh makes the actor what the company is now.
func (p *person) refresh(id int64) {
	p.t.Helper()
	a, err := p.Accounts.Actor(p.t.Context(), id)
	if err != nil {
		p.t.Fatal(err)
	}
	owner, err := p.Accounts.Owner(p.t.Context(), a)
	if err != nil {
		p.t.Fatal(err)
	}
	p.actor = account.Actor{Company: a.Company, UserID: owner.ID, Role: owner.Role, Name: owner.Name, From: "127.0.0.1"}
}

// become sets level and functions of a company, past every rule.
func (p *person) become(level account.Level, f account.Functions) {
	p.t.Helper()
	err := p.DB.Write(p.t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(p.t.Context(), `UPDATE companies SET level = ?, functions = ? WHERE id = ?`, string(level), f.String(), p.actor.Company.ID)
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.refresh(p.actor.Company.ID)
}

// try opens a route, with a form where it takes one.
func (p *person) try(r route, ids map[string]int64) answer {
	p.t.Helper()
	if r.method == http.MethodPost {
		return p.post(r.filled(ids), forms[r.pattern()]...)
	}
	return p.get(r.filled(ids))
}

// signsOut ends the session that tests still need, or changes who can sign in.
func signsOut(r route) bool { return r.path == "/logout" || r.role == public }

// For every function alone, and for none and all of them, each page opens where
// its own function is there, and says which one is missing where it is not.
func TestFunctionsOpenTheirPages(t *testing.T) {
	o := newOffice(t, sqldb.SQLite)
	p := o.owner(t, "ana@example.com").below()
	sets := []account.Functions{0, account.EveryFunction}
	for _, e := range account.FunctionCatalog {
		sets = append(sets, account.FunctionsOf(e.Name))
	}
	for _, set := range sets {
		p.become(account.LevelMaster, set)
		for _, r := range o.table() {
			if signsOut(r) {
				continue
			}
			// No such ids: whoever is let in finds nothing, and nothing is changed.
			a := p.try(r, map[string]int64{"profile": 999999, "settings": 999999})
			barred := a.status == http.StatusForbidden
			if want := r.role != self && !set.Has(r.function) && r.function != basic; barred != want {
				t.Errorf("%s with %s answered %d", r.pattern(), set, a.status)
			} else if want {
				a.want(t, http.StatusForbidden, "Seu plano não inclui isto", string(r.function), "Rede ana@example.com")
			}
		}
	}
}

func TestLevelOpensThePagesOfResellers(t *testing.T) {
	o := newOffice(t, sqldb.SQLite)
	p := o.owner(t, "ana@example.com").below()
	for _, level := range account.Levels {
		p.become(level, account.EveryFunction)
		for _, r := range o.table() {
			if r.function != resellers {
				continue
			}
			a := p.try(r, nil)
			if refused := a.status == http.StatusForbidden; refused != (level == account.LevelUser) {
				t.Errorf("%s at %s answered %d", r.pattern(), level, a.status)
			} else if refused {
				a.want(t, http.StatusForbidden, "Seu nível não inclui isto", "Rede ana@example.com")
			}
		}
		p.get("/credits").want(t, http.StatusOK) // its own, at every level
	}
}

// A company whose subscription has ended or is suspended opens every page that
// shows something, sends no form but those about the people themselves, and is
// told why on every page.
func TestEndedCompaniesOnlyRead(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, root, p *person){
		"expired": func(_ *testing.T, root, _ *person) { root.clock.Advance(2 * 24 * time.Hour) },
		"suspended": func(t *testing.T, root, p *person) {
			if _, err := root.Resellers.Suspend(t.Context(), root.actor, p.actor.Company.ID); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachOffice(t, func(t *testing.T, o *office) {
				root := o.owner(t, "ana@example.com")
				if _, err := o.Accounts.SetCompany(t.Context(), root.actor, account.ReadCompanyDraft(values("whatsapp", "11 98765-4321"))); err != nil {
					t.Fatal(err)
				}
				plan, err := o.Resellers.CreatePlan(t.Context(), root.actor, reseller.ReadNewPlan(values("name", "Curto", "value", "1", "credits", "0", "trial_days", "1")))
				if err != nil {
					t.Fatal(err)
				}
				p := root.below("plan_id", fmt.Sprint(plan.ID))
				p.become(account.LevelMaster, account.EveryFunction)
				_, err = o.Resellers.Grant(t.Context(), root.actor, reseller.ReadCreditRequest(values("amount", "50")))
				if err == nil {
					_, err = o.Resellers.Transfer(t.Context(), root.actor, p.actor.Company.ID, reseller.ReadCreditRequest(values("amount", "50")))
				}
				if err != nil {
					t.Fatal(err)
				}
				ids := p.fill()
				before := p.everything()
				end(t, root, p)
				for _, r := range o.table() {
					if signsOut(r) || r.role == self || r.path == "/customers/export" || r.path == "/customers/{id}/file" {
						continue
					}
					if strings.HasSuffix(r.path, "/charge") { // leads to the invoice, there being nothing to charge with
						p.try(r, ids).want(t, http.StatusSeeOther)
						continue
					}
					a := p.try(r, ids)
					want := http.StatusOK
					if r.method == http.MethodPost {
						want = http.StatusForbidden
						a.want(t, want, "Nada pode ser alterado no momento", "não foi salvo")
					}
					a.want(t, want, "até a renovação", "Fale com Rede ana@example.com.", "https://wa.me/5511987654321")
				}
				if after := p.everything(); after != before {
					t.Errorf("something changed:\n%s\nthen\n%s", before, after)
				}
				p.get("/customers").want(t, http.StatusOK, "João").lacks(t, "/customers/new", `name="action"`)
				p.post("/profile/proof", "proof", password, "next", "/customers/export")
				p.get("/customers/export").want(t, http.StatusOK, "João")
				p.follow("/profile/password", "current_password", password, "password", "another horse").want(t, http.StatusOK)
				p.post("/preferences", "lang", "en", "back", "/")
				p.get("/").want(t, http.StatusOK, "until it is renewed")
				if a := p.post("/logout"); a.status != http.StatusSeeOther {
					t.Errorf("signing out answered %d", a.status)
				}
				p.signIn(p.email(), "another horse")
			})
		})
	}
}

func (p *person) email() string {
	p.t.Helper()
	u, err := p.Accounts.Owner(p.t.Context(), p.actor)
	if err != nil {
		p.t.Fatal(err)
	}
	return u.Email
}

// everything counts what a company has, as far as pages can change it.
func (p *person) everything() (all string) {
	p.t.Helper()
	for _, table := range []string{"customers", "invoices", "customer_plans", "products", "webhooks", "api_tokens", "users", "subscription_plans", "credit_entries"} {
		n, err := sqldb.Value[int64](p.t.Context(), p.DB, `SELECT count(*) FROM `+table)
		if err != nil {
			p.t.Fatal(err)
		}
		all += fmt.Sprintf("%s %d\n", table, n)
	}
	return all
}

func TestNoticeBeginsAWeekBeforeTheEnd(t *testing.T) {
	o := newOffice(t, sqldb.SQLite)
	root := o.owner(t, "ana@example.com")
	root.get("/").want(t, http.StatusOK).lacks(t, "data-tone=\"warn\" role=\"status\"", "assinatura termina")
	plan, err := o.Resellers.CreatePlan(t.Context(), root.actor, reseller.ReadNewPlan(values("name", "Curto", "value", "1", "credits", "0", "trial_days", "8")))
	if err != nil {
		t.Fatal(err)
	}
	p := root.below("plan_id", fmt.Sprint(plan.ID))
	for _, want := range []string{
		"", "Seu teste termina em 08/02/2026, daqui a 7 dias.", "daqui a 6 dias", "daqui a 5 dias", "daqui a 4 dias", "daqui a 3 dias", "daqui a 2 dias",
		"Seu teste termina amanhã.", "Seu teste termina hoje.", "Seu teste terminou em 08/02/2026.",
	} {
		a := p.get("/plans").want(t, http.StatusOK, want)
		if want == "" {
			a.lacks(t, "Seu teste")
		} else {
			a.want(t, http.StatusOK, "Fale com Rede ana@example.com.")
		}
		o.clock.Advance(24 * time.Hour)
	}
	if _, err := o.Resellers.Renew(t.Context(), root.actor, p.actor.Company.ID, reseller.ReadRenewRequest(values())); err != nil {
		t.Fatal(err)
	}
	p.get("/plans").want(t, http.StatusOK).lacks(t, "Seu teste", "Sua assinatura")
	o.clock.Advance(27 * 24 * time.Hour)
	p.signIn(p.email(), password) // the session has ended by itself
	p.get("/plans").want(t, http.StatusOK, "Sua assinatura termina ")
}

func TestMenuLocksWhatThePlanLacks(t *testing.T) {
	o := newOffice(t, sqldb.SQLite)
	p := o.owner(t, "ana@example.com").below()
	p.become(account.LevelUser, account.FunctionsOf(account.FunctionAPI))
	a := p.get("/").want(t, http.StatusOK, `href="/webhooks"`, `href="/api"`, `href="/credits"`, "não está no seu plano")
	a.lacks(t, `href="/resellers"`, `href="/subscription-plans"`)
	locked := 0
	for _, g := range menu {
		for _, e := range g.Entries {
			if e.function != basic && e.function != api && e.function != resellers {
				locked++
			}
		}
	}
	if n := strings.Count(a.body, "não está no seu plano"); n != 2*locked { // the menu stands there twice: for phones and beside
		t.Errorf("%d entries are locked, want %d", n, 2*locked)
	}
	p.get("/customers").want(t, http.StatusOK).lacks(t, "/customers/export", `href="/imports"`)
}

// Texts of tables that no literal in a call or template shows to the test of the
// catalog.
func TestTextsOfResaleHavePortuguese(t *testing.T) {
	o := newOffice(t, sqldb.SQLite)
	var texts []string
	for _, l := range account.Levels {
		texts = append(texts, levelWords[l], levelHelp[l])
	}
	for _, s := range account.Standings {
		texts = append(texts, standingWords[s])
	}
	for _, e := range account.FunctionCatalog {
		texts = append(texts, functionWords[e.Name], e.Description)
	}
	for _, w := range entryWords {
		texts = append(texts, w)
	}
	for _, w := range barTitles {
		texts = append(texts, w)
	}
	for _, c := range []course{o.sending(), o.takingBack()} {
		texts = append(texts, c.Title, c.Button, c.done)
	}
	for _, text := range texts {
		if !page.Known(text) {
			t.Errorf("messages/*.txt lacks a line:\n%q | ", text)
		}
	}
}
