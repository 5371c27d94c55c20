package account_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
)

// told sends what is due and returns the letters since the last time, as "address: subject".
func (h house) told(t *testing.T, post *post) string {
	t.Helper()
	post.mails = nil
	housetest.Must(t, h.SendMails(t.Context()))
	var list []string
	for _, mail := range post.mails {
		list = append(list, mail.To+": "+strings.TrimPrefix(mail.Subject, "Carteira: "))
	}
	return strings.Join(list, "; ")
}

func wantTold(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("written: %s\nwant: %s", got, want)
	}
}

// confirm confirms the address of the user of a visit.
func (h house) confirm(t *testing.T, post *post, visit account.Visit) {
	t.Helper()
	housetest.Must(t, h.ConfirmAddress(t.Context(), visit))
	_, code := h.last(t, post)
	_, err := h.UseAddressLink(t.Context(), code, here)
	housetest.Must(t, err)
}

func change(address string) account.NewEmail {
	return account.ReadEmail(form("email", address))
}

func TestFormerAddressIsWrittenToAndComesBack(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		ctx := t.Context()
		house, post := house.withMail(t)
		token, visit := house.signIn(t)
		house.confirm(t, post, visit)

		housetest.Must(t, house.ChangeEmail(ctx, visit, change("ladra@example.com")))
		wantTold(t, house.told(t, post), "Ana@Example.com: o e-mail da conta foi trocado; ladra@example.com: confirmar o e-mail")
		back := mailedLink.FindStringSubmatch(post.mails[0].Text)
		if back == nil || back[1] != "email" || strings.Contains(post.mails[0].Text, "ladra") {
			t.Fatalf("the letter to the former address: %s", post.mails[0].Text)
		}
		visit, err := house.Authenticate(ctx, token, here)
		housetest.Must(t, err)
		housetest.Must(t, house.ChangeEmail(ctx, visit, change("outra@example.com"))) // so that the first letter is of no use
		house.told(t, post)

		housetest.Must(t, house.Forget(ctx, email("outra@example.com"), here))
		_, stolen := house.last(t, post)
		link, err := house.FindAddressLink(ctx, back[2])
		if err != nil || link.Restores != "Ana@Example.com" || link.Release {
			t.Errorf("the link is %+v, %v", link, err)
		}
		link, err = house.UseAddressLink(ctx, back[2], here)
		housetest.Must(t, err)
		wantTold(t, house.told(t, post), "outra@example.com: o e-mail da conta voltou ao anterior")
		_, err = house.UseAddressLink(ctx, back[2], here)
		wantKind(t, err, fault.KindNotFound)
		_, err = house.Authenticate(ctx, token, here)
		wantKind(t, err, fault.KindUnauthenticated)
		_, err = house.LinkedUser(ctx, stolen)
		wantKind(t, err, fault.KindNotFound)
		_, err = house.SignIn(ctx, credentials(password), here) // which the thief knows
		wantKind(t, err, fault.KindInvalid)
		_, err = house.UsePasswordLink(ctx, link.Password, account.ReadNewPassword(form("password", "another long one")), here)
		housetest.Must(t, err)
		in, err := house.SignIn(ctx, credentials("another long one"), here)
		if err != nil || in.User.Email != "Ana@Example.com" {
			t.Errorf("signed in as %+v, %v", in.User, err)
		}
	})
}

func TestFormerAddressComesBackForThreeDaysIfItWasConfirmed(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		ctx := t.Context()
		house, post := house.withMail(t)
		_, visit := house.signIn(t)
		housetest.Must(t, house.ChangeEmail(ctx, visit, change("certo@example.com")))
		wantTold(t, house.told(t, post), "Ana@Example.com: entrada em um novo navegador; "+
			"Ana@Example.com: o e-mail da conta foi trocado; certo@example.com: confirmar o e-mail")
		if mailedLink.MatchString(post.mails[1].Text) { // a slip of the pen would give the account away
			t.Errorf("an address that was never confirmed has a way back: %s", post.mails[1].Text)
		}
		_, code := house.last(t, post)
		_, err := house.UseAddressLink(ctx, code, here)
		housetest.Must(t, err)
		_, visit = house.signInAs(t, "certo@example.com")
		housetest.Must(t, house.ChangeEmail(ctx, visit, change("ana@example.com")))
		house.told(t, post)
		var back string
		for _, mail := range post.mails {
			if found := mailedLink.FindStringSubmatch(mail.Text); found != nil && mail.To == "certo@example.com" {
				back = found[2]
			}
		}
		house.clock.Advance(3*24*time.Hour - time.Minute)
		_, err = house.FindAddressLink(ctx, back)
		housetest.Must(t, err)
		house.clock.Advance(time.Minute)
		_, err = house.UseAddressLink(ctx, back, here)
		wantKind(t, err, fault.KindNotFound)
	})
}

