package phone

import (
	"errors"
	"strings"
	"testing"

	"carteira/internal/platform/text"
)

var written = []struct {
	in, want string
	err      error
}{
	// Area code and number.
	{"11987654321", "5511987654321", nil},
	{"(11) 98765-4321", "5511987654321", nil},
	{" 11/98765.4321 ", "5511987654321", nil},
	{"11\u00a098765\u20114321", "5511987654321", nil},
	{"\u202a11 98765–4321\u202c", "5511987654321", nil},
	{"1123456789", "551123456789", nil},
	{"1153456789", "551153456789", nil},
	{"1190000000", "", ErrNinth},
	{"1160000000", "", ErrNinth},
	{"1199999999", "", ErrNinth},
	{"1113456789", "", ErrNumber},
	{"1103456789", "", ErrNumber},
	{"11887654321", "", ErrNumber},
	{"11287654321", "", ErrNumber},
	{"119876543210", "", ErrLength},
	{"1198765432100", "", ErrLength},
	{"119876543", "", ErrNoArea},
	{"98765-4321", "", ErrNoArea},
	{"3456-7890", "", ErrNoArea},
	{"3456-789", "", ErrLength},
	{"11 3456-78", "", ErrNoArea},
	{"20 98765-4321", "", ErrArea},
	{"10 98765-4321", "", ErrArea},
	{"23 3456-7890", "", ErrArea},
	{"90 98765-4321", "", ErrArea},
	{"1", "", ErrLength},
	{"351 912 345 678", "", ErrLength},
	{"1 202 555 0147", "", ErrNumber}, // area code 12, and a number that begins with 0

	// The trunk 0, and a carrier after it.
	{"011987654321", "5511987654321", nil},
	{"(011) 3456-7890", "551134567890", nil},
	{"0 15 11 98765-4321", "5511987654321", nil},
	{"0 41 11 3456-7890", "551134567890", nil},
	{"0xx11 98765-4321", "", ErrSyntax},
	{"0 15 11 8765-4321", "", ErrNinth},
	{"0 15 10 98765-4321", "", ErrArea},
	{"011 8765-4321", "", ErrNinth},
	{"0 15 1 11 98765-4321", "", ErrLength}, // one digit too many
	{"0800 123 4567", "", ErrArea},
	{"0", "", ErrLength},

	// 55 is the country, or the area code of Santa Maria.
	{"5511987654321", "5511987654321", nil},
	{"551134567890", "551134567890", nil},
	{"551187654321", "", ErrNinth},
	{"55987654321", "5555987654321", nil},
	{"5534567890", "555534567890", nil},
	{"5587654321", "", ErrNinth},
	{"555534567890", "555534567890", nil},
	{"5555987654321", "5555987654321", nil},
	{"05534567890", "555534567890", nil},
	{"055987654321", "5555987654321", nil},
	{"55011987654321", "5511987654321", nil},
	{"55 011 3456-7890", "551134567890", nil},
	{"55 0 15 11 98765-4321", "5511987654321", nil},
	{"055 11 98765-4321", "5511987654321", nil}, // 0 and 55 for a carrier: the same number
	{"5510987654321", "", ErrArea},
	{"55119876543210", "", ErrLength},
	{"555511987654321", "", ErrLength},

	// With + or 00.
	{"+55 11 98765-4321", "5511987654321", nil},
	{"(+55) 11 98765-4321", "5511987654321", nil},
	{"+55 (011) 98765-4321", "5511987654321", nil},
	{"0055 11 98765-4321", "5511987654321", nil},
	{"+55 11 8765-4321", "", ErrNinth},
	{"+55 98765-4321", "", ErrNoArea},
	{"+55 3456-7890", "", ErrNoArea},
	{"+55 20 98765-4321", "", ErrArea},
	{"+55", "", ErrLength},
	{"+351 912 345 678", "351912345678", nil},
	{"00351912345678", "351912345678", nil},
	{"+1 (202) 555-0147", "12025550147", nil},
	{"0012025550147", "12025550147", nil},
	{"+44 20 7946 0958", "442079460958", nil},
	{"+54 9 11 2345-6789", "5491123456789", nil},
	{"+595 981 234567", "595981234567", nil},
	{"+123 456 789 012 345", "", ErrAmerican},
	{"+1 202 555 014", "", ErrAmerican},
	{"+1 202 555 01477", "", ErrAmerican},
	{"+11 98765-4321", "", ErrAmerican}, // an area code behind a + is no country's
	{"+21 98765-4321", "", ErrCountry},
	{"+85 98765-4321", "", ErrCountry},
	{"+0 11 98765-4321", "", ErrCountry},
	{"+00351912345678", "", ErrCountry},
	{"+376 312 345", "", ErrForeign},
	{"+376 312 3456", "3763123456", nil},
	{"+49 123456789012 3", "491234567890123", nil},
	{"+49 123456789012 34", "", ErrForeign},
	{"00", "", ErrCountry},
	{"+", "", ErrSyntax},

	// What is no number, or more than one.
	{"", "", ErrSyntax},
	{"não tem", "", ErrSyntax},
	{"11 98765-4321 ramal 2", "", ErrSyntax},
	{"11 98765+4321", "", ErrSyntax},
	{"++55 11 98765-4321", "", ErrSyntax},
	{"1198765-4321 / 1134567890", "", ErrLength},
	{"１１９８７６５４３２１", "", ErrSyntax},
	{"11 98765-4321;", "", ErrSyntax},
	{"1.1e10", "", ErrSyntax},
	{strings.Repeat("1", 1000), "", ErrLength},
}

