// Package address owns what a postal address in Brazil is made of: its seven parts and their limits, the postal code
// (CEP), the 27 states, and how an address is written on one line or two.
//
// It does not own whether the address exists, or which street a postal code belongs to.
package address

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/text"
)

// Address is a postal address. Every part may be empty; the JSON names are the API's.
type Address struct {
	CEP        string `json:"cep"` // eight digits
	Street     string `json:"street"`
	Number     string `json:"number"` // a text: 12-A, s/n, km 7
	Complement string `json:"complement"`
	District   string `json:"district"`
	City       string `json:"city"`
	State      string `json:"state"` // two letters
}

// The reasons to refuse a part, worded for display next to a field.
var (
	ErrCEP   = errors.New("must be a CEP with eight digits, as in 01310-100")
	ErrState = errors.New("must be one of the 27 states, as in SP")
)

// Value stores the address as a JSON object, and none as an empty text.
func (a Address) Value() (driver.Value, error) {
	if a.IsZero() {
		return "", nil
	}
	b, err := json.Marshal(a)
	return string(b), err
}

// Scan reads what Value stored.
func (a *Address) Scan(src any) error {
	*a = Address{}
	var text []byte
	switch src := src.(type) {
	case string:
		text = []byte(src)
	case []byte:
		text = src
	default:
		return fmt.Errorf("scan an address from %T", src)
	}
	if len(text) == 0 {
		return nil
	}
	return json.Unmarshal(text, a)
}

// IsZero reports whether no part is filled.
func (a Address) IsZero() bool { return a == Address{} }

// part is one of the seven, by its name in the API.
type part struct {
	name  string
	limit int
	of    func(*Address) *string
}

var parts = []part{
	{"cep", 10, func(address *Address) *string { return &address.CEP }},
	{"street", 160, func(address *Address) *string { return &address.Street }},
	{"number", 20, func(address *Address) *string { return &address.Number }},
	{"complement", 100, func(address *Address) *string { return &address.Complement }},
	{"district", 100, func(address *Address) *string { return &address.District }},
	{"city", 100, func(address *Address) *string { return &address.City }},
	{"state", 30, func(address *Address) *string { return &address.State }},
}

// Parts lists the names of the parts, in the order in which an address is written.
func Parts() []string {
	names := make([]string, len(parts))
	for i, part := range parts {
		names[i] = part.name
	}
	return names
}

// Part finds a part by its name, for reading and for writing; nil when there is none of that name.
func (a *Address) Part(name string) *string {
	for _, part := range parts {
		if part.name == name {
			return part.of(a)
		}
	}
	return nil
}

// Check returns the address as it is stored, and under the parts' names what is wrong with it. Spaces around and within
// parts are tidied, the CEP loses its punctuation, a state that is written out becomes its two letters.
func (a Address) Check() (Address, fault.Fields) {
	var faults fault.Fields
	for _, part := range parts {
		value := part.of(&a)
		tidy, reason := part.tidy(*value)
		if reason != "" {
			faults.Add(part.name, reason)
			continue
		}
		*value = tidy
		if err := normalize(part.name, value); err != nil {
			faults.Add(part.name, err.Error())
		}
	}
	return a, faults
}

// tidy leaves one space between words, or returns why the text cannot be part of an address.
func (p part) tidy(value string) (tidy, reason string) {
	switch {
	case !utf8.ValidString(value):
		return "", "must be valid UTF-8"
	case strings.ContainsAny(value, "\n\r"):
		return "", "must be on one line"
	case strings.ContainsFunc(value, func(r rune) bool {
		return unicode.IsControl(r) &&
			r != '\t'
	}):
		return "", "must not contain control characters"
	}
	tidy = strings.Join(strings.Fields(value), " ")
	if utf8.RuneCountInString(tidy) > p.limit {
		return "", fmt.Sprintf("must have at most %d characters", p.limit)
	}
	return tidy, ""
}

func normalize(name string, value *string) (err error) {
	if *value == "" {
		return nil
	}
	switch name {
	case "cep":
		*value, err = ParseCEP(*value)
	case "state":
		*value, err = ParseState(*value)
	}
	return err
}

// ParseCEP reads 01310-100, 01.310-100 or 01310100 and returns the eight digits. None begins with 00.
func ParseCEP(s string) (string, error) {
	digits := text.Digits(s)
	if strings.Trim(s, "0123456789.- ") != "" || len(digits) != 8 || strings.HasPrefix(digits, "00") {
		return "", ErrCEP
	}
	return digits, nil
}

// FormatCEP writes eight digits as 01310-100, and any other text as it is.
func FormatCEP(cep string) string {
	if len(cep) != 8 {
		return cep
	}
	return cep[:5] + "-" + cep[5:]
}

// ParseState reads the two letters of a state, or its name, without regard to case and accents.
func ParseState(s string) (string, error) {
	folded := text.Fold(s)
	if code := strings.ToUpper(folded); states[code] != "" {
		return code, nil
	}
	for code, name := range states {
		if name == folded {
			return code, nil
		}
	}
	return "", ErrState
}

// states has the names as text.Fold leaves them.
var states = map[string]string{
	"AC": "acre", "AL": "alagoas", "AM": "amazonas", "AP": "amapa", "BA": "bahia", "CE": "ceara",
	"DF": "distrito federal",
	"ES": "espirito santo", "GO": "goias", "MA": "maranhao", "MG": "minas gerais",
	"MS": "mato grosso do sul",
	"MT": "mato grosso", "PA": "para", "PB": "paraiba", "PE": "pernambuco", "PI": "piaui",
	"PR": "parana",
	"RJ": "rio de janeiro", "RN": "rio grande do norte", "RO": "rondonia", "RR": "roraima",
	"RS": "rio grande do sul",
	"SC": "santa catarina", "SE": "sergipe", "SP": "sao paulo", "TO": "tocantins",
}

// Lines writes the address on two lines, as on an envelope, and leaves out what is empty:
//
//	Rua das Flores, 12-A, ap 4 – Centro
//	São Paulo/SP – 01310-100
func (a Address) Lines() []string {
	var lines []string
	for _, line := range []string{
		join(" – ", join(", ", a.Street, a.Number, a.Complement), a.District),
		join(" – ", join("/", a.City, a.State), FormatCEP(a.CEP)),
	} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// String writes the address on one line.
func (a Address) String() string { return join(" – ", a.Lines()...) }

func join(separator string, words ...string) string {
	var filled []string
	for _, word := range words {
		if word != "" {
			filled = append(filled, word)
		}
	}
	return strings.Join(filled, separator)
}
