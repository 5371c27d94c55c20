package address

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

var full = Address{
	CEP: "01310100", Street: "Avenida Paulista", Number: "1578", Complement: "ap 4", District: "Bela Vista", City: "São Paulo", State: "SP",
}

func TestCheckTidiesWhatPeopleWrite(t *testing.T) {
	got, faults := Address{
		CEP: " 01.310-100 ", Street: "  Avenida \t Paulista ", Number: "1578", Complement: "ap  4", District: "Bela Vista",
		City: "São\u00a0Paulo", State: "são paulo",
	}.Check()
	if got != full || !faults.Empty() {
		t.Errorf("got %+v, %v", got, faults)
	}
	if again, faults := got.Check(); again != got || !faults.Empty() {
		t.Errorf("checked again: %+v, %v", again, faults)
	}
	if got, faults := (Address{}).Check(); !got.IsZero() || !faults.Empty() {
		t.Errorf("no address: %+v, %v", got, faults)
	}
}

func TestCheckReportsEveryPartAtOnce(t *testing.T) {
	_, faults := Address{
		CEP: "1310-100", Street: strings.Repeat("á", 161), Number: strings.Repeat("9", 21), Complement: "a\nb", District: "a\x00b",
		City: "S\xe3o Paulo", State: "XX",
	}.Check()
	want := map[string]string{
		"cep": ErrCEP.Error(), "street": "must have at most 160 characters", "number": "must have at most 20 characters",
		"complement": "must be on one line", "district": "must not contain control characters", "city": "must be valid UTF-8",
		"state": ErrState.Error(),
	}
	for _, name := range Parts() {
		if reasons := faults.Get(name); len(reasons) != 1 || reasons[0] != want[name] {
			t.Errorf("%s: %q, want %q", name, reasons, want[name])
		}
	}
	exact := Address{Street: strings.Repeat("á", 160), Number: strings.Repeat("9", 20)}
	if _, faults := exact.Check(); !faults.Empty() {
		t.Errorf("parts as long as they may be: %v", faults)
	}
}

func TestParseCEP(t *testing.T) {
	for in, want := range map[string]string{
		"01310-100": "01310100", "01310100": "01310100", "01.310-100": "01310100", "99999999": "99999999",
		"1310100": "", "013101000": "", "00310-100": "", "": "", "cep 01310100": "", "０１３１０１００": "", "01310+100": "",
	} {
		if got, err := ParseCEP(in); got != want || (err == nil) != (want != "") || err != nil && !errors.Is(err, ErrCEP) {
			t.Errorf("ParseCEP(%q) = %q, %v", in, got, err)
		}
	}
	for in, want := range map[string]string{"01310100": "01310-100", "": "", "123": "123"} {
		if got := FormatCEP(in); got != want {
			t.Errorf("FormatCEP(%q) = %q", in, got)
		}
	}
}

func TestParseState(t *testing.T) {
	if len(states) != 27 {
		t.Errorf("%d states", len(states))
	}
	for in, want := range map[string]string{
		"SP": "SP", "sp": "SP", " Rj ": "RJ", "Pará": "PA", "PARAÍBA": "PB", "Paraná": "PR", "mato grosso": "MT", "Mato Grosso do Sul": "MS",
		"Distrito Federal": "DF", "GB": "", "": "", "S": "", "São": "",
	} {
		if got, err := ParseState(in); got != want || (err == nil) != (want != "") {
			t.Errorf("ParseState(%q) = %q, %v", in, got, err)
		}
	}
}

func TestAddressIsWrittenWithoutWhatIsEmpty(t *testing.T) {
	for _, tt := range []struct {
		in   Address
		want []string
	}{
		{full, []string{"Avenida Paulista, 1578, ap 4 – Bela Vista", "São Paulo/SP – 01310-100"}},
		{Address{}, nil},
		{Address{Street: "Rua A"}, []string{"Rua A"}},
		{Address{City: "Recife", State: "PE"}, []string{"Recife/PE"}},
		{Address{CEP: "50030230"}, []string{"50030-230"}},
		{Address{Street: "Rua A", District: "Centro", State: "PE"}, []string{"Rua A – Centro", "PE"}},
	} {
		if got := tt.in.Lines(); !slices.Equal(got, tt.want) {
			t.Errorf("%+v: %q", tt.in, got)
		}
		if got := tt.in.String(); got != strings.Join(tt.want, " – ") {
			t.Errorf("%+v: %q", tt.in, got)
		}
	}
}

func TestPartsAreTheAPIs(t *testing.T) {
	out, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	var byName map[string]string
	if err := json.Unmarshal(out, &byName); err != nil || len(byName) != len(Parts()) {
		t.Fatalf("%s, %v", out, err)
	}
	address := full
	for _, name := range Parts() {
		if at := address.Part(name); at == nil || *at != byName[name] {
			t.Errorf("part %s of %s", name, out)
		}
	}
	*address.Part("city") = "Santos"
	if address.City != "Santos" || address.Part("planet") != nil {
		t.Errorf("got %+v", address)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("01310-100", "Rua A", "SP")
	f.Add("\xff", "a\tb", "pará")
	f.Fuzz(func(t *testing.T, cep, street, state string) {
		once, faults := Address{CEP: cep, Street: street, State: state}.Check()
		if !faults.Empty() {
			return
		}
		if twice, faults := once.Check(); twice != once || !faults.Empty() {
			t.Fatalf("%+v became %+v, %v", once, twice, faults)
		}
		if len(once.CEP) != 0 && len(once.CEP) != 8 || len(once.State) != 0 && len(once.State) != 2 || strings.ContainsAny(once.String(), "\n\r\t") {
			t.Fatalf("%+v", once)
		}
	})
}
