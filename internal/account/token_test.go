package account_test

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

func newToken(t *testing.T, service *account.Service, actor account.Actor) (account.Token, string) {
	t.Helper()
	token, plain, err := service.CreateToken(t.Context(), actor, account.ReadNewToken(form("name", "CRM")))
	if err != nil {
		t.Fatal(err)
	}
	return token, plain
}

func wantKind(t *testing.T, err error, want fault.Kind) {
	t.Helper()
	if err == nil || fault.KindOf(err) != want {
		t.Errorf("got %v, want a fault of kind %s", err, want)
	}
}

func TestTokenActsForItsCompanyAndLevel(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		service := account.New(db, account.Config{})
		actor, other := newCompany(t, service, "a@example.com"), newCompany(t, service, "b@example.com")
		token, plain := newToken(t, service, actor)
		_, otherPlain := newToken(t, service, other)
		for text, want := range map[string]account.Company{plain: actor.Company, otherPlain: other.Company} {
			got, _, err := service.Admit(t.Context(), text)
			wantCompany(t, got.Company, want, err)
		}
		if got, _, _ := service.Admit(t.Context(), plain); got.TokenID != token.ID {
			t.Errorf("token %d, want %d", got.TokenID, token.ID)
		}
		if _, err := service.SetCompany(t.Context(), actor, account.ReadCompanyDraft(form("level", "user"))); err != nil {
			t.Fatal(err)
		}
		if got, _, _ := service.Admit(t.Context(), plain); got.Company.Level != account.LevelUser {
			t.Errorf("level %s on the call after it was changed", got.Company.Level)
		}
	})
}

func TestOnlyAHashOfATokenIsStored(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		url := sqldbtest.URL(t, engine)
		db := sqldbtest.Open(t, url)
		service := account.New(db, account.Config{CallsPerMinute: 60})
		_, plain := newToken(t, service, newCompany(t, service, "a@example.com"))
		if !regexp.MustCompile(`^cart_[0-9A-Za-z]{40}$`).MatchString(plain) || !id.ValidToken(plain) {
			t.Errorf("token %q", plain)
		}
		if _, _, err := service.Admit(t.Context(), plain); err != nil {
			t.Fatal(err)
		}
		stored, hash := contents(t, db, url), sha256.Sum256([]byte(plain))
		if !bytes.Contains(stored, []byte("CRM")) {
			t.Fatal("the token's name is not in the database, so this test looks in the wrong place")
		}
		if bytes.Contains(stored, []byte(plain[5:25])) {
			t.Error("the token's text is in the database")
		}
		got, err := sqldb.Value[[]byte](t.Context(), db, `SELECT hash FROM api_tokens`)
		if err != nil || !bytes.Equal(got, hash[:]) {
			t.Errorf("hash %x, %v; want %x", got, err, hash)
		}
	})
}

// contents is all that the database has of tokens: the file with its log, or
// the rows.
func contents(t *testing.T, db *sqldb.DB, url string) []byte {
	t.Helper()
	if db.Engine() == sqldb.Postgres {
		text, err := sqldb.Value[string](t.Context(), db, `
			SELECT (SELECT string_agg(CAST(a AS TEXT), ' ') FROM api_tokens a) || (SELECT string_agg(CAST(k AS TEXT), ' ') FROM token_calls k)`)
		if err != nil {
			t.Fatal(err)
		}
		return []byte(text)
	}
	files, err := filepath.Glob(strings.TrimPrefix(url, "sqlite:") + "*")
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, content...)
	}
	return all
}

func TestDeletedTokenFailsOnTheNextCallInEveryProcess(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		url := sqldbtest.URL(t, engine)
		here, there := account.New(sqldbtest.Open(t, url), account.Config{CallsPerMinute: 60}), account.New(sqldbtest.Open(t, url), account.Config{CallsPerMinute: 60})
		actor := newCompany(t, here, "a@example.com")
		deleted, plain := newToken(t, here, actor)
		_, kept := newToken(t, here, actor)
		for _, service := range []*account.Service{here, there} {
			if _, _, err := service.Admit(t.Context(), plain); err != nil {
				t.Fatal(err)
			}
		}
		if err := there.DeleteToken(t.Context(), actor, deleted.ID); err != nil {
			t.Fatal(err)
		}
		for _, service := range []*account.Service{here, there} {
			_, quota, err := service.Admit(t.Context(), plain)
			wantKind(t, err, fault.KindUnauthenticated)
			if fault.Public(err) != "Unauthenticated" || quota.Limit != 60 {
				t.Errorf("%q, quota %+v", fault.Public(err), quota)
			}
			if _, _, err := service.Admit(t.Context(), kept); err != nil {
				t.Errorf("the other token: %v", err)
			}
		}
	})
}

