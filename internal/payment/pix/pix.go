// Package pix owns what PIX writes down: keys and their check digits, BR Codes
// (the text that a payer copies or scans) and their picture. It is pure: text
// in, text out. It does not know who is paid, for what, or whether it happened.
package pix

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"rsc.io/qr"

	"carteira/internal/platform/money"
	"carteira/internal/platform/taxid"
)

// The limits of the fields of a code, in bytes; folded text has one per
// character.
const (
	maxName        = 25
	maxCity        = 15
	maxTxID        = 25
	maxURL         = 77
	maxKey         = 77
	maxDescription = 73 // with the key: both share one field
)

// noTxID is written where a code has no id of its own.
const noTxID = "***"

const gui = "br.gov.bcb.pix"

// methodOnce says in field 01 that a code is for one payment.
const methodOnce = "12"

// Static is a code that names a key. Banks neither keep it from being paid
// twice nor promise to pass its id on.
type Static struct {
	Key         Key
	Name        string      // of who is paid; folded and cut
	City        string      // likewise
	Amount      money.Cents // 0: the payer types it
	TxID        string      // 1 to 25 letters and digits; empty for none
	Description string      // folded, and cut to what the key leaves
}

// Code writes the code out.
func (s Static) Code() (string, error) {
	if s.Key.Value == "" || len(s.Key.Value) > maxKey {
		return "", errors.New("pix: a static code needs a key")
	}
	account := objects{{"00", gui}, {"01", s.Key.Value}}
	if about := cut(Fold(s.Description), maxDescription-len(s.Key.Value)); about != "" {
		account = append(account, object{"02", about})
	}
	return write("", account, s.Amount, s.Name, s.City, s.TxID)
}

// Dynamic is a code that names the address of a charge, which says the rest.
type Dynamic struct {
	URL    string // host and path, without https://
	Name   string
	City   string
	Amount money.Cents // 0 leaves it to the charge, as it should be
	TxID   string      // empty leaves it to the charge
}

// Code writes the code out.
func (d Dynamic) Code() (string, error) {
	if d.URL == "" || len(d.URL) > maxURL || strings.Contains(d.URL, "://") || !printable(d.URL) {
		return "", fmt.Errorf("pix: the address must be 1 to %d characters without https://", maxURL)
	}
	return write(methodOnce, objects{{"00", gui}, {"25", d.URL}}, d.Amount, d.Name, d.City, d.TxID)
}

// write puts the fields in the order of their ids, the sum last.
func write(method string, account objects, amount money.Cents, name, city, txID string) (string, error) {
	label, err := labelOf(txID)
	if err != nil {
		return "", err
	}
	if amount < 0 || amount > money.Max {
		return "", fmt.Errorf("pix: amount %s is out of range", amount)
	}
	list := objects{{"00", "01"}}
	if method != "" {
		list = append(list, object{"01", method})
	}
	list = append(list, object{"26", account.String()}, object{"52", "0000"}, object{"53", "986"})
	if amount > 0 {
		list = append(list, object{"54", amount.String()})
	}
	list = append(list, object{"58", "BR"}, object{"59", ShownName(name)}, object{"60", ShownCity(city)},
		object{"62", objects{{"05", label}}.String()})
	return seal(list.String()), nil
}

// ShownName is the name of the payee in a code.
func ShownName(name string) string { return foldTo(name, maxName, noName) }

// ShownCity is the city of the payee in a code.
func ShownCity(city string) string { return foldTo(city, maxCity, noCity) }

// What a code has in place of a name and of a city that banks cannot read.
const (
	noName = "RECEBEDOR"
	noCity = "BRASIL"
)

func labelOf(txID string) (string, error) {
	switch {
	case txID == "":
		return noTxID, nil
	case len(txID) > maxTxID || !alphanumeric(txID):
		return "", fmt.Errorf("pix: the id must be 1 to %d letters and digits", maxTxID)
	}
	return txID, nil
}

func alphanumeric(s string) bool {
	for _, r := range s {
		if !isLetterOrDigit(r) {
			return false
		}
	}
	return true
}

func isLetterOrDigit(r rune) bool {
	return '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z'
}

// printable reports whether s is visible ASCII without spaces.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// ValidCPF reports whether s is eleven digits of which the last two fit.
func ValidCPF(s string) bool { return canonical(s) && !taxid.IsCNPJ(s) }

// ValidCNPJ reports whether s is twelve digits or capital letters and two
// digits that fit.
func ValidCNPJ(s string) bool { return canonical(s) && taxid.IsCNPJ(s) }

// canonical reports whether s is a number without punctuation or small letters.
func canonical(s string) bool {
	number, err := taxid.Parse(s)
	return err == nil && number == s
}

// Fold reduces text to what every bank accepts in a code: letters without
// accents, digits, points and hyphens, words one space apart. Some banks refuse
// the whole code for one accent or ampersand.
func Fold(text string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case isLetterOrDigit(r), r == '.', r == '-':
			return r
		case unicode.IsMark(r):
			return -1
		}
		return ' '
	}, norm.NFD.String(text))
	return strings.Join(strings.Fields(plain), " ")
}

func foldTo(text string, limit int, otherwise string) string {
	if text = cut(Fold(text), limit); text == "" {
		return otherwise
	}
	return text
}

// cut shortens folded text, in which a character is a byte.
func cut(text string, limit int) string {
	if limit <= 0 {
		return ""
	}
	return strings.TrimSpace(text[:min(len(text), limit)])
}

// object is one field of a code: two digits of id, two of length, the value.
// Some values are lists of objects again.
type object struct{ id, value string }

type objects []object

// String writes them out. A value over 99 bytes has no length to write; the
// limits of every field keep it from coming here.
func (list objects) String() string {
	var out strings.Builder
	for _, object := range list {
		fmt.Fprintf(&out, "%s%02d%s", object.id, len(object.value), object.value)
	}
	return out.String()
}

// sumField is the id and length of the sum, which count in the sum itself.
const sumField = "6304"

func seal(text string) string {
	text += sumField
	return text + fmt.Sprintf("%04X", crc(text))
}

// crc is CRC-16/CCITT-FALSE: polynomial 1021, begun with FFFF, not reflected.
func crc(text string) uint16 {
	sum := uint16(0xFFFF)
	for i := range len(text) {
		sum ^= uint16(text[i]) << 8
		for range 8 {
			top := sum&0x8000 != 0
			sum <<= 1
			if top {
				sum ^= 0x1021
			}
		}
	}
	return sum
}

// scale is the pixels of a module: enough to be scanned from a screen and to
// be shrunk.
const scale = 6

// PNG draws text as a QR code, with the quiet zone that scanners need.
func PNG(text string) ([]byte, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return nil, fmt.Errorf("draw QR code: %w", err)
	}
	code.Scale = scale
	return code.PNG(), nil
}
