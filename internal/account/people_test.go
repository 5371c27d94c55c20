package account_test

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// house is a company with an owner who can sign in, on a clock of its own.
type house struct {
	*account.Service
	db    *sqldb.DB
	clock *sqldbtest.Clock
	owner account.User
	url   string
}

const password = "correct horse"

var here = account.Visitor{Address: "192.0.2.1", Agent: "test"}

// eachHouse runs a test in a fresh house on either engine.
func eachHouse(t *testing.T, test func(t *testing.T, h house)) {
	t.Helper()
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		h := house{clock: sqldbtest.NewClock(noon), url: sqldbtest.URL(t, engine)}
		h.db = sqldbtest.Open(t, h.url, sqldbtest.WithClock(h.clock))
		h.Service = account.New(h.db, account.Config{Box: testBox(t, "A7")})
		var err error
		_, h.owner, err = h.CreateCompany(t.Context(), account.ReadNewCompany(form("name", "Rede", "email", "Ana@Example.com", "password", password, "user_name", "Ana")))
		if err != nil {
			t.Fatal(err)
		}
		test(t, h)
	})
}

func testBox(t *testing.T, pair string, old ...string) *secret.Box {
	t.Helper()
	keys := make([]secret.Key, 0, 1+len(old))
	for _, p := range append([]string{pair}, old...) {
		key, err := secret.ParseKey(strings.Repeat(p, 32))
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	return secret.NewBox(keys[0], keys[1:]...)
}

func (h house) signIn(t *testing.T) (string, account.Visit) {
	t.Helper()
	in, err := h.SignIn(t.Context(), account.ReadCredentials(form("email", "ana@example.com", "password", password)), here)
	if err != nil {
		t.Fatal(err)
	}
	visit, err := h.Authenticate(t.Context(), in.Token, here)
	if err != nil {
		t.Fatal(err)
	}
	return in.Token, visit
}

func TestSignInAndOut(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		token, visit := house.signIn(t)
		actor := visit.Actor
		if actor.UserID != house.owner.ID || actor.Role != account.RoleOwner || actor.From != here.Address || actor.Name != "Ana" || actor.Company.Name != "Rede" || len(token) < 40 {
			t.Errorf("visit %+v", visit)
		}
		if _, again := house.signIn(t); again.Session.ID == visit.Session.ID {
			t.Error("a second sign-in has the first's session")
		}
		list, err := house.Sessions(t.Context(), actor)
		if err != nil || len(list) != 2 {
			t.Errorf("sessions %v, %v", list, err)
		}
		if err := house.SignOut(t.Context(), visit); err != nil {
			t.Fatal(err)
		}
		_, err = house.Authenticate(t.Context(), token, here)
		wantKind(t, err, fault.KindUnauthenticated)
		stored, err := sqldb.Value[int](t.Context(), house.db, `SELECT count(*) FROM sessions WHERE hash = ?`, []byte(token))
		if err != nil || stored != 0 {
			t.Errorf("the token itself is stored: %v", err)
		}
	})
}

func TestWrongPasswordsAndUnknownPeopleAreRefusedAlike(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		_, link, err := house.CreateUser(t.Context(), account.System(account.Company{ID: house.owner.CompanyID}, "test"), account.ReadNewUser(form("name", "B", "email", "b@example.com", "role", "staff")))
		if err != nil || link == "" {
			t.Fatal(err)
		}
		var said []string
		for _, pair := range [][2]string{{"ana@example.com", "wrong"}, {"nobody@example.com", password}, {"b@example.com", ""}, {"b@example.com", "x"}} {
			_, err := house.SignIn(t.Context(), account.ReadCredentials(form("email", pair[0], "password", pair[1])), here)
			wantKind(t, err, fault.KindInvalid)
			if pair[1] != "" {
				said = append(said, fault.Public(err))
			}
		}
		for _, s := range said {
			if s != said[0] {
				t.Errorf("answers differ: %q", said)
			}
		}
	})
}

