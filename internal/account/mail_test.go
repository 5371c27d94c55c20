package account_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
)

// post is a mail server that keeps what it is given.
type post struct {
	mails  []account.Mail
	broken bool
}

func (p *post) send(_ context.Context, mail account.Mail) error {
	if p.broken {
		return errors.New("nobody answers")
	}
	p.mails = append(p.mails, mail)
	return nil
}

// withMail is the house with a mail server.
func (h house) withMail(t *testing.T) (house, *post) {
	t.Helper()
	p := &post{}
	h.Service = account.New(h.db, account.Config{Box: testBox(t, "A7"), Mailer: p.send, PublicURL: "https://clientes.example.com"})
	return h, p
}

var mailedLink = regexp.MustCompile(`https://clientes\.example\.com/(password|email)/(\S+)`)

// last sends what is due and returns the code of the link in the newest mail.
func (h house) last(t *testing.T, post *post) (kind, code string) {
	t.Helper()
	housetest.Must(t, h.SendMails(t.Context()))
	if len(post.mails) == 0 {
		t.Fatal("no mail was sent")
	}
	for _, mail := range slices.Backward(post.mails) {
		if found := mailedLink.FindStringSubmatch(mail.Text); found != nil {
			return found[1], found[2]
		}
	}
	t.Fatalf("no link in %+v", post.mails)
	return "", ""
}

func email(address string) account.NewEmail { return account.ReadEmail(form("email", address)) }

func TestForgottenPasswordIsSetByMail(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		wantKind(t, house.Forget(t.Context(), email("ana@example.com"), here), fault.KindNotFound) // without a mail server
		house, post := house.withMail(t)
		housetest.Must(t, house.Forget(t.Context(), email("nobody@example.com"), here))
		housetest.Must(t, house.SendMails(t.Context()))
		if len(post.mails) != 0 {
			t.Errorf("a stranger was written to: %+v", post.mails)
		}
		housetest.Must(t, house.Forget(t.Context(), email("ANA@example.com"), here))
		stored, err := sqldb.Value[string](t.Context(), house.db, `SELECT content FROM user_mails`)
		if err != nil || strings.Contains(stored, "password") {
			t.Errorf("the link is readable in the database: %q, %v", stored, err)
		}
		kind, code := house.last(t, post)
		if kind != "password" || post.mails[0].To != "Ana@Example.com" {
			t.Errorf("sent %s to %s", kind, post.mails[0].To)
		}
		_, err = house.UsePasswordLink(t.Context(), code, account.ReadNewPassword(form("password", "another long one")), here)
		housetest.Must(t, err)
		in, err := house.SignIn(t.Context(), credentials("another long one"), here)
		housetest.Must(t, err)
		visit, err := house.Authenticate(t.Context(), in.Token, here)
		housetest.Must(t, err)
		if known, err := house.AddressConfirmed(t.Context(), visit.Actor); err != nil || !known {
			t.Errorf("the address is not confirmed by the link: %v", err)
		}
		housetest.Must(t, house.Forget(t.Context(), email("ana@example.com"), here))
		_, late := house.last(t, post)
		house.clock.Advance(time.Hour)
		_, err = house.UsePasswordLink(t.Context(), late, account.ReadNewPassword(form("password", "a third long one")), here)
		wantKind(t, err, fault.KindNotFound)
	})
}

func TestForgottenPasswordsAreLimited(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		house, _ = house.withMail(t)
		for _, address := range []string{"ana@example.com", "nobody@example.com"} {
			for range 3 {
				housetest.Must(t, house.Forget(t.Context(), email(address), here))
			}
			wantKind(t, house.Forget(t.Context(), email(address), here), fault.KindRateLimited)
			for n := range 3 { // a stranger does not use up what others have
				for range 3 {
					housetest.Must(t, house.Forget(t.Context(), email(address), account.Visitor{Address: fmt.Sprintf("198.51.100.%d", n)}))
				}
			}
			wantKind(t, house.Forget(t.Context(), email(address), account.Visitor{Address: "198.51.100.7"}), fault.KindRateLimited)
		}
		in, err := house.SignIn(t.Context(), credentials(password), here)
		housetest.Must(t, err)
		mine := account.Visitor{Address: here.Address, Device: in.Device} // many strangers do not either
		for range 3 {
			housetest.Must(t, house.Forget(t.Context(), email("ana@example.com"), mine))
		}
		wantKind(t, house.Forget(t.Context(), email("ana@example.com"), mine), fault.KindRateLimited)
	})
}

func TestMailIsTriedAgainAndGivenUp(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		house, post := house.withMail(t)
		post.broken = true
		housetest.Must(t, house.Forget(t.Context(), email("ana@example.com"), here))
		for range 6 {
			if err := house.SendMails(t.Context()); err == nil {
				t.Error("a failure is not told")
			}
			housetest.Must(t, house.SendMails(t.Context())) // not due again
			house.clock.Advance(4 * time.Hour)
		}
		left, err := sqldb.Value[int64](t.Context(), house.db, `SELECT count(*) FROM user_mails`)
		if err != nil || left != 0 {
			t.Errorf("%d mails are left, %v", left, err)
		}
	})
}

