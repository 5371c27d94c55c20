package secret

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
)

func TestPasswordRoundTrip(t *testing.T) {
	ctx := t.Context()
	const pw = "correct horse çédille"
	stored, err := HashPassword(ctx, pw)
	if err != nil || !regexp.MustCompile(`^\$argon2id\$v=19\$m=19456,t=2,p=1\$[^$]{22}\$[^$]{43}$`).MatchString(stored) {
		t.Fatalf("HashPassword = %q, %v", stored, err)
	}
	if again, _ := HashPassword(ctx, pw); again == stored {
		t.Error("two hashes share a salt")
	}
	for try, want := range map[string]bool{pw: true, pw + " ": false, "": false, strings.ToUpper(pw): false} {
		if got, err := CheckPassword(ctx, stored, try); got != want || err != nil {
			t.Errorf("CheckPassword(%q) = %v, %v", try, got, err)
		}
	}
	if NeedsRehash(stored) {
		t.Error("a fresh hash needs another")
	}
	if err := CheckNobody(ctx, pw); err != nil {
		t.Error(err)
	}
}

// The reference implementation's own test vector, at another cost than ours.
func TestHashOfTheReferenceImplementation(t *testing.T) {
	const stored = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	if ok, err := CheckPassword(t.Context(), stored, "password"); !ok || err != nil {
		t.Errorf("CheckPassword = %v, %v", ok, err)
	}
	if !NeedsRehash(stored) {
		t.Error("a hash of another cost does not need ours")
	}
}

func TestMalformedHashesAreAnErrorAndCostNothing(t *testing.T) {
	const salt, sum = "c29tZXNhbHQ", "CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	for _, stored := range []string{
		"", "password", "$2a$10$abcdefghijklmnopqrstuv",
		"$argon2i$v=19$m=19456,t=2,p=1$" + salt + "$" + sum,
		"$argon2id$v=16$m=19456,t=2,p=1$" + salt + "$" + sum,
		"$argon2id$v=19$m=19456,t=2,p=1,x=1$" + salt + "$" + sum,
		"$argon2id$v=19$m=19456,t=0,p=1$" + salt + "$" + sum,
		"$argon2id$v=19$m=19456,t=2,p=0$" + salt + "$" + sum,
		"$argon2id$v=19$m=4,t=2,p=1$" + salt + "$" + sum,
		"$argon2id$v=19$m=4194304,t=2,p=1$" + salt + "$" + sum,
		"$argon2id$v=19$m=19456,t=4000000000,p=1$" + salt + "$" + sum,
		"$argon2id$v=19$m=19456,t=2,p=300$" + salt + "$" + sum,
		"$argon2id$v=19$m=19456,t=2,p=1$" + salt + "$",
		"$argon2id$v=19$m=19456,t=2,p=1$$" + sum,
		"$argon2id$v=19$m=19456,t=2,p=1$" + salt + "$" + sum + "=",
		"$argon2id$v=19$m=19456,t=2,p=1$" + salt + "$" + sum + "$",
	} {
		if ok, err := CheckPassword(t.Context(), stored, "password"); ok || !errors.Is(err, errHash) {
			t.Errorf("CheckPassword(%q) = %v, %v", stored, ok, err)
		}
		if !NeedsRehash(stored) {
			t.Errorf("%q needs no other", stored)
		}
	}
}

func TestAtMostFourAtOnceAndNobodyWaitsInVain(t *testing.T) {
	if cap(slots) != 4 {
		t.Fatalf("%d at once", cap(slots))
	}
	for range cap(slots) {
		slots <- struct{}{}
	}
	defer func() {
		for range cap(slots) {
			<-slots
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := HashPassword(ctx, "pw"); !errors.Is(err, context.Canceled) {
		t.Errorf("HashPassword: %v", err)
	}
	if err := CheckNobody(ctx, "pw"); !errors.Is(err, context.Canceled) {
		t.Errorf("CheckNobody: %v", err)
	}
}