func TestAttemptsAreLimitedAcrossProcesses(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		other := account.New(sqldbtest.Open(t, house.url, sqldbtest.WithClock(house.clock)), account.Config{})
		kinds := make([]fault.Kind, 16)
		var wg sync.WaitGroup
		for i := range kinds {
			service := house.Service
			if i%2 == 1 {
				service = other
			}
			wg.Go(func() {
				_, err := service.SignIn(t.Context(), account.ReadCredentials(form("email", "ana@example.com", "password", "wrong")), here)
				kinds[i] = fault.KindOf(err)
			})
		}
		wg.Wait()
		tried := 0
		for _, kind := range kinds {
			if kind == fault.KindInvalid {
				tried++
			}
		}
		if tried != 10 {
			t.Errorf("%d attempts were let through, want 10", tried)
		}
		_, err := house.SignIn(t.Context(), account.ReadCredentials(form("email", "ana@example.com", "password", password)), here)
		wantKind(t, err, fault.KindRateLimited)
		elsewhere := account.Visitor{Address: "198.51.100.7"}
		if _, err := house.SignIn(t.Context(), account.ReadCredentials(form("email", "ana@example.com", "password", password)), elsewhere); err != nil {
			t.Errorf("the person is locked out by a stranger: %v", err)
		}
		house.clock.Advance(16 * time.Minute)
		house.signIn(t)
	})
}

func TestOneAddressCannotTryManyPeople(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		var last error
		for i := range 51 {
			// The password of an unknown address costs as much as a real one, so the
			// form stops earlier.
			_, last = house.SignIn(t.Context(), account.ReadCredentials(form("email", fmt.Sprintf("p%d@example.com", i), "password", "x")), here)
		}
		wantKind(t, last, fault.KindRateLimited)
	})
}

func TestSessionsEndByThemselves(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		idle, _ := house.signIn(t)
		house.clock.Advance(account.SessionIdle)
		_, err := house.Authenticate(t.Context(), idle, here)
		wantKind(t, err, fault.KindUnauthenticated)

		used, _ := house.signIn(t)
		for range 29 {
			house.clock.Advance(24 * time.Hour)
			if _, err := house.Authenticate(t.Context(), used, here); err != nil {
				t.Fatal(err)
			}
		}
		house.clock.Advance(24 * time.Hour)
		_, err = house.Authenticate(t.Context(), used, here)
		wantKind(t, err, fault.KindUnauthenticated)
		if err := house.PruneSessions(t.Context()); err != nil {
			t.Fatal(err)
		}
		left, err := sqldb.Value[int](t.Context(), house.db, `SELECT count(*) FROM sessions`)
		if err != nil || left != 0 {
			t.Errorf("%d sessions are left, %v", left, err)
		}
	})
}

func TestChangedPasswordEndsOtherSessions(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		elsewhere, _ := house.signIn(t)
		token, visit := house.signIn(t)
		wantFields(t, house.ChangePassword(t.Context(), visit, account.ReadPasswordChange(form("current_password", "wrong", "password", "another one"))), "current_password")
		wantFields(t, house.ChangePassword(t.Context(), visit, account.ReadPasswordChange(form("current_password", password, "password", "short"))), "password")
		if err := house.ChangePassword(t.Context(), visit, account.ReadPasswordChange(form("current_password", password, "password", "another one"))); err != nil {
			t.Fatal(err)
		}
		if _, err := house.Authenticate(t.Context(), token, here); err != nil {
			t.Errorf("this session ended too: %v", err)
		}
		_, err := house.Authenticate(t.Context(), elsewhere, here)
		wantKind(t, err, fault.KindUnauthenticated)
		_, err = house.SignIn(t.Context(), account.ReadCredentials(form("email", "ana@example.com", "password", password)), here)
		wantKind(t, err, fault.KindInvalid)
		if _, err := house.SignIn(t.Context(), account.ReadCredentials(form("email", "ana@example.com", "password", "another one")), here); err != nil {
			t.Error(err)
		}
	})
}

