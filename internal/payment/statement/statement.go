// Package statement reads the statements that banks give out: OFX 1 (SGML) and
// OFX 2 (XML), and CSV with Portuguese or English headings. It makes lines of
// them and finds in a line's text what identifies a payer: the ids of PIX, a CPF or CNPJ,
// a name. It does not know invoices: payment matches the lines with those.
package statement

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/text"
)

// Bounds of a file, checked before and while it is read.
const (
	MaxSize  = 1 << 20
	MaxLines = 5000
	maxText  = 500 // of a description, in bytes
	maxID    = 100 // of an identifier, in bytes
)

// The reasons for which a file is refused, each fit to be shown at a field.
var (
	ErrEmpty   = errors.New("the file is empty")
	ErrSize    = errors.New("the statement must not be larger than 1 MiB; export a shorter time")
	ErrLines   = errors.New("the statement has more than 5000 lines; export a shorter time")
	ErrFormat  = errors.New("the file is no bank statement; export it as OFX, or as CSV with columns of date and amount")
	ErrNoLines = errors.New("no line of the statement could be read")
)

// Line is one movement of the account.
type Line struct {
	On          civil.Date // the bank's day
	Amount      money.Cents
	Description string
	ID          string // the bank's; not the same in each of its formats
	Account     string // empty where the file does not say it
}

// Statement is what a file holds.
type Statement struct {
	Lines  []Line
	Unread int // lines that have no date or amount that could be read
}

// Read reads a statement of any of the formats. Money that left the account has a
// negative amount.
func Read(content []byte) (Statement, error) {
	switch {
	case len(content) > MaxSize:
		return Statement{}, ErrSize
	case len(bytes.TrimSpace(content)) == 0:
		return Statement{}, ErrEmpty
	}
	decoded := decode(content)
	read := readCSV
	if isOFX(decoded) {
		read = readOFX
	}
	statement, err := read(decoded)
	switch {
	case err != nil:
		return Statement{}, err
	case len(statement.Lines) == 0:
		return Statement{}, ErrNoLines
	}
	return statement, nil
}

// decode makes UTF-8 of a file. What an OFX file says of its own encoding is often
// not so; what is not UTF-8 is Windows-1252, which Latin-1 is part of.
func decode(content []byte) string {
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff")) {
		decoded, err := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Bytes(content)
		if err == nil {
			return string(decoded)
		}
	}
	if utf8.Valid(content) {
		return string(content)
	}
	decoded, err := charmap.Windows1252.NewDecoder().Bytes(content)
	if err != nil {
		return strings.ToValidUTF8(string(content), "")
	}
	return string(decoded)
}

// add keeps a line if its date and amount were read. A line without money, and the
// balance that some banks list among the movements, are none.
func (s *Statement) add(line Line, ok bool) error {
	line.Description = text.Storable(oneLine(line.Description), maxText)
	line.ID = text.Storable(oneLine(line.ID), maxID)
	line.Account = text.Storable(oneLine(line.Account), maxID)
	switch {
	case isBalance(line.Description):
		return nil
	case !ok:
		s.Unread++
		return nil
	case line.Amount == 0:
		return nil
	case len(s.Lines) == MaxLines:
		return ErrLines
	}
	s.Lines = append(s.Lines, line)
	return nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// isBalance finds "Saldo do dia", "SALDO ANTERIOR" and "S A L D O".
func isBalance(description string) bool {
	letters := strings.ReplaceAll(text.Fold(description), " ", "")
	return strings.HasPrefix(letters, "saldo")
}
