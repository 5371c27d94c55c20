package taxid

import (
	"errors"
	"strings"
	"testing"
)

func TestParseChecksWhatItReads(t *testing.T) {
	tests := []struct {
		in, want string
		err      error
	}{
		{"529.982.247-25", "52998224725", nil},
		{"52998224725", "52998224725", nil},
		{" 529 982 247 25 ", "52998224725", nil},
		{"529.982.247–25", "52998224725", nil},
		{"111.444.777-35", "11144477735", nil},
		{"012.345.678-90", "01234567890", nil},
		{"123.456.789-09", "12345678909", nil}, // both check digits from a rest below 2 and above
		{"529.982.247-26", "", ErrCPF},
		{"529.982.247-15", "", ErrCPF},
		{"925.982.247-25", "", ErrCPF},
		{"000.000.000-00", "", ErrCPF},
		{"111.111.111-11", "", ErrCPF},
		{"999.999.999-99", "", ErrCPF},
		{"5299822472", "", ErrSyntax},
		{"529982247255", "", ErrSyntax},
		{"5299822472A", "", ErrSyntax},

		{"11.222.333/0001-81", "11222333000181", nil},
		{"11222333000181", "11222333000181", nil},
		{"00.000.000/0001-91", "00000000000191", nil},
		{"33.000.167/0001-01", "33000167000101", nil},
		{"12.ABC.345/01DE-35", "12ABC34501DE35", nil}, // the revenue service's own example
		{"12.abc.345/01de-35", "12ABC34501DE35", nil},
		{"12.ABC.345/01DE-53", "", ErrCNPJ},
		{"12.ACB.345/01DE-35", "", ErrCNPJ},
		{"12.ABC.345/01DE-3A", "", ErrSyntax},
		{"11.222.333/0001-82", "", ErrCNPJ},
		{"11.222.333/0001-71", "", ErrCNPJ},
		{"00.000.000/0000-00", "", ErrCNPJ},
		{"11.111.111/1111-11", "", ErrCNPJ},
		{"1222333000181", "", ErrSyntax},

		{"", "", ErrSyntax},
		{"não tem", "", ErrSyntax},
		{"529.982.247-25;", "", ErrSyntax},
		{"529_982_247_25", "", ErrSyntax},
		{"５２９９８２２４７２５", "", ErrSyntax},
		{"ÀBCDEFGHIJKL12", "", ErrSyntax},
		{strings.Repeat("1", 1000), "", ErrSyntax},
	}
	for _, tt := range tests {
		got, err := Parse(tt.in)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("Parse(%q) = %q, %v; want %q, %v", tt.in, got, err, tt.want, tt.err)
		}
	}
}

// A letter can hide behind a digit that is the same modulo 11, so that this holds for digits only.
func TestEachMistypedDigitIsFound(t *testing.T) {
	for _, good := range []string{"52998224725", "11222333000181"} {
		for i := range good {
			for _, other := range "0123456789" {
				typed := good[:i] + string(other) + good[i+1:]
				if _, err := Parse(typed); (err == nil) != (typed == good) {
					t.Errorf("%s typed as %s: %v", good, typed, err)
				}
			}
		}
	}
}

func TestFormatWritesThePunctuation(t *testing.T) {
	for in, want := range map[string]string{
		"52998224725": "529.982.247-25", "11222333000181": "11.222.333/0001-81", "12ABC34501DE35": "12.ABC.345/01DE-35",
		"": "", "123": "123",
	} {
		if got := Format(in); got != want {
			t.Errorf("Format(%q) = %q, want %q", in, got, want)
		}
	}
	if IsCNPJ("52998224725") || !IsCNPJ("12ABC34501DE35") {
		t.Error("a person's number and a company's were mixed up")
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"529.982.247-25", "12.ABC.345/01DE-35", "00000000000", "", "\xff", "12abc34501de35"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		number, err := Parse(text)
		if err != nil {
			if number != "" {
				t.Fatalf("%q was refused, and is %q", text, number)
			}
			return
		}
		if len(number) != cpfLength && len(number) != cnpjLength {
			t.Fatalf("%q became %q", text, number)
		}
		if again, err := Parse(Format(number)); err != nil || again != number {
			t.Fatalf("%q is shown as %q, which is read as %q, %v", text, Format(number), again, err)
		}
	})
}