// code is RFC 6238, written a second time.
func code(t *testing.T, base32Secret string, at time.Time) string {
	t.Helper()
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(base32Secret)
	if err != nil {
		t.Fatal(err)
	}
	var counter [8]byte
	binary.BigEndian.PutUint64(counter[:], uint64(at.Unix()/30))
	mac := hmac.New(sha1.New, key)
	mac.Write(counter[:])
	sum := mac.Sum(nil)
	o := sum[19] & 15
	n := (uint32(sum[o])&0x7f)<<24 | uint32(sum[o+1])<<16 | uint32(sum[o+2])<<8 | uint32(sum[o+3])
	return fmt.Sprintf("%06d", n%1000000)
}

func TestSecondFactor(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		_, visit := house.signIn(t)
		factor, err := house.BeginSecondFactor(t.Context(), visit.Actor)
		if err != nil || !strings.HasPrefix(factor.URL, "otpauth://totp/Carteira:Ana@Example.com?issuer=Carteira&secret="+factor.Secret) {
			t.Fatalf("factor %+v, %v", factor, err)
		}
		_, err = house.ConfirmSecondFactor(t.Context(), visit, account.ReadCode(form("code", "000000")))
		wantFields(t, err, "code")
		recovery, err := house.ConfirmSecondFactor(t.Context(), visit, account.ReadCode(form("code", code(t, factor.Secret, house.clock.Now()))))
		if err != nil || len(recovery) != 10 {
			t.Fatalf("recovery codes %v, %v", recovery, err)
		}
		sealed, err := sqldb.Value[string](t.Context(), house.db, `SELECT totp FROM users WHERE id = ?`, house.owner.ID)
		if err != nil || strings.Contains(sealed, factor.Secret) || !strings.HasPrefix(sealed, "v1.") {
			t.Errorf("stored %q, %v", sealed, err)
		}

		begin := func() string {
			in, err := house.SignIn(t.Context(), account.ReadCredentials(form("email", "ana@example.com", "password", password)), here)
			if err != nil || !in.NeedsCode {
				t.Fatalf("signed in %+v, %v", in, err)
			}
			_, err = house.Authenticate(t.Context(), in.Token, here)
			wantKind(t, err, fault.KindUnauthenticated)
			return in.Token
		}
		pending := begin()
		_, err = house.ConfirmCode(t.Context(), pending, account.ReadCode(form("code", code(t, factor.Secret, house.clock.Now()))), here)
		wantFields(t, err, "code") // it was used to switch the factor on
		house.clock.Advance(time.Minute)
		good := code(t, factor.Secret, house.clock.Now())
		in, err := house.ConfirmCode(t.Context(), pending, account.ReadCode(form("code", good[:3]+" "+good[3:])), here)
		if err != nil || in.Token == pending {
			t.Fatalf("confirmed %+v, %v", in, err)
		}
		if _, err := house.Authenticate(t.Context(), in.Token, here); err != nil {
			t.Error(err)
		}
		_, err = house.ConfirmCode(t.Context(), pending, account.ReadCode(form("code", good)), here)
		wantKind(t, err, fault.KindUnauthenticated)

		if _, err := house.ConfirmCode(t.Context(), begin(), account.ReadCode(form("code", strings.ToUpper(recovery[3]))), here); err != nil {
			t.Errorf("recovery code: %v", err)
		}
		_, err = house.ConfirmCode(t.Context(), begin(), account.ReadCode(form("code", recovery[3])), here)
		wantFields(t, err, "code")
		if on, left, err := house.HasSecondFactor(t.Context(), visit.Actor); err != nil || !on || left != 9 {
			t.Errorf("on %v, %d left, %v", on, left, err)
		}

		house.Service = account.New(house.db, account.Config{Box: testBox(t, "C9")}) // the key is lost
		if _, err := house.ConfirmCode(t.Context(), begin(), account.ReadCode(form("code", recovery[4])), here); err != nil {
			t.Errorf("recovery code without the key: %v", err)
		}
		house.Service = account.New(house.db, account.Config{Box: testBox(t, "B8", "A7")})
		if err := house.ResealFactors(t.Context()); err != nil {
			t.Fatal(err)
		}
		house.Service = account.New(house.db, account.Config{Box: testBox(t, "B8")})
		house.clock.Advance(time.Minute)
		if _, err := house.ConfirmCode(t.Context(), begin(), account.ReadCode(form("code", code(t, factor.Secret, house.clock.Now()))), here); err != nil {
			t.Errorf("after a change of key: %v", err)
		}
		stranger := newCompany(t, house.Service, "stranger@example.com")
		_, err = house.RemoveSecondFactor(t.Context(), stranger, house.owner.ID)
		wantKind(t, err, fault.KindNotFound)
		wantFields(t, house.DropSecondFactor(t.Context(), visit.Actor, account.ReadPasswordProof(form("password", "wrong"))), "password")
		if err := house.DropSecondFactor(t.Context(), visit.Actor, account.ReadPasswordProof(form("password", password))); err != nil {
			t.Fatal(err)
		}
		house.signIn(t)
	})
}

