package account_test

import (
	"errors"
	"fmt"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
)

func credentials(word string) account.Credentials {
	return account.ReadCredentials(form("email", "ana@example.com", "password", word))
}

// knownDevice signs the owner in and returns the visitor who comes back with
// what the browser keeps.
func (h house) knownDevice(t *testing.T) account.Visitor {
	t.Helper()
	in, err := h.SignIn(t.Context(), credentials(password), here)
	housetest.Must(t, err)
	if in.Device == "" {
		t.Fatal("the device is not remembered")
	}
	back := here
	back.Device = in.Device
	return back
}

// spend uses a quota up.
func (h house) spend(t *testing.T, key string) {
	t.Helper()
	housetest.Must(t, h.db.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), `INSERT INTO signin_attempts (key, began_at, n) VALUES (?, ?, 1000)
			ON CONFLICT (key) DO UPDATE SET n = 1000`, key, tx.Now().UnixMicro())
		return err
	}))
}

func TestUnknownLinksAreLookedUpBeforeAnythingIsHashed(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		for lane := secret.LaneKnown; lane <= secret.LaneStranger; lane++ {
			crowd(t, lane)
		}
		_, err := house.UsePasswordLink(t.Context(), "unknown", account.ReadNewPassword(form("password", "a long enough one")), here)
		wantKind(t, err, fault.KindNotFound)
		_, err = house.Setup(t.Context(), "unknown", account.ReadSetup(form("name", "X", "email", "x@example.com", "user_name", "X", "password", "a long enough one")), here)
		wantKind(t, err, fault.KindNotFound)
	})
}

func TestUnknownLinksAreCountedByNetwork(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		var err error
		for i := range 51 {
			from := account.Visitor{Address: fmt.Sprintf("2001:db8:1:1::%x", i)}
			_, err = house.UsePasswordLink(t.Context(), "unknown", account.ReadNewPassword(form("password", "a long enough one")), from)
		}
		wantKind(t, err, fault.KindRateLimited)
		_, err = house.UsePasswordLink(t.Context(), "unknown", account.ReadNewPassword(form("password", "a long enough one")), here)
		wantKind(t, err, fault.KindNotFound)
	})
}

func TestKnownDeviceWaitsForNoStranger(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		back := house.knownDevice(t)
		crowd(t, secret.LaneSignIn)
		if _, err := house.SignIn(t.Context(), credentials(password), here); !errors.Is(err, secret.ErrBusy) {
			t.Errorf("a stranger found a place: %v", err)
		}
		in, err := house.SignIn(t.Context(), credentials(password), back)
		if err != nil || in.Device != "" {
			t.Errorf("the known device got %q, %v", in.Device, err)
		}
	})
}

func TestStrangersCannotLockAPersonOut(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		back := house.knownDevice(t)
		for _, key := range []string{"person:ana@example.com", "address:192.0.2.1", "pair:ana@example.com 192.0.2.1"} {
			house.spend(t, key)
		}
		_, err := house.SignIn(t.Context(), credentials(password), here)
		wantKind(t, err, fault.KindRateLimited)
		if _, err := house.SignIn(t.Context(), credentials(password), back); err != nil {
			t.Errorf("the known device is locked out: %v", err)
		}
		for range 10 {
			_, err = house.SignIn(t.Context(), credentials("wrong"), back)
			wantKind(t, err, fault.KindInvalid)
		}
		_, err = house.SignIn(t.Context(), credentials(password), back)
		wantKind(t, err, fault.KindRateLimited)
	})
}

func TestDeviceIsKnownForItsUserAloneAndForgottenWithThePassword(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		back := house.knownDevice(t)
		actor := account.Actor{Company: account.Company{ID: house.owner.CompanyID}, UserID: house.owner.ID, From: here.Address}
		_, link, err := house.NewPasswordLink(t.Context(), actor, house.owner.ID)
		housetest.Must(t, err)
		_, err = house.UsePasswordLink(t.Context(), link, account.ReadNewPassword(form("password", "another long one")), here)
		housetest.Must(t, err)
		house.spend(t, "person:ana@example.com")
		_, err = house.SignIn(t.Context(), credentials("another long one"), back)
		wantKind(t, err, fault.KindRateLimited)
	})
}

// work is how many rows were written since the database was opened. SQLite counts
// them; the statements are the same for both.
func (h house) work(t *testing.T) int64 {
	t.Helper()
	var n int64
	housetest.Must(t, h.db.Write(t.Context(), func(tx *sqldb.Tx) (err error) {
		n, err = sqldb.Value[int64](t.Context(), tx, `SELECT total_changes()`)
		return err
	}))
	return n
}