func TestParseReadsWhatPeopleWrite(t *testing.T) {
	for _, tt := range written {
		got, err := Parse(tt.in)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("Parse(%q) = %q, %v; want %q, %v", tt.in, got, err, tt.want, tt.err)
		}
	}
}

func TestBrazilHasSixtySevenAreaCodes(t *testing.T) {
	missing := "20 23 25 26 29 30 36 39 40 50 52 56 57 58 59 60 70 72 76 78 80 90"
	known := 0
	for tens := '1'; tens <= '9'; tens++ {
		for ones := '0'; ones <= '9'; ones++ {
			area := string([]rune{tens, ones})
			want := area != "10" && !strings.Contains(missing, area)
			if _, err := Parse(area + "987654321"); (err == nil) != want {
				t.Errorf("area code %s: %v", area, err)
			}
			if areaCodes[area] {
				known++
			}
		}
	}
	if known != 67 || len(areaCodes) != 67 {
		t.Errorf("%d area codes, %d in the table", known, len(areaCodes))
	}
}

func TestEachCountryCodeIsReadFromItsOwnDigits(t *testing.T) {
	if countryCodes[brazil] {
		t.Error("Brazil stands among the countries without a plan of their own")
	}
	for code := range countryCodes {
		for length := 1; length < len(code); length++ {
			if countryCodes[code[:length]] || code[:length] == brazil {
				t.Errorf("%s begins with the code %s", code, code[:length])
			}
		}
		if number := (code + "2345678901")[:11]; !strings.HasPrefix(number, brazil) {
			if got, err := Parse("+" + number); got != number || err != nil {
				t.Errorf("+%s: %q, %v", number, got, err)
			}
		}
	}
}

// What the first edition stored: any 10 to 15 digits as typed, and 55 before 10 or 11 that came without a plus.
func TestRepairChangesOnlyWhatIsCertain(t *testing.T) {
	tests := []struct {
		typed, stored, want string
		certain             bool
	}{
		{"(11) 98765-4321", "5511987654321", "5511987654321", true},
		{"(11) 3456-7890", "551134567890", "551134567890", true},
		{"+351 912 345 678", "351912345678", "351912345678", true},
		{"(011) 3456-7890", "5501134567890", "551134567890", true},
		{"(011) 98765-4321", "011987654321", "5511987654321", true},
		{"0 15 11 98765-4321", "01511987654321", "5511987654321", true},
		{"0 15 11 3456-7890", "0151134567890", "551134567890", true},
		{"+55 (011) 98765-4321", "55011987654321", "5511987654321", true},
		{"0055 11 98765-4321", "005511987654321", "5511987654321", true},
		{"00 1 202 555 0147", "0012025550147", "12025550147", true},
		{"+11 98765-4321", "11987654321", "5511987654321", true}, // +1 1… is not a valid number
		{"+21 98765-4321", "21987654321", "5521987654321", true}, // nor is +219
		{"+51 987 654 321", "51987654321", "51987654321", true},  // Peru
		{"55 98765-4321", "5555987654321", "5555987654321", true},

		{"+55 98765-4321", "55987654321", "55987654321", false},
		{"+55 3456-7890", "5534567890", "5534567890", false},
		{"(11) 8765-4321", "551187654321", "551187654321", false},
		{"(011) 8765-4321", "5501187654321", "5501187654321", false},
		{"1 202 555 0147", "5512025550147", "5512025550147", false},
		{"(20) 98765-4321", "5520987654321", "5520987654321", false},
		{"0800 123 4567", "5508001234567", "5508001234567", false},
		{"11 98765-4321 / 22", "11987654321" + "22", "1198765432122", false},
		{"3456-7890 / 1", "5534567890" + "1", "55345678901", false},
		{"", "", "", false},
		{"", "not digits", "not digits", false},
		{"", "+5511987654321", "+5511987654321", false},
	}
	for _, tt := range tests {
		fixed, certain := Repair(tt.stored)
		if fixed != tt.want || certain != tt.certain {
			t.Errorf("Repair(%q), typed as %q, = %q, %t; want %q, %t", tt.stored, tt.typed, fixed, certain, tt.want, tt.certain)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"+55 11 98765-4321", "01511987654321", "0012025550147", "5534567890", "(11) 3456-7890", "\xff9", "+", "00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		digits, err := Parse(value)
		if err != nil {
			if digits != "" {
				t.Fatalf("%q was refused, and is %q", value, digits)
			}
			return
		}
		if text.Digits(digits) != digits || len(digits) < 10 || len(digits) > 15 || digits[0] == '0' {
			t.Fatalf("%q became %q", value, digits)
		}
		if again, err := Parse("+" + digits); err != nil || again != digits {
			t.Fatalf("%q became %s, which is read as %q, %v", value, digits, again, err)
		}
		if fixed, certain := Repair(digits); fixed != digits || !certain {
			t.Fatalf("%q became %s, which is repaired to %q, %t", value, digits, fixed, certain)
		}
	})
}

func FuzzRepair(f *testing.F) {
	for _, seed := range []string{"5511987654321", "011987654321", "0012025550147", "551187654321"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, stored string) {
		fixed, certain := Repair(stored)
		if !certain && fixed != stored {
			t.Fatalf("%q was changed to %q by a guess", stored, fixed)
		}
		if again, still := Repair(fixed); again != fixed || still != certain {
			t.Fatalf("%q became %q, then %q", stored, fixed, again)
		}
	})
}
