package sheet

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"carteira/internal/platform/address"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/phone"
	"carteira/internal/platform/taxid"
	"carteira/internal/platform/text"
	"carteira/internal/platform/workbook"
)

// spelling is a cell as the API takes it, and what was left out of it.
type spelling struct{ value, warning string }

// spellers turn what people in Brazil write into what the API takes.
var spellers = map[string]func(string) (spelling, error){
	"email":              spellEmail,
	"data_de_vencimento": whole(spellDate),
	"value":              whole(spellAmount),
	"price":              whole(spellAmount),
	"cpf_cnpj":           whole(spellTaxID),
	"address.cep":        whole(spellCEP),
	"address.state":      whole(address.ParseState),
}

func whole(spell func(string) (string, error)) func(string) (spelling, error) {
	return func(s string) (spelling, error) {
		value, err := spell(s)
		return spelling{value: value}, err
	}
}

// errCut is what spreadsheets do to long numbers: 5,51199E+12 has lost its last digits.
var errCut = errors.New("was cut by the spreadsheet; make its column text there, and save the file again")

// tidy takes off what spreadsheets put around a value to keep it from being taken for a number: '0119… and ="0119…".
func tidy(cell string) string {
	cell = strings.TrimSpace(cell)
	if inner, ok := strings.CutPrefix(cell, `="`); ok {
		if inner, ok = strings.CutSuffix(inner, `"`); ok {
			cell = inner
		}
	}
	return strings.TrimSpace(strings.TrimPrefix(cell, "'"))
}

// absent are the words by which people say that there is nothing, compared as text.Fold leaves them. They apply only
// to columns with a fixed spelling: a customer's notes may well be a dash.
var absent = list(`-, --, ---, x, n/a, #n/d, #n/a, null, nulo, nao, nao tem, nao possui, nao informado, nao informou,
	sem, sem email, sem e-mail, sem telefone, sem cpf, indefinido`)

func isAbsent(cell string) bool { return slices.Contains(absent, text.Fold(cell)) }

// Phones is how numbers are completed that lack something. By itself nothing is:
// a number that is guessed wrong is another person's.
type Phones struct {
	Area  string // the area code of numbers that have none; "": they are refused
	Ninth bool   // mobile numbers of eight digits get the ninth
}

// spell reads the first number of a cell, which may have several: (11) 98765-4321 / (11) 3456-7890. The plus
// before its digits says that the country code is there.
func (p Phones) spell(value string) (spelling, error) {
	if isExponent(value) {
		return spelling{}, errCut
	}
	spelled, err := p.complete(withoutDecimals(value))
	if err == nil {
		return spelled, nil
	}
	pieces := several(value)
	for _, piece := range pieces {
		if spelled, err := p.complete(withoutDecimals(piece)); err == nil {
			return spelling{spelled.value, "has several numbers, of which the first was taken"}, nil
		}
	}
	if len(pieces) > 1 {
		_, err = p.complete(pieces[0])
	}
	for _, piece := range pieces {
		if spelled, err := p.complete(letters.ReplaceAllString(piece, "")); err == nil {
			return spelling{spelled.value, "has words with the number, which were left out"}, nil
		}
	}
	return spelling{}, err
}

// letters are what people write with a number that is none of it: 0xx35 98765-4321 (esposa).
var letters = regexp.MustCompile(`[\pL:]`)

// best is the cell to take of those that have a phone: the first mobile number, or else the first that can be read.
func (p Phones) best(cells []string) string {
	if len(cells) < 2 {
		return strings.Join(cells, "")
	}
	best := ""
	for _, cell := range cells {
		spelled, err := p.spell(cell)
		if err == nil && (!strings.HasPrefix(spelled.value, "+55") || len(spelled.value) == len("+5535987654321")) {
			return cell
		}
		if err == nil && best == "" {
			best = cell
		}
	}
	return cmp.Or(best, cells[0])
}

