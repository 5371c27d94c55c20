package pix_test

import (
	"strings"
	"testing"

	"carteira/internal/payment/pix"
	"carteira/internal/platform/money"
	"carteira/test/kit/pixtest"
)

// Whatever is read: no panic, and what passes has what a payment needs.
func FuzzParse(f *testing.F) {
	vectors := readVectors(f)
	for _, vector := range append(vectors.Valid, vectors.Invalid...) {
		f.Add(vector.Payload)
		f.Add(vector.Payload[:len(vector.Payload)-8])
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, text := range []string{text, pixtest.Seal(text)} {
			code, err := pixtest.Parse(text)
			if err != nil {
				continue
			}
			if code.Name == "" || code.City == "" || code.Key == "" && code.URL == "" && code.RecurrenceURL == "" {
				t.Errorf("%q: read as %+v", text, code)
			}
		}
	})
}

func FuzzStaticRoundTrip(f *testing.F) {
	f.Add("a@b.co", "Açaí & Cia", "São Paulo", int64(1234), "F42", "Fatura 42")
	f.Add("+5511987654321", "", "", int64(0), "", "")
	f.Fuzz(func(t *testing.T, text, name, city string, amount int64, txID, about string) {
		k, err := pix.ParseKey(text)
		if err != nil {
			return
		}
		static := pix.Static{Key: k, Name: name, City: city, Amount: money.Cents(amount), TxID: txID, Description: about}
		code, err := static.Code()
		if err != nil {
			if amount >= 0 && amount <= int64(money.Max) && len(txID) <= 25 && strings.Trim(txID, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") == "" {
				t.Fatalf("%+v: %v", static, err)
			}
			return
		}
		c, err := pixtest.Parse(code)
		if err != nil {
			t.Fatalf("%s: %v", code, err)
		}
		if c.Key != k.Value || c.Amount != static.Amount || c.TxID != txID || c.URL != "" || !strings.HasPrefix(pix.Fold(about), c.Description) {
			t.Errorf("%+v became %+v", static, c)
		}
		if len(c.Name) > 25 || len(c.City) > 15 || c.Name != pix.Fold(c.Name) || c.City != pix.Fold(c.City) {
			t.Errorf("name %q, city %q", c.Name, c.City)
		}
	})
}

func FuzzDynamicRoundTrip(f *testing.F) {
	f.Add("pix.example.com/qr/v2/1", "Fulano", "BRASILIA")
	f.Fuzz(func(t *testing.T, url, name, city string) {
		code, err := pix.Dynamic{URL: url, Name: name, City: city}.Code()
		if err != nil {
			return
		}
		if c, err := pixtest.Parse(code); err != nil || c.URL != url || !c.Once || c.Key != "" {
			t.Errorf("%s: read as %+v, %v", code, c, err)
		}
	})
}

func FuzzKeyIsCanonical(f *testing.F) {
	for _, s := range []string{"529.982.247-25", "12.abc.345/01de-35", "+55 (11) 98765-4321", "A@B.co", "123E4567-E12B-12D1-A456-426655440000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		k, err := pix.ParseKey(text)
		if err != nil {
			return
		}
		again, err := pix.ParseKeyAs(k.Kind, k.Value)
		if err != nil || again != k || len(k.Value) > 77 {
			t.Errorf("%q is %v, which is %v, %v", text, k, again, err)
		}
	})
}