func TestAnAddressOfNobodyIsAsMuchWork(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		if house.db.Engine() != sqldb.SQLite {
			return
		}
		house, _ = house.withMail(t)
		for name, do := range map[string]func(address string) error{
			"sign in": func(address string) error {
				_, err := house.SignIn(t.Context(), account.ReadCredentials(form("email", address, "password", "wrong")), here)
				return err
			},
			"forgot": func(address string) error { return house.Forget(t.Context(), email(address), here) },
		} {
			var work []int64
			for _, address := range []string{"ana@example.com", "nobody@example.com"} {
				_ = do(address) // the first makes rows that later ones change
				before := house.work(t)
				_ = do(address)
				work = append(work, house.work(t)-before)
			}
			if work[0] != work[1] || work[0] < 2 {
				t.Errorf("%s: %d for an address of a user, %d for one of nobody", name, work[0], work[1])
			}
		}
	})
}

func TestNetworksAreCountedAsOne(t *testing.T) {
	for address, want := range map[string][2]string{
		"192.0.2.1":          {"192.0.2.1", ""},
		"::ffff:192.0.2.1":   {"192.0.2.1", ""},
		"2001:db8:1:2:3::9":  {"2001:db8:1:2::/64", "2001:db8:1::/48"},
		"2001:db8:1:2:f::1":  {"2001:db8:1:2::/64", "2001:db8:1::/48"},
		"2001:db8:1:ffff::1": {"2001:db8:1:ffff::/64", "2001:db8:1::/48"},
		"fe80::1%eth0":       {"fe80::/64", "fe80::/48"},
		"command line":       {"command line", ""},
	} {
		narrow, wide := account.Networks(address)
		if got := [2]string{narrow, wide}; got != want {
			t.Errorf("%s: %v, want %v", address, got, want)
		}
	}
}

func TestAttemptsAreCountedByNetwork(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		var err error
		for i := range 11 {
			_, err = house.SignIn(t.Context(), credentials("wrong"), account.Visitor{Address: fmt.Sprintf("2001:db8:1:1::%x", i+1)})
		}
		wantKind(t, err, fault.KindRateLimited)
		_, err = house.SignIn(t.Context(), credentials(password), account.Visitor{Address: "2001:db8:1:2::1"})
		housetest.Must(t, err)
		house.spend(t, "address:2001:db8:2::/48")
		_, err = house.SignIn(t.Context(), credentials(password), account.Visitor{Address: "2001:db8:2:3::1"})
		wantKind(t, err, fault.KindRateLimited)
	})
}

// Wrong codes are counted for the account wherever they come from, are in the
// audit log, and do not lock out who comes from a known device.
func TestGuessesAtTheSecondFactorAreCountedPerAccount(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		_, visit := house.signIn(t)
		factor, err := house.BeginSecondFactor(t.Context(), visit.Actor)
		housetest.Must(t, err)
		_, err = house.ConfirmSecondFactor(t.Context(), visit, account.ReadCode(form("code", code(t, factor.Secret, house.clock.Now()))))
		housetest.Must(t, err)
		house.clock.Advance(30e9)
		known := house.confirmed(t, here, code(t, factor.Secret, house.clock.Now()))
		for i := range 10 {
			from := account.Visitor{Address: fmt.Sprintf("198.51.100.%d", i+1)}
			_, err = house.ConfirmCode(t.Context(), house.pending(t, from), account.ReadCode(form("code", "000000")), from)
			wantKind(t, err, fault.KindInvalid)
		}
		house.clock.Advance(30e9)
		right := account.ReadCode(form("code", code(t, factor.Secret, house.clock.Now())))
		stranger := account.Visitor{Address: "203.0.113.9"}
		_, err = house.ConfirmCode(t.Context(), house.pending(t, stranger), right, stranger)
		wantKind(t, err, fault.KindRateLimited)
		if _, err = house.ConfirmCode(t.Context(), house.pending(t, known), right, known); err != nil {
			t.Errorf("the known device is locked out: %v", err)
		}
		lines, _, err := house.Audit(t.Context(), visit.Actor, account.AuditFilter{}, input.Page{Number: 1, Size: 100})
		housetest.Must(t, err)
		refused := 0
		for _, line := range lines {
			if line.Action == string(account.SecondFactorRefused) && line.Address != "" {
				refused++
			}
		}
		if refused != 10 {
			t.Errorf("%d wrong codes are in the audit log, want 10", refused)
		}
	})
}

// pending signs the owner in as far as the code.
func (h house) pending(t *testing.T, from account.Visitor) string {
	t.Helper()
	in, err := h.SignIn(t.Context(), credentials(password), from)
	housetest.Must(t, err)
	if !in.NeedsCode || in.Device != "" {
		t.Fatalf("signed in with %+v", in)
	}
	return in.Token
}

// confirmed signs the owner in with a code and returns the visitor who comes
// back.
func (h house) confirmed(t *testing.T, from account.Visitor, text string) account.Visitor {
	t.Helper()
	in, err := h.ConfirmCode(t.Context(), h.pending(t, from), account.ReadCode(form("code", text)), from)
	housetest.Must(t, err)
	from.Device = in.Device
	return from
}