func TestUsersOfACompany(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		_, visit := house.signIn(t)
		ctx, actor := t.Context(), visit.Actor
		_, _, err := house.CreateUser(ctx, actor, account.ReadNewUser(form("name", "", "email", "x", "role", "king")))
		wantFields(t, err, "name", "email", "role")
		_, _, err = house.CreateUser(ctx, actor, account.ReadNewUser(form("name", "A", "email", "ANA@example.com", "role", "staff")))
		wantFields(t, err, "email")
		bia, link, err := house.CreateUser(ctx, actor, account.ReadNewUser(form("name", "Bia", "email", "bia@example.com", "role", "readonly")))
		if err != nil {
			t.Fatal(err)
		}
		if user, err := house.LinkedUser(ctx, link); err != nil || user.ID != bia.ID {
			t.Errorf("link of %+v, %v", user, err)
		}
		_, err = house.UsePasswordLink(ctx, link, account.ReadNewPassword(form("password", "short")), here)
		wantFields(t, err, "password")
		if _, err := house.UsePasswordLink(ctx, link, account.ReadNewPassword(form("password", "long enough")), here); err != nil {
			t.Fatal(err)
		}
		_, err = house.UsePasswordLink(ctx, link, account.ReadNewPassword(form("password", "long enough")), here)
		wantKind(t, err, fault.KindNotFound)
		in, err := house.SignIn(ctx, account.ReadCredentials(form("email", "bia@example.com", "password", "long enough")), here)
		if err != nil {
			t.Fatal(err)
		}

		// The only owner stays; with two, one may go.
		_, err = house.UpdateUser(ctx, actor, actor.UserID, account.ReadUserChanges(form("role", "staff")))
		wantFields(t, err, "role")
		wantKind(t, house.RemoveUser(ctx, actor, actor.UserID, false), fault.KindConflict)
		if _, err := house.UpdateUser(ctx, actor, bia.ID, account.ReadUserChanges(form("role", "owner", "name", "Beatriz"))); err != nil {
			t.Fatal(err)
		}
		asBia, err := house.Authenticate(ctx, in.Token, here)
		if err != nil || asBia.Actor.Role != account.RoleOwner || asBia.User.Name != "Beatriz" {
			t.Fatalf("%+v, %v", asBia, err)
		}
		var wg sync.WaitGroup
		errs := make([]error, 2)
		wg.Go(func() { errs[0] = house.RemoveUser(ctx, actor, bia.ID, false) })
		wg.Go(func() { errs[1] = house.RemoveUser(ctx, asBia.Actor, actor.UserID, false) })
		wg.Wait()
		if (errs[0] == nil) == (errs[1] == nil) {
			t.Errorf("two owners who remove each other: %v", errs)
		}
		if people, err := house.Users(ctx, actor); err != nil || len(people) != 1 || people[0].Role != account.RoleOwner || !people[0].Ready {
			t.Errorf("users %+v, %v", people, err)
		}
	})
}

