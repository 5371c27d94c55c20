package id

import (
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
)

func TestNewEventCarriesItsTime(t *testing.T) {
	at := time.Date(2027, 1, 31, 12, 34, 56, 789e6, time.UTC)
	got := NewEvent(at)
	if !regexp.MustCompile(`^evt_[0-9A-HJKMNP-TV-Z]{26}$`).MatchString(got) {
		t.Fatalf("NewEvent = %q", got)
	}
	parsed, err := ulid.ParseStrict(strings.TrimPrefix(got, "evt_"))
	if err != nil || !parsed.Timestamp().Equal(at) {
		t.Errorf("%q bears the time %s, %v; want %s", got, parsed.Timestamp(), err, at)
	}
	if later := NewEvent(at.Add(time.Millisecond)); later <= got {
		t.Errorf("the later event %q sorts before %q", later, got)
	}
	if got := NewEvent(time.Time{}); !strings.HasPrefix(got, "evt_0000000000") {
		t.Errorf("an event before 1970 got %q", got)
	}
}

func TestNewUUIDIsVersionFour(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	for range 1000 {
		if got := NewUUID(); !form.MatchString(got) {
			t.Fatalf("NewUUID = %q", got)
		}
	}
}

func TestNamesDoNotCollideAcrossGoroutines(t *testing.T) {
	at := time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC)
	for name, fresh := range map[string]func() string{
		"event": func() string { return NewEvent(at) },
		"uuid":  NewUUID,
		"token": NewToken,
		"code":  func() string { return NewCode(20) },
		"link":  func() string { return NewLink(at) },
	} {
		var seen sync.Map
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 500 {
					id := fresh()
					if _, taken := seen.LoadOrStore(id, true); taken {
						t.Errorf("%s %q came twice", name, id)
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestNewCodeIsUnbiased(t *testing.T) {
	const perCharacter = 5000
	counts := map[rune]int{}
	for _, r := range NewCode(62 * perCharacter) {
		counts[r]++
	}
	if len(counts) != 62 {
		t.Fatalf("%d different characters", len(counts))
	}
	for r, count := range counts { // the bias of b%62 alone would be +25% for the first eight characters; 8 sigma is 11%
		if count < perCharacter*89/100 || count > perCharacter*111/100 {
			t.Errorf("%q came %d times, want about %d", r, count, perCharacter)
		}
	}
	for _, n := range []int{0, 1, 63, 64, 65} {
		if got := NewCode(n); len(got) != n {
			t.Errorf("NewCode(%d) has %d characters", n, len(got))
		}
	}
}

func TestTokenForm(t *testing.T) {
	form := regexp.MustCompile(`^cart_[0-9A-Za-z]{40}$`)
	for range 1000 {
		if got := NewToken(); !form.MatchString(got) || !ValidToken(got) {
			t.Fatalf("NewToken = %q, valid: %v", got, ValidToken(got))
		}
	}
	// Computed apart, with another language's CRC-32: tokens in the field depend on it, so it must never change.
	const known = "cart_0123456789ABCDEFGHIJKLMNOPQRSTUVWX" + "0TeJoD"
	if !ValidToken(known) {
		t.Errorf("the checksum of %q is now %q", known, checksum(known[5:39]))
	}
	if sum := HashToken("abc"); sum[0] != 0xba || sum[31] != 0xad {
		t.Errorf("HashToken is not SHA-256: %x", sum)
	}
}

func TestValidTokenRefusesEveryOneCharacterSlip(t *testing.T) {
	token := NewToken()
	for i := range len(token) {
		for _, r := range alphabet + "_- é" {
			if slip := token[:i] + string(r) + token[i+1:]; slip != token && ValidToken(slip) {
				t.Errorf("%q passed for %q", slip, token)
			}
		}
		if ValidToken(token[:i]) {
			t.Errorf("a token cut to %d characters passed", i)
		}
	}
	for _, s := range []string{"", "cart_", token + "0", " " + token, token + "\n", strings.ToUpper(token), strings.TrimPrefix(token, "cart_")} {
		if ValidToken(s) {
			t.Errorf("%q passed", s)
		}
	}
}

func FuzzValidToken(f *testing.F) {
	f.Add(NewToken())
	f.Add("cart_" + strings.Repeat("0", 40))
	f.Add("cart_")
	f.Add("\xff")
	f.Fuzz(func(t *testing.T, text string) {
		if !ValidToken(text) {
			return
		}
		if len(text) != 45 || text != "cart_"+text[5:39]+checksum(text[5:39]) {
			t.Errorf("%q passed", text)
		}
	})
}

func TestNewLinkFollowsTheOneBeforeAndCannotBeGuessed(t *testing.T) {
	at := time.Date(2027, 1, 31, 12, 34, 56, 789e6, time.UTC)
	first, second := NewLink(at), NewLink(at)
	if !regexp.MustCompile(`^[0-9A-Za-z]{24}$`).MatchString(first) {
		t.Fatalf("NewLink = %q", first)
	}
	if first[:7] != second[:7] || first[7:] == second[7:] {
		t.Errorf("links of one moment are %q and %q", first, second)
	}
	for _, step := range []time.Duration{time.Millisecond, time.Second, 62 * 62 * time.Hour, 50 * 365 * 24 * time.Hour} {
		if later := NewLink(at.Add(step)); later[:7] <= first[:7] {
			t.Errorf("%s later it is %q, before %q", step, later, first)
		}
	}
	if got := NewLink(time.Time{}); got[:7] != "0000000" {
		t.Errorf("a link before 1970 is %q", got)
	}
}
