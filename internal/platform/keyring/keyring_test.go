package keyring_test

import (
	"errors"
	"strings"
	"testing"

	"carteira/internal/platform/keyring"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

func TestDatabaseKeepsToItsKey(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		first, second, stranger := secret.NewKey(), secret.NewKey(), secret.NewKey()
		steps := []struct {
			what string
			keys []secret.Key
			want error
		}{
			{"a new database takes any key", []secret.Key{first}, nil},
			{"the same key again", []secret.Key{first}, nil},
			{"another key", []secret.Key{stranger}, keyring.ErrWrongKey},
			{"another key with one that is not it either", []secret.Key{stranger, second}, keyring.ErrWrongKey},
			{"a change of key", []secret.Key{second, first}, nil},
			{"the new key alone", []secret.Key{second}, nil},
			{"the old key alone", []secret.Key{first}, keyring.ErrWrongKey},
			{"a change back", []secret.Key{first, second}, nil},
			{"the first key alone again", []secret.Key{first}, nil},
			{"the second key alone", []secret.Key{second}, keyring.ErrWrongKey},
		}
		for _, step := range steps {
			_, err := keyring.Open(t.Context(), db, step.keys[0], step.keys[1:]...)
			if !errors.Is(err, step.want) {
				t.Errorf("%s: %v, want %v", step.what, err, step.want)
			}
		}
	})
}

func TestWrongKeyIsExplained(t *testing.T) {
	db := sqldbtest.New(t, sqldb.SQLite)
	right, wrong := secret.NewKey(), secret.NewKey()
	if _, err := keyring.Open(t.Context(), db, right); err != nil {
		t.Fatal(err)
	}
	_, err := keyring.Open(t.Context(), db, wrong)
	for _, want := range []string{"CARTEIRA_SECRET_KEY", right.ID(), wrong.ID(), "new,old"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not tell %q", err, want)
		}
	}
}

func TestSecretsOfTheOldKeyAreReadAfterAChange(t *testing.T) {
	db := sqldbtest.New(t, sqldb.SQLite)
	old, current := secret.NewKey(), secret.NewKey()
	before, err := keyring.Open(t.Context(), db, old)
	if err != nil {
		t.Fatal(err)
	}
	sealed := before.Seal([]byte("whsec"), "webhook:1")
	after, err := keyring.Open(t.Context(), db, current, old)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := after.Open(sealed, "webhook:1")
	if err != nil || string(plain) != "whsec" {
		t.Errorf("got %q, %v", plain, err)
	}
	if !after.Needs(sealed) {
		t.Error("what the old key sealed is not to be sealed anew")
	}
}