func TestUserIsWrittenToAboutWhatLetsIn(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		ctx := t.Context()
		house, post := house.withMail(t)
		in, err := house.SignIn(ctx, credentials(password), here)
		housetest.Must(t, err)
		wantTold(t, house.told(t, post), "Ana@Example.com: entrada em um novo navegador")
		if text := post.mails[0].Text; !strings.Contains(text, "192.0.2.1") || !strings.Contains(text, "https://clientes.example.com/forgot") {
			t.Errorf("about a new browser: %s", text)
		}
		known := account.Visitor{Address: here.Address, Device: in.Device}
		in, err = house.SignIn(ctx, credentials(password), known)
		housetest.Must(t, err)
		wantTold(t, house.told(t, post), "")
		visit, err := house.Authenticate(ctx, in.Token, known)
		housetest.Must(t, err)

		housetest.Must(t, house.ChangePassword(ctx, visit, account.ReadPasswordChange(form("password", "another long one", "current_password", password))))
		wantTold(t, house.told(t, post), "Ana@Example.com: a senha foi trocada")

		factor, err := house.BeginSecondFactor(ctx, visit.Actor)
		housetest.Must(t, err)
		codes, err := house.ConfirmSecondFactor(ctx, visit, account.Code{Text: code(t, factor.Secret, house.clock.Now())})
		housetest.Must(t, err)
		wantTold(t, house.told(t, post), "Ana@Example.com: a verificação em duas etapas foi ativada")
		in, err = house.SignIn(ctx, credentials("another long one"), known)
		housetest.Must(t, err)
		_, err = house.ConfirmCode(ctx, in.Token, account.Code{Text: codes[0]}, known)
		housetest.Must(t, err)
		wantTold(t, house.told(t, post), "Ana@Example.com: um código de recuperação foi usado")
		if !strings.Contains(post.mails[0].Text, "Restam 9.") {
			t.Errorf("about a recovery code: %s", post.mails[0].Text)
		}
		_, err = house.RemoveSecondFactor(ctx, account.Operator(visit.Actor.Company), visit.User.ID)
		housetest.Must(t, err)
		wantTold(t, house.told(t, post), "Ana@Example.com: a verificação em duas etapas foi desativada")
	})
}

func TestOwnersAreWrittenToAboutOwnersAndTokens(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		ctx := t.Context()
		house, post := house.withMail(t)
		_, visit := house.signIn(t)
		house.told(t, post)
		bia, link, err := house.CreateUser(ctx, visit.Actor, account.ReadNewUser(form("name", "Clique em http://golpe.example", "email", "bia@example.com", "role", "staff")))
		housetest.Must(t, err)
		wantTold(t, house.told(t, post), "")
		_, err = house.UpdateUser(ctx, visit.Actor, bia.ID, account.ReadUserChanges(form("role", "owner")))
		housetest.Must(t, err)
		wantTold(t, house.told(t, post), "Ana@Example.com: há um novo dono da conta")
		_, err = house.UsePasswordLink(ctx, link, account.ReadNewPassword(form("password", "another long one")), here)
		housetest.Must(t, err)
		_, _, err = house.CreateUser(ctx, visit.Actor, account.ReadNewUser(form("name", "Clique em http://golpe.example", "email", "caio@example.com", "role", "owner")))
		housetest.Must(t, err)
		wantTold(t, house.told(t, post), "Ana@Example.com: há um novo dono da conta; bia@example.com: há um novo dono da conta")
		_, _, err = house.CreateToken(ctx, visit.Actor, account.NewToken{Name: "http://golpe.example"})
		housetest.Must(t, err)
		told := house.told(t, post)
		wantTold(t, told, "Ana@Example.com: há um novo token da API; bia@example.com: há um novo token da API")
		for _, mail := range post.mails {
			if strings.Contains(mail.Text, "golpe") {
				t.Errorf("a user's own words are in %s", mail.Text)
			}
		}
	})
}

// Letters have a bound, and what they are about has none: the audit log has it.
func TestNoticesAreLimited(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		ctx := t.Context()
		house, post := house.withMail(t)
		_, visit := house.signIn(t)
		house.confirm(t, post, visit)
		for n := range 7 {
			_, _, err := house.CreateToken(ctx, visit.Actor, account.NewToken{Name: fmt.Sprint(n)})
			housetest.Must(t, err)
		}
		if n := strings.Count(house.told(t, post), "token"); n != 5 {
			t.Errorf("%d letters about seven tokens, want 5", n)
		}
		lines, _, err := house.Audit(ctx, visit.Actor, account.AuditFilter{}, input.Page{Number: 1, Size: 100})
		housetest.Must(t, err)
		audited := 0
		for _, line := range lines {
			if line.Action == "token.created" {
				audited++
			}
		}
		if audited != 7 {
			t.Errorf("%d tokens are in the audit log, want 7", audited)
		}
		for n := range 12 { // users with addresses that may be of strangers
			_, link, err := house.CreateUser(ctx, visit.Actor, account.ReadNewUser(form("name", "B", "email", fmt.Sprintf("vitima%d@example.com", n), "role", "staff")))
			housetest.Must(t, err)
			_, err = house.UsePasswordLink(ctx, link, account.ReadNewPassword(form("password", password)), here)
			housetest.Must(t, err)
			house.signInAs(t, fmt.Sprintf("vitima%d@example.com", n))
		}
		if n := strings.Count(house.told(t, post), "vitima"); n != 9 { // and one to Ana, before she confirmed hers
			t.Errorf("%d letters to addresses that were never confirmed, want 9", n)
		}
	})
}

func TestWithoutAMailServerNothingIsQueued(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		_, visit := house.signIn(t)
		housetest.Must(t, house.ChangeEmail(t.Context(), visit, change("nova@example.com")))
		_, _, err := house.CreateToken(t.Context(), visit.Actor, account.NewToken{Name: "site"})
		housetest.Must(t, err)
		queued, err := sqldb.Value[int64](t.Context(), house.db, `SELECT (SELECT count(*) FROM user_mails) + (SELECT count(*) FROM password_links)`)
		if err != nil || queued != 0 {
			t.Errorf("%d letters and links, %v", queued, err)
		}
		lines, _, err := house.Audit(t.Context(), visit.Actor, account.AuditFilter{}, input.Page{Number: 1, Size: 100})
		housetest.Must(t, err)
		if len(lines) < 3 {
			t.Errorf("the audit log has %+v", lines)
		}
	})
}
