package money

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
)

func TestParseAcceptsOnlyThePlainForm(t *testing.T) {
	tests := []struct {
		in   string
		want Cents
		err  error
	}{
		{"1234.50", 123450, nil},
		{"1234.5", 123450, nil},
		{"1234", 123400, nil},
		{"0", 0, nil},
		{"0.01", 1, nil},
		{"0035.00", 3500, nil},
		{"99999999.99", Max, nil},
		{"100000000", 0, ErrTooLarge},
		{"100000000.00", 0, ErrTooLarge},
		{strings.Repeat("9", 400), 0, ErrTooLarge},
		{"1.234", 0, ErrPlaces},
		{"1.000", 0, ErrPlaces},
		{"", 0, ErrEmpty},
		{"-1", 0, ErrNegative},
		{"-0.00", 0, ErrNegative},
		{"+1", 0, ErrSyntax},
		{"1e3", 0, ErrSyntax},
		{"1.2e3", 0, ErrSyntax},
		{" 1", 0, ErrSyntax},
		{"1 ", 0, ErrSyntax},
		{"1\n", 0, ErrSyntax},
		{"1,50", 0, ErrSyntax},
		{"1,234.50", 0, ErrSyntax},
		{"1.", 0, ErrSyntax},
		{".5", 0, ErrSyntax},
		{".", 0, ErrSyntax},
		{"1.2.3", 0, ErrSyntax},
		{"1_000", 0, ErrSyntax},
		{"0x10", 0, ErrSyntax},
		{"NaN", 0, ErrSyntax},
		{"١٢", 0, ErrSyntax},
		{"R$ 35.00", 0, ErrSyntax},
	}
	for _, tt := range tests {
		got, err := Parse(tt.in)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("Parse(%q) = %d, %v; want %d, %v", tt.in, got, err, tt.want, tt.err)
		}
	}
}

func TestParseBRReadsWhatPeopleWrite(t *testing.T) {
	tests := []struct {
		in   string
		want Cents
		err  error
	}{
		{"R$ 1.234,50", 123450, nil},
		{"R$1.234,50", 123450, nil},
		{"r$ 35", 3500, nil},
		{"R$\u00a035,00", 3500, nil},
		{"  1.234,50 ", 123450, nil},
		{"35,00", 3500, nil},
		{"35,5", 3550, nil},
		{"35", 3500, nil},
		{"35.00", 3500, nil},
		{"35.5", 3550, nil},
		{"1.234", 123400, nil},
		{"1.234.567", 123456700, nil},
		{"1234,50", 123450, nil},
		{"1234.50", 123450, nil},
		{"99.999.999,99", Max, nil},
		{"100.000.000", 0, ErrTooLarge},
		{"0.123", 0, ErrPlaces},
		{"1234.567", 0, ErrPlaces},
		{"35,001", 0, ErrPlaces},
		{"1,234", 0, ErrPlaces},
		{"", 0, ErrEmpty},
		{"   ", 0, ErrEmpty},
		{"R$", 0, ErrEmpty},
		{"-35,00", 0, ErrNegative},
		{"R$ -35,00", 0, ErrNegative},
		{"-R$ 35,00", 0, ErrNegative},
		{"1,234.50", 0, ErrSyntax},
		{"1.23,50", 0, ErrSyntax},
		{"1234.567,50", 0, ErrSyntax},
		{"1,2,3", 0, ErrSyntax},
		{"35,", 0, ErrSyntax},
		{",50", 0, ErrSyntax},
		{"1 234,50", 0, ErrSyntax},
		{"R$ R$ 35", 0, ErrSyntax},
		{"35 reais", 0, ErrSyntax},
	}
	for _, tt := range tests {
		got, err := ParseBR(tt.in)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("ParseBR(%q) = %d, %v; want %d, %v", tt.in, got, err, tt.want, tt.err)
		}
	}
}

func TestPrinting(t *testing.T) {
	tests := []struct {
		in        Cents
		plain, br string
	}{
		{0, "0.00", "R$ 0,00"},
		{1, "0.01", "R$ 0,01"},
		{99, "0.99", "R$ 0,99"},
		{100, "1.00", "R$ 1,00"},
		{99999, "999.99", "R$ 999,99"},
		{123450, "1234.50", "R$ 1.234,50"},
		{Max, "99999999.99", "R$ 99.999.999,99"},
		{-5, "-0.05", "-R$ 0,05"},
		{-123450, "-1234.50", "-R$ 1.234,50"},
		{math.MinInt64, "-92233720368547758.08", "-R$ 92.233.720.368.547.758,08"},
	}
	for _, tt := range tests {
		if got := tt.in.String(); got != tt.plain {
			t.Errorf("String() = %q, want %q", got, tt.plain)
		}
		if got := string(tt.in.Append([]byte("x"))); got != "x"+tt.plain {
			t.Errorf("Append(x) = %q, want %q", got, "x"+tt.plain)
		}
		if got := tt.in.BR(); got != tt.br {
			t.Errorf("BR() = %q, want %q", got, tt.br)
		}
	}
}

func TestJSONIsAStringBothWays(t *testing.T) {
	out, err := json.Marshal(map[string]Cents{"value": 123450})
	if err != nil || string(out) != `{"value":"1234.50"}` {
		t.Fatalf("Marshal = %s, %v", out, err)
	}
	var back struct{ Value Cents }
	if err := json.Unmarshal(out, &back); err != nil || back.Value != 123450 {
		t.Fatalf("Unmarshal = %d, %v", back.Value, err)
	}
	for _, refused := range []string{`{"value":35}`, `{"value":"35,00"}`, `{"value":""}`} {
		if err := json.Unmarshal([]byte(refused), &back); err == nil {
			t.Errorf("%s was read as %s", refused, back.Value)
		}
	}
}

func TestAppendDoesNotAllocate(t *testing.T) {
	buf := make([]byte, 0, 64)
	if n := testing.AllocsPerRun(100, func() { buf = Cents(123450).Append(buf[:0]) }); n > 0 {
		t.Errorf("Append made %v allocations", n)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"1234.50", "0.1", "R$ 1.234,50", "1.234", "-1", "99999999.99", "1e9", "", "R$", "\xff,1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, parse := range []func(string) (Cents, error){Parse, ParseBR} {
			amount, err := parse(text)
			if err != nil {
				continue
			}
			if amount < 0 || amount > Max {
				t.Fatalf("%q was read as %d, out of range", text, amount)
			}
			if again, err := Parse(amount.String()); err != nil || again != amount {
				t.Fatalf("%q printed %s, read back as %d, %v", text, amount, again, err)
			}
			if again, err := ParseBR(amount.BR()); err != nil || again != amount {
				t.Fatalf("%q printed %s, read back as %d, %v", text, amount.BR(), again, err)
			}
		}
	})
}