// complete reads one number.
func (p Phones) complete(value string) (spelling, error) {
	digits, err := phone.Parse(value)
	if err == nil {
		return spelling{value: "+" + digits}, nil
	}
	warning := ""
	if errors.Is(err, phone.ErrNoArea) && p.Area != "" {
		warning = "has the area code that you gave"
		value = p.Area + strings.TrimLeft(text.Digits(value), "0")
		digits, err = phone.Parse(value)
	}
	if errors.Is(err, phone.ErrNinth) && p.Ninth {
		warning = "has the ninth digit now"
		digits, err = phone.WithNinth(value)
	}
	if err != nil {
		return spelling{}, err
	}
	return spelling{"+" + digits, warning}, nil
}

// between are what people put between two phones or two e-mail addresses.
var between = strings.NewReplacer(" ou ", ";", " OU ", ";", " e ", ";", " E ", ";", "/", ";", "|", ";", ",", ";", "\n", ";", "\r", ";")

func several(s string) []string {
	var pieces []string
	for piece := range strings.SplitSeq(between.Replace(s), ";") {
		if piece = strings.TrimSpace(piece); piece != "" {
			pieces = append(pieces, piece)
		}
	}
	return pieces
}

// isExponent finds numbers such as 1,19877E+10.
var isExponent = regexp.MustCompile(`(?i)^[\d.,]+e\+\d*$`).MatchString

// withoutDecimals takes off the .0 that programs write behind a number that they took for an amount.
func withoutDecimals(value string) string {
	for _, end := range []string{".00", ",00", ".0", ",0"} {
		if number, ok := strings.CutSuffix(value, end); ok && text.Digits(number) == number {
			return number
		}
	}
	return value
}

// spellEmail takes the first address of a cell. What has no @ is none; the rest is for the form to say.
func spellEmail(value string) (spelling, error) {
	pieces := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(";,/| \t\n\r", r) })
	addresses := 0
	for _, piece := range pieces {
		if strings.Contains(piece, "@") {
			addresses++
		}
	}
	switch {
	case addresses == 0:
		return spelling{}, errors.New("must be a valid e-mail address")
	case addresses == 1 || addresses != len(pieces):
		return spelling{value: strings.TrimPrefix(value, "mailto:")}, nil
	}
	return spelling{pieces[0], "has several addresses, of which the first was taken"}, nil
}

// spellTaxID reads a CPF or a CNPJ. Spreadsheets drop the zeros that it begins with; they are put back where the check
// digits then say that the number is right.
func spellTaxID(value string) (string, error) {
	if isExponent(value) {
		return "", errCut
	}
	value = withoutDecimals(value)
	number, err := taxid.Parse(value)
	if err == nil || text.Digits(value) != value {
		return number, err
	}
	for _, length := range []int{11, 14} {
		missing := length - len(value)
		if missing < 1 || missing > 3 {
			continue
		}
		if full, err := taxid.Parse("000"[:missing] + value); err == nil {
			return full, nil
		}
	}
	return "", err
}

// spellCEP puts back the zero that spreadsheets drop.
func spellCEP(value string) (string, error) {
	value = withoutDecimals(value)
	if len(value) == 7 && text.Digits(value) == value {
		value = "0" + value
	}
	return address.ParseCEP(value)
}

// spellAmount reads R$ 1.234,56, 1234,56 and 1234.56, also with the words of 99,90/mês behind it, R$ -, which is what
// spreadsheets show of zero, and the 1,234.56 of programs in English.
func spellAmount(s string) (string, error) {
	s = strings.TrimSpace(s)
	if number := strings.TrimRightFunc(s, func(r rune) bool { return unicode.IsLetter(r) || r == '/' || r == ' ' }); number != "" {
		s = number
	}
	if strings.EqualFold(strings.ReplaceAll(s, " ", ""), "R$-") {
		s = "0"
	}
	if comma, dot := strings.Index(s, ","), strings.LastIndex(s, "."); comma >= 0 && comma < dot && dot == len(s)-3 {
		s = strings.NewReplacer(",", ".", ".", ",").Replace(s)
	}
	amount, err := money.ParseBR(s)
	if errors.Is(err, money.ErrSyntax) {
		return "", errors.New("must be an amount such as 1.234,56")
	}
	if err != nil {
		return "", err
	}
	return amount.String(), nil
}

