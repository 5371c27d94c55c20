package pix

import (
	"errors"
	"regexp"
	"strings"
)

// Kind is what a key is.
type Kind string

// The kinds of keys.
const (
	KindCPF    Kind = "cpf"
	KindCNPJ   Kind = "cnpj"
	KindPhone  Kind = "phone"
	KindEmail  Kind = "email"
	KindRandom Kind = "random"
)

// Kinds are all of them, in the order in which people are asked.
var Kinds = []Kind{KindCNPJ, KindCPF, KindPhone, KindEmail, KindRandom}

// Key is a PIX key as the directory of the central bank has it.
type Key struct {
	Kind  Kind
	Value string
}

// String is the canonical form.
func (k Key) String() string { return k.Value }

// The reasons to refuse a key, worded for display next to a field.
var (
	ErrKey       = errors.New("must be a PIX key: CPF, CNPJ, phone with +55, e-mail or random key")
	ErrAmbiguous = errors.New("may be a CPF or a phone: write a CPF with its points, as in 123.456.789-09, or a phone with +55")
	ErrCPF       = errors.New("must be a CPF with correct check digits")
	ErrCNPJ      = errors.New("must be a CNPJ with correct check digits")
	ErrPhone     = errors.New("must be a phone with country and area code, such as +5511987654321")
	ErrEmail     = errors.New("must be an e-mail address of at most 77 characters")
	ErrRandom    = errors.New("must be a random key, such as 123e4567-e12b-12d1-a456-426655440000")
	ErrKind      = errors.New("must be cpf, cnpj, phone, email or random")
)

// ParseKey finds out what a key is and brings it into its canonical form. It
// does not guess where a wrong guess would pay a stranger: bare digits are a
// CPF or a CNPJ, never a phone, and a CPF that could be a mobile phone is
// refused as ambiguous. One that is no phone, because its area code does not
// exist or its third digit is not 9, is a CPF.
func ParseKey(text string) (Key, error) {
	text = strings.TrimSpace(text)
	switch {
	case strings.Contains(text, "@"):
		return ParseKeyAs(KindEmail, text)
	case strings.HasPrefix(text, "+"), strings.HasPrefix(text, "("):
		return ParseKeyAs(KindPhone, text)
	case randomKey.MatchString(strings.ToLower(text)):
		return ParseKeyAs(KindRandom, text)
	}
	switch plain := bare(text); {
	case len(plain) == 14:
		return ParseKeyAs(KindCNPJ, text)
	case len(plain) == 11 && strings.Trim(plain, "0123456789") == "":
		return parseElevenDigits(text, plain)
	}
	return Key{}, ErrKey
}

// parseElevenDigits reads a CPF. With its own punctuation it can be nothing
// else.
func parseElevenDigits(text, plain string) (Key, error) {
	if isMobile(plain) && !writtenCPF.MatchString(text) {
		return Key{}, ErrAmbiguous
	}
	return ParseKeyAs(KindCPF, text)
}

// isMobile reports whether eleven digits could be a mobile phone with its
// area code.
func isMobile(digits string) bool {
	return digits[2] == '9' && strings.Contains(areaCodes, " "+digits[:2]+" ")
}

// areaCodes are those that Anatel has given out.
const areaCodes = " 11 12 13 14 15 16 17 18 19 21 22 24 27 28 31 32 33 34 35 37 38 41 42 43 44 45 46 47 48 49 " +
	"51 53 54 55 61 62 63 64 65 66 67 68 69 71 73 74 75 77 79 81 82 83 84 85 86 87 88 89 91 92 93 94 95 96 97 98 99 "

// ParseKeyAs reads a key of a known kind.
func ParseKeyAs(kind Kind, text string) (Key, error) {
	read, known := readers[kind]
	if !known {
		return Key{}, ErrKind
	}
	value, err := read(strings.TrimSpace(text))
	if err != nil {
		return Key{}, err
	}
	return Key{kind, value}, nil
}

var readers = map[Kind]func(string) (string, error){
	KindCPF:    readCPF,
	KindCNPJ:   readCNPJ,
	KindPhone:  readPhone,
	KindEmail:  readEmail,
	KindRandom: readRandom,
}

var (
	writtenCPF = regexp.MustCompile(`^\d{3}\.\d{3}\.\d{3}-\d{2}$`)
	brazilian  = regexp.MustCompile(`^\+55[1-9][1-9](9\d{8}|\d{8})$`)
	phone      = regexp.MustCompile(`^\+[1-9]\d{1,14}$`)
	email      = regexp.MustCompile("^[a-z0-9.!#$&'*+/=?^_`{|}~-]+@" +
		"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$")
	randomKey = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
)

func readCPF(text string) (string, error) {
	if v := bare(text); ValidCPF(v) {
		return v, nil
	}
	return "", ErrCPF
}

func readCNPJ(text string) (string, error) {
	if v := bare(text); ValidCNPJ(v) {
		return v, nil
	}
	return "", ErrCNPJ
}

// readPhone wants the country code of a number outside Brazil.
func readPhone(text string) (string, error) {
	value := strings.NewReplacer(" ", "", "(", "", ")", "", "-", "", ".", "").Replace(text)
	if !strings.HasPrefix(value, "+") {
		if len(value) <= 11 {
			value = "55" + value
		}
		value = "+" + value
	}
	if !phone.MatchString(value) || strings.HasPrefix(value, "+55") && !brazilian.MatchString(value) {
		return "", ErrPhone
	}
	return value, nil
}

func readEmail(text string) (string, error) {
	lower := strings.ToLower(text)
	if len(lower) > maxKey || !email.MatchString(lower) {
		return "", ErrEmail
	}
	return lower, nil
}

func readRandom(text string) (string, error) {
	lower := strings.ToLower(text)
	if !randomKey.MatchString(lower) {
		return "", ErrRandom
	}
	return lower, nil
}

// bare takes the punctuation of CPF and CNPJ away.
func bare(text string) string {
	return strings.ToUpper(strings.NewReplacer(".", "", "-", "", "/", "", " ", "").Replace(text))
}
