package pix_test

import (
	"errors"
	"strings"
	"testing"

	"carteira/internal/payment/pix"
	"carteira/internal/platform/taxid"
)

func TestKeysAreFoundOutAndMadeCanonical(t *testing.T) {
	tests := map[string]pix.Key{
		"529.982.247-25":                       {Kind: pix.KindCPF, Value: "52998224725"},
		"11144477735":                          {Kind: pix.KindCPF, Value: "11144477735"},
		" 111.444.777-35 ":                     {Kind: pix.KindCPF, Value: "11144477735"},
		"11.222.333/0001-81":                   {Kind: pix.KindCNPJ, Value: "11222333000181"},
		"11222333000181":                       {Kind: pix.KindCNPJ, Value: "11222333000181"},
		"12.abc.345/01de-35":                   {Kind: pix.KindCNPJ, Value: "12ABC34501DE35"},
		"+5511987654321":                       {Kind: pix.KindPhone, Value: "+5511987654321"},
		"+55 (11) 98765-4321":                  {Kind: pix.KindPhone, Value: "+5511987654321"},
		"(11) 98765-4321":                      {Kind: pix.KindPhone, Value: "+5511987654321"},
		"(61) 3333-4444":                       {Kind: pix.KindPhone, Value: "+556133334444"},
		"+351912345678":                        {Kind: pix.KindPhone, Value: "+351912345678"},
		"Cobranca@Exemplo.com.br":              {Kind: pix.KindEmail, Value: "cobranca@exemplo.com.br"},
		"123E4567-E12B-12D1-A456-426655440000": {Kind: pix.KindRandom, Value: "123e4567-e12b-12d1-a456-426655440000"},
	}
	for in, want := range tests {
		if got, err := pix.ParseKey(in); err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", in, got, err, want)
		}
	}
}

func TestWrongKeysAreRefused(t *testing.T) {
	tests := map[string]error{
		"":                                     pix.ErrKey,
		"abc":                                  pix.ErrKey,
		"1234567890":                           pix.ErrKey,
		"5511987654321":                        pix.ErrKey, // a CNPJ that lost its leading zero looks the same
		"529.982.247-26":                       pix.ErrCPF,
		"11111111111":                          pix.ErrCPF,
		"11222333000182":                       pix.ErrCNPJ,
		"00000000000000":                       pix.ErrCNPJ,
		"12ABC34501DEAB":                       pix.ErrCNPJ,
		"11222333-000181é":                     pix.ErrKey,
		"+5501987654321":                       pix.ErrPhone,
		"+55119876543":                         pix.ErrPhone,
		"+5511887654321":                       pix.ErrPhone,
		"+0511987654321":                       pix.ErrPhone,
		"+55abc":                               pix.ErrPhone,
		"@":                                    pix.ErrEmail,
		"a b@c.d":                              pix.ErrEmail,
		"josé@exemplo.com":                     pix.ErrEmail,
		strings.Repeat("a", 72) + "@b.com":     pix.ErrEmail,
		"123e4567-e12b-12d1-a456-42665544000":  pix.ErrKey,
		"123e4567-e12b-12d1-a456-42665544000g": pix.ErrKey,
	}
	for in, want := range tests {
		if got, err := pix.ParseKey(in); !errors.Is(err, want) {
			t.Errorf("%s: got %v, %v, want %v", in, got, err, want)
		}
	}
}

// A CPF and a mobile phone may be the same eleven digits, and then the money
// of a wrong guess is a stranger's.
func TestDigitsThatMayBeAPhoneAreNotGuessed(t *testing.T) {
	const both = "11987654374"
	if !pix.ValidCPF(both) {
		t.Fatal(both + " is no CPF: the test needs one")
	}
	for _, digits := range []string{both, "11987654321"} {
		if got, err := pix.ParseKey(digits); !errors.Is(err, pix.ErrAmbiguous) {
			t.Errorf("%s: got %v, %v", digits, got, err)
		}
	}
	for kind, want := range map[pix.Kind]string{pix.KindCPF: both, pix.KindPhone: "+55" + both} {
		if got, err := pix.ParseKeyAs(kind, both); err != nil || got.Value != want || got.Kind != kind {
			t.Errorf("as %s: got %v, %v", kind, got, err)
		}
	}
	if got, err := pix.ParseKey("119.876.543-74"); err != nil || got.Kind != pix.KindCPF {
		t.Errorf("with the points of a CPF: got %v, %v", got, err)
	}
}

// Neither has an area code that exists and a 9 after it.
func TestDigitsThatAreNoPhoneAreACPF(t *testing.T) {
	for _, digits := range []string{"52998224725", "12345678909", "11144477735"} {
		if got, err := pix.ParseKey(digits); err != nil || got.Kind != pix.KindCPF || got.Value != digits {
			t.Errorf("%s: got %v, %v", digits, got, err)
		}
	}
	if got, err := pix.ParseKey("52998224726"); !errors.Is(err, pix.ErrCPF) {
		t.Errorf("with wrong check digits: got %v, %v", got, err)
	}
}

func TestUnknownKindIsRefused(t *testing.T) {
	if _, err := pix.ParseKeyAs("fax", "+551133334444"); !errors.Is(err, pix.ErrKind) {
		t.Errorf("got %v", err)
	}
	for _, kind := range pix.Kinds {
		if _, err := pix.ParseKeyAs(kind, "?"); err == nil || errors.Is(err, pix.ErrKind) {
			t.Errorf("%s: got %v", kind, err)
		}
	}
}

func TestCheckDigitsOfTheVectors(t *testing.T) {
	cpf := map[string]string{"529982247": "25", "111444777": "35", "123456789": "09", "000000001": "91"}
	for in, want := range cpf {
		if got := taxid.CheckDigits(in); got != want || !pix.ValidCPF(in+want) {
			t.Errorf("CPF %s: got %s, want %s", in, got, want)
		}
	}
	cnpj := map[string]string{
		"12ABC34501DE": "35", "112223330001": "81", "000000000001": "91",
		"123456780001": "95", "A1B2C3D40001": "93", "ZZZZZZZZZZZZ": "62",
	}
	for in, want := range cnpj {
		if got := taxid.CheckDigits(in); got != want || !pix.ValidCNPJ(in+want) {
			t.Errorf("CNPJ %s: got %s, want %s", in, got, want)
		}
	}
}
