package sheet

import (
	"bytes"
	"encoding/csv"
	"errors"
	"slices"
	"strings"

	"carteira/internal/platform/money"
	"carteira/internal/platform/phone"
	"carteira/internal/platform/text"
)

// maxPreface is how many records may stand before the one that names the columns: a title, the company's name, a date,
// the sep=; by which Excel knows the delimiter.
const maxPreface = 10

// layout is how a file is laid out.
type layout struct {
	comma  rune
	header int // which record names the columns
}

// layoutOf finds the delimiter and the header that make the most of a file's beginning: the most headings that are
// understood, or else the most columns of the first record. A record with one known heading may be a title ("Cliente:
// Padaria Sol"), so that the header is looked for beyond the first only with two.
func layoutOf(start []byte) layout {
	best, most := layout{comma: ','}, 0
	for _, comma := range []rune{',', ';', '\t'} {
		header, score := headerOf(start[:min(len(start), maxBeginning)], comma)
		if score > most {
			best, most = layout{comma, header}, score
		}
	}
	return best
}

// maxBeginning is how much of a file is looked at for its header.
const maxBeginning = 32 << 10

// headerOf finds the record that is most of a header with a delimiter, and how much of one it is. What is wrong with
// the records is found on the real reading.
func headerOf(start []byte, comma rune) (header, most int) {
	reader := csv.NewReader(bytes.NewReader(start))
	reader.Comma, reader.LazyQuotes, reader.FieldsPerRecord, reader.ReuseRecord = comma, true, -1, true
	for i := range 1 + maxPreface {
		record, err := reader.Read()
		if err != nil {
			break
		}
		known := knownHeadings(record)
		score := known * maxRecord
		if i == 0 {
			score += len(record)
		}
		if score > most && (i == 0 || known >= 2) {
			header, most = i, score
		}
	}
	return header, most
}

func knownHeadings(record []string) int {
	known := 0
	for _, heading := range record {
		if _, ok := fieldOf(heading); ok {
			known++
		}
	}
	return known
}

// totals are the words with which the sums under a table begin, as text.Fold leaves them.
var totals = map[string]bool{
	"total": true, "totais": true, "total geral": true, "subtotal": true, "sub-total": true,
	"sub total": true, "soma": true,
	"total de clientes": true, "total de registros": true, "total de linhas": true,
	"quantidade": true, "quantidade total": true,
	"valor total": true, "qtd": true, "qtde": true,
}

// isTotal finds a line that sums up others: its first cell is one of those words, perhaps with a number behind it, and
// the others are numbers. A gym called Total Fitness stays a customer, and so does one called Total that has a phone.
func isTotal(fields []string) bool {
	first := slices.IndexFunc(fields, func(cell string) bool {
		return strings.TrimSpace(cell) != ""
	})
	return first >= 0 && isTotalWord(fields[first]) && !slices.ContainsFunc(fields[first+1:], func(cell string) bool {
		cell = strings.TrimSpace(cell)
		return cell != "" && !isNumber(cell)
	})
}

func isTotalWord(cell string) bool {
	word, number, _ := strings.Cut(text.Fold(cell), ":")
	word = strings.TrimRight(word, " 0123456789.,")
	word = strings.TrimSpace(strings.TrimSuffix(word, "r$"))
	return totals[word] && (strings.TrimSpace(number) == "" || isNumber(number))
}

func isNumber(cell string) bool {
	if _, err := phone.Parse(cell); err == nil {
		return false
	}
	_, err := money.ParseBR(cell)
	return err == nil || errors.Is(err, money.ErrTooLarge)
}