func TestTokenOfAnotherCompanyIsNotFound(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		service := account.New(db, account.Config{})
		actor, other := newCompany(t, service, "a@example.com"), newCompany(t, service, "b@example.com")
		token, plain := newToken(t, service, actor)
		wantKind(t, service.DeleteToken(t.Context(), other, token.ID), fault.KindNotFound)
		_, err := service.Token(t.Context(), other, token.ID)
		wantKind(t, err, fault.KindNotFound)
		if list, err := service.Tokens(t.Context(), other); err != nil || len(list) != 0 {
			t.Errorf("tokens %v, %v; want none", list, err)
		}
		if _, _, err := service.Admit(t.Context(), plain); err != nil {
			t.Errorf("still there: %v", err)
		}
	})
}

// A database that is closed shows that it was not asked.
func TestMistypedTokenIsRefusedWithoutALookAtTheDatabase(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		service := account.New(db, account.Config{CallsPerMinute: 60})
		_, plain := newToken(t, service, newCompany(t, service, "a@example.com"))
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		slip := []byte(plain)
		slip[10] ^= 1
		for _, text := range []string{"", "x", plain[:len(plain)-1], plain + "0", " " + plain, strings.ToUpper(plain), string(slip)} {
			_, _, err := service.Admit(t.Context(), text)
			wantKind(t, err, fault.KindUnauthenticated)
		}
		if _, _, err := service.Admit(t.Context(), plain); err == nil || fault.KindOf(err) == fault.KindUnauthenticated {
			t.Errorf("the true token, with the database closed: %v", err)
		}
	})
}

func TestLastUseIsSavedWithoutAWritePerCall(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		url, clock := sqldbtest.URL(t, engine), sqldbtest.NewClock(noon)
		service := account.New(sqldbtest.Open(t, url, sqldbtest.WithClock(clock)), account.Config{CallsPerMinute: 60})
		actor := newCompany(t, service, "a@example.com")
		token, plain := newToken(t, service, actor)
		_, idle := newToken(t, service, actor)
		for range 3 {
			clock.Advance(time.Minute)
			if _, _, err := service.Admit(t.Context(), plain); err != nil {
				t.Fatal(err)
			}
		}
		used := clock.Now()
		wantUses(t, service, actor, time.Time{}, time.Time{})
		if got, err := service.Token(t.Context(), actor, token.ID); err != nil || !got.LastUsedAt.Equal(used) {
			t.Errorf("before it is saved the token says %v, %v; want %v", got.LastUsedAt, err, used)
		}
		save(t, service)
		wantUses(t, service, actor, time.Time{}, used)

		// Another process, with a slow clock, saves after us.
		behind := account.New(sqldbtest.Open(t, url, sqldbtest.WithClock(sqldbtest.NewClock(noon))), account.Config{CallsPerMinute: 60})
		for _, text := range []string{plain, idle} {
			if _, _, err := behind.Admit(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		save(t, behind)
		wantUses(t, service, actor, noon, used)
	})
}

func save(t *testing.T, service *account.Service) {
	t.Helper()
	if err := service.SaveLastUse(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// wantUses looks at what is stored of the company's tokens, newest first.
func wantUses(t *testing.T, service *account.Service, actor account.Actor, want ...time.Time) {
	t.Helper()
	list, err := service.Tokens(t.Context(), actor)
	if err != nil || len(list) != len(want) {
		t.Fatalf("tokens %v, %v; want %d", list, err, len(want))
	}
	for i, token := range list {
		if !token.LastUsedAt.Equal(want[i]) {
			t.Errorf("token %d was last used %v, want %v", token.ID, token.LastUsedAt, want[i])
		}
	}
}

func TestTokensGoWithThePersonWhoMadeThem(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, service := t.Context(), account.New(db, account.Config{})
		actor := newCompany(t, service, "a@example.com")
		for _, keep := range []bool{false, true} {
			bia, _, err := service.CreateUser(ctx, actor, account.ReadNewUser(form("name", "Bia", "email", "bia@example.com", "role", "owner")))
			if err != nil {
				t.Fatal(err)
			}
			_, others := newToken(t, service, actor)
			asBia := account.Actor{Company: actor.Company, UserID: bia.ID, Role: account.RoleOwner, Name: bia.Name, From: "198.51.100.7"}
			token, plain := newToken(t, service, asBia)
			if found, err := service.Token(ctx, actor, token.ID); err != nil || found.MadeBy != bia.ID || found.Maker != "Bia" {
				t.Errorf("the token is %+v, %v", found, err)
			}
			if err := service.RemoveUser(ctx, actor, bia.ID, keep); err != nil {
				t.Fatal(err)
			}
			if _, _, err := service.Admit(ctx, plain); (err == nil) != keep {
				t.Errorf("the token of a removed user, kept %v: %v", keep, err)
			}
			if _, _, err := service.Admit(ctx, others); err != nil {
				t.Errorf("a token of the operator went too: %v", err)
			}
		}
	})
}