// An unconfirmed address goes to the person who can read its mailbox; a
// confirmed one stays.
func TestUnconfirmedAddressIsReleasedFromItsMailbox(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		house, post := house.withMail(t)
		company, _, err := house.CreateCompany(t.Context(), account.ReadNewCompany(form("name", "Outra", "email", "outra@example.com")))
		housetest.Must(t, err)
		other := account.Actor{Company: company, UserID: 99, From: "198.51.100.7"}
		wanted := account.ReadNewUser(form("name", "Ana", "email", "ana@example.com", "role", "staff"))
		_, _, err = house.CreateUser(t.Context(), other, wanted)
		wantKind(t, err, fault.KindInvalid)
		kind, code := house.last(t, post)
		link, err := house.FindAddressLink(t.Context(), code)
		if err != nil || kind != "email" || !link.Release || post.mails[0].To != "Ana@Example.com" {
			t.Errorf("%s to %s: %+v, %v", kind, post.mails[0].To, link, err)
		}
		_, err = house.UseAddressLink(t.Context(), code, here)
		housetest.Must(t, err)
		_, err = house.UseAddressLink(t.Context(), code, here)
		wantKind(t, err, fault.KindNotFound)
		_, _, err = house.CreateUser(t.Context(), other, wanted)
		housetest.Must(t, err)

		// The first owner confirms another address, which then stays.
		_, visit := house.signInAs(t, fmt.Sprintf("liberado-%d@invalid", house.owner.ID))
		housetest.Must(t, house.ChangeEmail(t.Context(), visit, account.ReadEmail(form("email", "nova@example.com"))))
		_, code = house.last(t, post)
		_, err = house.UseAddressLink(t.Context(), code, here)
		housetest.Must(t, err)
		_, _, err = house.CreateUser(t.Context(), other, account.ReadNewUser(form("name", "B", "email", "nova@example.com", "role", "staff")))
		wantKind(t, err, fault.KindInvalid)
		housetest.Must(t, house.SendMails(t.Context()))
		if last := post.mails[len(post.mails)-1]; mailedLink.MatchString(last.Text) || last.To != "nova@example.com" {
			t.Errorf("a confirmed address can be released: %+v", last)
		}
	})
}

func (h house) signInAs(t *testing.T, address string) (string, account.Visit) {
	t.Helper()
	in, err := h.SignIn(t.Context(), account.ReadCredentials(form("email", address, "password", password)), here)
	housetest.Must(t, err)
	visit, err := h.Authenticate(t.Context(), in.Token, here)
	housetest.Must(t, err)
	return in.Token, visit
}

func TestProbingAddressesIsLimitedAndAudited(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		company, _, err := house.CreateCompany(t.Context(), account.ReadNewCompany(form("name", "Outra", "email", "outra@example.com")))
		housetest.Must(t, err)
		prober := account.Actor{Company: company, UserID: 99, From: "198.51.100.7"}
		probe := func(actor account.Actor) error {
			_, _, err := house.CreateUser(t.Context(), actor, account.ReadNewUser(form("name", "A", "email", "ana@example.com", "role", "staff")))
			return err
		}
		for range 20 {
			wantKind(t, probe(prober), fault.KindInvalid)
		}
		wantKind(t, probe(prober), fault.KindRateLimited)
		_, _, err = house.CreateUser(t.Context(), prober, account.ReadNewUser(form("name", "A", "email", "free@example.com", "role", "staff")))
		wantKind(t, err, fault.KindRateLimited) // or the answer would still tell
		wantKind(t, probe(account.Operator(company)), fault.KindInvalid)
		lines, _, err := house.Audit(t.Context(), prober, account.AuditFilter{}, input.Page{Number: 1, Size: 100})
		housetest.Must(t, err)
		audited := 0
		for _, line := range lines {
			if line.Action == "email.refused" && line.Name == "ana@example.com" {
				audited++
			}
		}
		if audited != 20 {
			t.Errorf("%d probes are in the audit log, want 20", audited)
		}
	})
}

func TestOwnersAreToldByMail(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		house, post := house.withMail(t)
		_, visit := house.signIn(t)
		for _, role := range []string{"owner", "staff"} {
			_, _, err := house.CreateUser(t.Context(), visit.Actor, account.ReadNewUser(form("name", role, "email", role+"@example.com", "role", role)))
			housetest.Must(t, err)
		}
		housetest.Must(t, house.SendMails(t.Context()))
		post.mails = nil
		told := account.Notice{Kind: "test", Subject: "S", Text: "T", English: "E"}
		housetest.Must(t, house.db.Write(t.Context(), func(tx *sqldb.Tx) error { return house.TellOwnersTx(t.Context(), visit.Actor.In(tx), told) }))
		housetest.Must(t, house.SendMails(t.Context()))
		if len(post.mails) != 1 || post.mails[0].To != "Ana@Example.com" { // the other one has never signed in
			t.Errorf("told %+v", post.mails)
		}
	})
}

// What we write to an address that may be anyone's holds nothing that a user has
// made up, and there is little of it.
func TestOurLettersAreNoRelay(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		house, post := house.withMail(t)
		token, visit := house.signIn(t)
		_, err := house.UpdateUser(t.Context(), account.Operator(visit.Actor.Company), visit.User.ID, account.ReadUserChanges(form("name", "Clique em http://golpe.example")))
		housetest.Must(t, err)
		change := func(address string) error {
			current, err := house.Authenticate(t.Context(), token, here)
			housetest.Must(t, err)
			return house.ChangeEmail(t.Context(), current, account.ReadEmail(form("email", address)))
		}
		for n := range 3 {
			housetest.Must(t, change(fmt.Sprintf("vitima%d@example.com", n)))
		}
		wantKind(t, change("vitima4@example.com"), fault.KindRateLimited)
		housetest.Must(t, house.Forget(t.Context(), email("vitima2@example.com"), here))
		housetest.Must(t, house.SendMails(t.Context()))
		for _, mail := range post.mails {
			if strings.Contains(mail.Subject+mail.Text, "golpe") {
				t.Errorf("written to %s: %s", mail.To, mail.Text)
			}
		}
		if first := post.mails[0]; len(post.mails) < 4 || !strings.Contains(first.Text, "/password/") {
			t.Errorf("a new password waits behind %d letters: %+v", len(post.mails)-1, first)
		}
	})
}
