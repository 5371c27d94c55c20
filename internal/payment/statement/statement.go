// Package statement reads the statements that banks give out: OFX 1 (SGML) and
// OFX 2 (XML), and CSV with Portuguese or English headings. It makes lines of
// them and finds in a line's text what identifies a payer: the ids of PIX, a CPF or CNPJ,
// a name. It does not know invoices: payment matches the lines with those.
package statement

import (
	"bytes"
	"errors"
	"html"
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
	if strings.Contains(strings.ToUpper(decoded[:min(len(decoded), 4<<10)]), "<OFX>") {
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

// debitTypes are the types of movements that take money. Some banks write their amounts
// without a sign. What one of eitherTypes does is known by the sign alone, since money
// can also be paid in at an ATM; in a file without signs it takes money.
var (
	debitTypes  = map[string]bool{"DEBIT": true, "FEE": true, "SRVCHG": true, "CHECK": true, "DIRECTDEBIT": true}
	eitherTypes = map[string]bool{"ATM": true, "POS": true, "PAYMENT": true, "CASH": true, "REPEATPMT": true}
)

// readOFX reads both editions: of SGML, with values that may have no closing tag, and
// of XML. A value goes to the next tag in either.
func readOFX(content string) (Statement, error) {
	var statement Statement
	var account string
	var fields map[string]string // of the movement that is being read
	signed, either := false, map[int]bool{}
	for rest := content; ; {
		name, value, more, ok := nextTag(rest)
		rest = more
		switch {
		case !ok, strings.TrimPrefix(name, "/") == "STMTTRN": // some files do not end a movement
			if fields != nil {
				amount, _ := parseAmount(fields["TRNAMT"])
				signed = signed || amount < 0
				either[len(statement.Lines)] = eitherTypes[strings.ToUpper(fields["TRNTYPE"])]
				if err := statement.add(movement(fields, account)); err != nil {
					return statement, err
				}
			}
			fields = nil
			if !ok {
				statement.take(either, signed)
				return statement, nil
			}
			if name == "STMTTRN" {
				fields = map[string]string{}
			}
		case name == "ACCTID":
			account = value
		case fields != nil && fields[name] == "":
			fields[name] = value
		}
	}
}

// take has some lines be money that left the account, unless the file has signs.
func (s *Statement) take(some map[int]bool, signed bool) {
	for n := range s.Lines {
		if some[n] && !signed {
			s.Lines[n].Amount = -s.Lines[n].Amount
		}
	}
}

// nextTag cuts the next tag and the value that follows it.
func nextTag(content string) (name, value, rest string, ok bool) {
	_, content, ok = strings.Cut(content, "<")
	if !ok {
		return "", "", "", false
	}
	name, content, ok = strings.Cut(content, ">")
	if !ok {
		return "", "", "", false
	}
	value = content
	if literal, found := strings.CutPrefix(content, "<![CDATA["); found {
		value, content, _ = strings.Cut(literal, "]]>")
		return tagName(name), strings.TrimSpace(value), content, true
	}
	if end := strings.IndexByte(content, '<'); end >= 0 {
		value, content = content[:end], content[end:]
	} else {
		content = ""
	}
	return tagName(name), strings.TrimSpace(html.UnescapeString(value)), content, true
}

// tagName is a tag's name without attributes, and without the slash of one that has
// no content.
func tagName(tag string) string {
	name, _, _ := strings.Cut(strings.TrimSpace(tag), " ")
	return strings.ToUpper(strings.TrimSuffix(name, "/"))
}

// movement makes a line of the fields of a STMTTRN.
func movement(fields map[string]string, account string) (line Line, ok bool) {
	line = Line{Description: joined(fields["NAME"], fields["MEMO"]), ID: fields["FITID"], Account: account}
	posted := fields["DTPOSTED"]
	on, dated := parseDate(posted[:min(len(posted), len("20060102"))])
	amount, known := parseAmount(fields["TRNAMT"])
	if debitTypes[strings.ToUpper(fields["TRNTYPE"])] && amount > 0 {
		amount = -amount
	}
	line.On, line.Amount = on, amount
	return line, dated && known
}

// joined has the parts of a description, each once: banks repeat NAME in MEMO.
func joined(parts ...string) string {
	var kept []string
	for _, part := range parts {
		part = oneLine(part)
		if part == "" || strings.Contains(strings.Join(kept, " - "), part) {
			continue
		}
		kept = append(kept, part)
	}
	return strings.Join(kept, " - ")
}