func TestUsersOfAnotherCompanyAreNotFound(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		stranger := newCompany(t, house.Service, "stranger@example.com")
		_, err := house.UpdateUser(t.Context(), stranger, house.owner.ID, account.ReadUserChanges(form("role", "staff")))
		wantKind(t, err, fault.KindNotFound)
		wantKind(t, house.RemoveUser(t.Context(), stranger, house.owner.ID, false), fault.KindNotFound)
		_, _, err = house.NewPasswordLink(t.Context(), stranger, house.owner.ID)
		wantKind(t, err, fault.KindNotFound)
		_, visit := house.signIn(t)
		stranger.UserID = house.owner.ID
		wantKind(t, house.EndSession(t.Context(), stranger, visit.Session.ID), fault.KindNotFound)
	})
}

func TestPasswordLinksRunOutAndReplaceEachOther(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		token, visit := house.signIn(t)
		_, first, err := house.NewPasswordLink(t.Context(), visit.Actor, house.owner.ID)
		if err != nil {
			t.Fatal(err)
		}
		_, second, err := house.NewPasswordLink(t.Context(), visit.Actor, house.owner.ID)
		if err != nil {
			t.Fatal(err)
		}
		_, err = house.LinkedUser(t.Context(), first)
		wantKind(t, err, fault.KindNotFound)
		if _, err := house.UsePasswordLink(t.Context(), second, account.ReadNewPassword(form("password", "long enough")), here); err != nil {
			t.Fatal(err)
		}
		_, err = house.Authenticate(t.Context(), token, here)
		wantKind(t, err, fault.KindUnauthenticated)
		_, third, err := house.NewPasswordLink(t.Context(), visit.Actor, house.owner.ID)
		if err != nil {
			t.Fatal(err)
		}
		house.clock.Advance(8 * 24 * time.Hour)
		_, err = house.LinkedUser(t.Context(), third)
		wantKind(t, err, fault.KindNotFound)
	})
}

func TestFirstCompanyIsMadeExactlyOnce(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		service := account.New(db, account.Config{})
		link, err := service.NewSetupLink(t.Context())
		if err != nil || link == "" {
			t.Fatalf("link %q, %v", link, err)
		}
		second, err := service.NewSetupLink(t.Context())
		if err != nil || service.SetupWorks(t.Context(), link) != nil {
			t.Fatalf("two processes cannot both start: %v", err)
		}
		filled := func(i int) *input.Form {
			return form("name", "Rede", "user_name", "Ana", "email", fmt.Sprintf("a%d@example.com", i), "password", password)
		}
		_, err = service.Setup(t.Context(), link, account.ReadSetup(form("name", "Rede")), here)
		wantFields(t, err, "password", "user_name", "email")
		_, err = service.Setup(t.Context(), "guessed", account.ReadSetup(filled(0)), here)
		wantKind(t, err, fault.KindNotFound)
		errs := make([]error, 6)
		var wg sync.WaitGroup
		for i := range errs {
			use := link
			if i%2 == 1 {
				use = second
			}
			wg.Go(func() { _, errs[i] = service.Setup(t.Context(), use, account.ReadSetup(filled(i)), here) })
		}
		wg.Wait()
		made := 0
		for _, err := range errs {
			if err == nil {
				made++
			}
		}
		if all, err := service.Companies(t.Context()); err != nil || len(all) != 1 || made != 1 {
			t.Errorf("%d were told they made one; companies %v, %v", made, all, err)
		}
		if link, err := service.NewSetupLink(t.Context()); err != nil || link != "" {
			t.Errorf("another link %q, %v", link, err)
		}
	})
}