// spellDate reads 31/12/2027, 1/2/2027, 31-12-27, 31.12.2027, 31/dez/2027, 31 de dezembro de 2027, 31122027 and
// 2027-12-31. A day of the week before it is dropped. A time of day behind it is what
// databases and spreadsheets write for a bare day, and is dropped.
func spellDate(value string) (string, error) {
	if weekday, rest, cut := strings.Cut(value, ","); cut && !strings.ContainsAny(weekday, "0123456789") {
		value = strings.TrimSpace(rest)
	}
	value = strings.ReplaceAll(value, " de ", "/")
	if i := strings.IndexAny(value, " T"); i >= 0 && strings.Trim(value[i+1:], "0123456789:.Z") == "" {
		value = value[:i]
	}
	day, err := readDate(value)
	if errors.Is(err, civil.ErrSyntax) {
		err = errors.New("must be a date such as 31/12/2027 or 2027-12-31")
	}
	return day.String(), err
}

func readDate(value string) (civil.Date, error) {
	parts := strings.FieldsFunc(value, isDateSeparator)
	serial, err := strconv.ParseFloat(strings.Replace(value, ",", ".", 1), 64)
	switch {
	case len(parts) == 3:
		return civil.FromParts(parts[0], parts[1], parts[2])
	case err == nil && serial > firstSerial && serial < lastSerial:
		return workbook.Day(int(serial)), nil
	case len(value) != len("31122027") || text.Digits(value) != value:
		return civil.Date{}, civil.ErrSyntax
	case strings.HasPrefix(value, "20") && value[4:6] <= "12":
		return civil.FromParts(value[:4], value[4:6], value[6:])
	}
	return civil.FromParts(value[:2], value[2:4], value[4:])
}

// The serials by which spreadsheets store days, from 2000 to 2099: a cell that lost
// its format shows one.
const firstSerial, lastSerial = 36525, 73051

func isDateSeparator(r rune) bool { return r == '/' || r == '-' || r == '.' }

// dayWords are what people write around a day of the month.
var dayWords = list("todo, dia, vence, no, de, cada, do, mes")

// NearDay is the date that a cell means without saying it all, and how it is read. A day of the month (10, todo dia 10,
// 10 de cada mês) is the next such day. A day without its year (10/11, 10/nov) is the nearest one, and none where that of
// another year is less than twice as far: a wrong year is a customer who is not billed for months.
func NearDay(cell string, today civil.Date) (due civil.Date, reading string) {
	around := func(word string) bool { return slices.Contains(dayWords, word) }
	words := slices.DeleteFunc(strings.Fields(text.Fold(cell)), around)
	if len(words) == 2 && text.Digits(words[1]) != "" { // two days, perhaps
		return due, ""
	}
	switch parts := strings.FieldsFunc(strings.Join(words, "/"), isDateSeparator); len(parts) {
	case 1:
		day, err := strconv.Atoi(parts[0])
		if err != nil || day < 1 || day > 31 {
			return due, ""
		}
		for due = today; due.Day() != day; {
			due = due.AddDays(1)
		}
		return due, "is a day of the month: the next one was taken"
	case 2:
		for year := today.Year() - 1; year <= today.Year()+1; year++ {
			due, err := civil.FromParts(parts[0], parts[1], strconv.Itoa(year))
			if err == nil && due.Sub(today) <= clearly && today.Sub(due) <= clearly {
				return due, "has no year: the nearest such day was taken"
			}
		}
	}
	return due, ""
}

// clearly is how many days away the nearest of three years' days may be: a third of a year.
const clearly = 121
