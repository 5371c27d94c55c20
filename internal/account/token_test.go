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
	"carteira/internal/platform/sqldb/sqldbtest"
)

func newToken(t *testing.T, s *account.Service, a account.Actor) (account.Token, string) {
	t.Helper()
	token, plain, err := s.CreateToken(t.Context(), a, account.ReadNewToken(form("name", "CRM")))
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
		s := account.New(db, account.Config{})
		a, other := newCompany(t, s, "a@example.com"), newCompany(t, s, "b@example.com")
		token, plain := newToken(t, s, a)
		_, otherPlain := newToken(t, s, other)
		for text, want := range map[string]account.Company{plain: a.Company, otherPlain: other.Company} {
			got, _, err := s.Admit(t.Context(), text)
			wantCompany(t, got.Company, want, err)
		}
		if got, _, _ := s.Admit(t.Context(), plain); got.TokenID != token.ID {
			t.Errorf("token %d, want %d", got.TokenID, token.ID)
		}
		if _, err := s.SetCompany(t.Context(), a, account.ReadCompanyDraft(form("level", "user"))); err != nil {
			t.Fatal(err)
		}
		if got, _, _ := s.Admit(t.Context(), plain); got.Company.Level != account.LevelUser {
			t.Errorf("level %s on the call after it was changed", got.Company.Level)
		}
	})
}

func TestOnlyAHashOfATokenIsStored(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		url := sqldbtest.URL(t, engine)
		db := sqldbtest.Open(t, url)
		s := account.New(db, account.Config{CallsPerMinute: 60})
		_, plain := newToken(t, s, newCompany(t, s, "a@example.com"))
		if !regexp.MustCompile(`^cart_[0-9A-Za-z]{40}$`).MatchString(plain) || !id.ValidToken(plain) {
			t.Errorf("token %q", plain)
		}
		if _, _, err := s.Admit(t.Context(), plain); err != nil {
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
		a := newCompany(t, here, "a@example.com")
		deleted, plain := newToken(t, here, a)
		_, kept := newToken(t, here, a)
		for _, s := range []*account.Service{here, there} {
			if _, _, err := s.Admit(t.Context(), plain); err != nil {
				t.Fatal(err)
			}
		}
		if err := there.DeleteToken(t.Context(), a, deleted.ID); err != nil {
			t.Fatal(err)
		}
		for _, s := range []*account.Service{here, there} {
			_, quota, err := s.Admit(t.Context(), plain)
			wantKind(t, err, fault.KindUnauthenticated)
			if fault.Public(err) != "Unauthenticated" || quota.Limit != 60 {
				t.Errorf("%q, quota %+v", fault.Public(err), quota)
			}
			if _, _, err := s.Admit(t.Context(), kept); err != nil {
				t.Errorf("the other token: %v", err)
			}
		}
	})
}

func TestTokenOfAnotherCompanyIsNotFound(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := account.New(db, account.Config{})
		a, other := newCompany(t, s, "a@example.com"), newCompany(t, s, "b@example.com")
		token, plain := newToken(t, s, a)
		wantKind(t, s.DeleteToken(t.Context(), other, token.ID), fault.KindNotFound)
		_, err := s.Token(t.Context(), other, token.ID)
		wantKind(t, err, fault.KindNotFound)
		if list, err := s.Tokens(t.Context(), other); err != nil || len(list) != 0 {
			t.Errorf("tokens %v, %v; want none", list, err)
		}
		if _, _, err := s.Admit(t.Context(), plain); err != nil {
			t.Errorf("still there: %v", err)
		}
	})
}

// A database that is closed shows that it was not asked.
func TestMistypedTokenIsRefusedWithoutALookAtTheDatabase(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := account.New(db, account.Config{CallsPerMinute: 60})
		_, plain := newToken(t, s, newCompany(t, s, "a@example.com"))
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		slip := []byte(plain)
		slip[10] ^= 1
		for _, text := range []string{"", "x", plain[:len(plain)-1], plain + "0", " " + plain, strings.ToUpper(plain), string(slip)} {
			_, _, err := s.Admit(t.Context(), text)
			wantKind(t, err, fault.KindUnauthenticated)
		}
		if _, _, err := s.Admit(t.Context(), plain); err == nil || fault.KindOf(err) == fault.KindUnauthenticated {
			t.Errorf("the true token, with the database closed: %v", err)
		}
	})
}

func TestLastUseIsSavedWithoutAWritePerCall(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		url, clock := sqldbtest.URL(t, engine), sqldbtest.NewClock(noon)
		s := account.New(sqldbtest.Open(t, url, sqldbtest.WithClock(clock)), account.Config{CallsPerMinute: 60})
		a := newCompany(t, s, "a@example.com")
		token, plain := newToken(t, s, a)
		_, idle := newToken(t, s, a)
		for range 3 {
			clock.Advance(time.Minute)
			if _, _, err := s.Admit(t.Context(), plain); err != nil {
				t.Fatal(err)
			}
		}
		used := clock.Now()
		wantUses(t, s, a, time.Time{}, time.Time{})
		if got, err := s.Token(t.Context(), a, token.ID); err != nil || !got.LastUsedAt.Equal(used) {
			t.Errorf("before it is saved the token says %v, %v; want %v", got.LastUsedAt, err, used)
		}
		save(t, s)
		wantUses(t, s, a, time.Time{}, used)

		// Another process, whose clock is behind, saves after us.
		behind := account.New(sqldbtest.Open(t, url, sqldbtest.WithClock(sqldbtest.NewClock(noon))), account.Config{CallsPerMinute: 60})
		for _, text := range []string{plain, idle} {
			if _, _, err := behind.Admit(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		save(t, behind)
		wantUses(t, s, a, noon, used)
	})
}

func save(t *testing.T, s *account.Service) {
	t.Helper()
	if err := s.SaveLastUse(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// wantUses looks at what is stored of the company's tokens, newest first.
func wantUses(t *testing.T, s *account.Service, a account.Actor, want ...time.Time) {
	t.Helper()
	list, err := s.Tokens(t.Context(), a)
	if err != nil || len(list) != len(want) {
		t.Fatalf("tokens %v, %v; want %d", list, err, len(want))
	}
	for i, token := range list {
		if !token.LastUsedAt.Equal(want[i]) {
			t.Errorf("token %d was last used %v, want %v", token.ID, token.LastUsedAt, want[i])
		}
	}
}
