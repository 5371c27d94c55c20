package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestParseKeyReadsEverySpelling(t *testing.T) {
	raw := bytes.Repeat([]byte{0xfb, 0xff}, 16) // gives + and / in base64
	spellings := []string{
		hex.EncodeToString(raw), strings.ToUpper(hex.EncodeToString(raw)),
		base64.StdEncoding.EncodeToString(raw), base64.RawStdEncoding.EncodeToString(raw),
		base64.URLEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw),
		" " + base64.StdEncoding.EncodeToString(raw) + "\n",
	}
	for _, spelling := range spellings {
		if key, err := ParseKey(spelling); err != nil || !bytes.Equal(key.reveal(), raw) {
			t.Errorf("ParseKey(%q) = %v, %v", spelling, key, err)
		}
	}
}

func TestParseKeyRefusalsDoNotQuoteTheKey(t *testing.T) {
	good := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 32))
	for _, s := range []string{"", "secret", good[:40], good + good, strings.Repeat("g", 64), strings.Repeat("a", 62), good[:43] + "==", "!" + good[1:], "01" + good} {
		if key, err := ParseKey(s); !errors.Is(err, ErrKey) || err.Error() != ErrKey.Error() {
			t.Errorf("ParseKey(%q) = %v, %v", s, key, err)
		}
	}
}

func TestKeyNeverShows(t *testing.T) {
	key, _ := ParseKey(strings.Repeat("A7", 32))
	holder := struct {
		hidden Key
		box    *Box
		Key    Key
	}{key, NewBox(key), key}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o", "%b"} {
		fmt.Fprintf(&out, verb+verb+verb+verb+verb, key, &key, holder, &holder, holder.box)
	}
	for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(handler).Info("boot", "key", key, "holder", holder, "box", holder.box)
	}
	js, err := json.Marshal(holder)
	if err != nil || string(js) != `{"Key":"key `+key.ID()+`"}` {
		t.Errorf("JSON = %s, %v", js, err)
	}
	for _, leak := range []string{"a7a7", "167 167", "167,167", "p6en", "2812782503"} { // the last is the cipher's first round key
		if strings.Contains(strings.ToLower(out.String()), leak) {
			t.Errorf("the key shows as %q in %s", leak, out.String())
		}
	}
}

func TestKeyIDIsStable(t *testing.T) {
	key, _ := ParseKey(strings.Repeat("00", 32))
	if got := key.ID(); got != "f27c91a3" {
		t.Errorf("ID() = %q: what is sealed today could not be opened", got)
	}
	if one, other := NewKey(), NewKey(); one.ID() == other.ID() || (Key{}).ID() != "" {
		t.Error("ids do not tell keys apart")
	}
}

func TestBoxOpensWhatItSealed(t *testing.T) {
	box := NewBox(NewKey())
	for _, plain := range []string{"", "s", "whsec_" + strings.Repeat("x", 5000), "\x00\xff"} {
		first, second := box.Seal([]byte(plain), "webhook:12"), box.Seal([]byte(plain), "webhook:12")
		if first == second || len(plain) > 1 && strings.Contains(first, plain) {
			t.Errorf("%q was sealed as %q and %q", plain, first, second)
		}
		if got, err := box.Open(first, "webhook:12"); err != nil || string(got) != plain {
			t.Errorf("Open = %q, %v; want %q", got, err, plain)
		}
	}
}

func TestSealedSecretCannotBeMovedOrAltered(t *testing.T) {
	box := NewBox(NewKey())
	sealed := box.Seal([]byte("s3cret"), "webhook:12")
	for _, context := range []string{"", "webhook:1", "webhook:123", "gateway:12"} {
		if _, err := box.Open(sealed, context); !errors.Is(err, ErrTampered) {
			t.Errorf("opened for %q: %v", context, err)
		}
	}
	for i := range len(sealed) {
		other := byte('A')
		if sealed[i] == other {
			other = 'B'
		}
		if _, err := box.Open(sealed[:i]+string(other)+sealed[i+1:], "webhook:12"); !errors.Is(err, ErrTampered) && !errors.Is(err, ErrUnknownKey) {
			t.Errorf("opened with character %d altered: %v", i, err)
		}
		if _, err := box.Open(sealed[:i], "webhook:12"); !errors.Is(err, ErrTampered) {
			t.Errorf("opened when cut to %d characters: %v", i, err)
		}
	}
}

func TestRotation(t *testing.T) {
	oldKey, newKey := NewKey(), NewKey()
	before, after, stranger := NewBox(oldKey), NewBox(newKey, oldKey), NewBox(newKey)
	sealed := before.Seal([]byte("s3cret"), "c")

	if KeyID(sealed) != oldKey.ID() || before.Needs(sealed) || !after.Needs(sealed) || after.CurrentID() != newKey.ID() {
		t.Errorf("sealed with %s: KeyID %s, needs %v then %v", oldKey, KeyID(sealed), before.Needs(sealed), after.Needs(sealed))
	}
	plain, err := after.Open(sealed, "c")
	if err != nil || string(plain) != "s3cret" {
		t.Fatalf("the old key is not in the ring: %v", err)
	}
	if again := after.Seal(plain, "c"); after.Needs(again) || KeyID(again) != newKey.ID() {
		t.Errorf("sealed again with %s", KeyID(again))
	}
	if _, err := stranger.Open(sealed, "c"); !errors.Is(err, ErrUnknownKey) || !strings.Contains(err.Error(), oldKey.ID()) {
		t.Errorf("without the old key: %v", err)
	}
	for _, junk := range []string{"", "v1", "v1..", "v2." + sealed[3:], "v1.zzzzzzzz.AAAA", "v1.0123456.AAAA", "plain text"} {
		if KeyID(junk) != "" || !after.Needs(junk) {
			t.Errorf("KeyID(%q) = %q", junk, KeyID(junk))
		}
	}
}

func TestBoxWithoutAKeyPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	NewBox(Key{})
}
