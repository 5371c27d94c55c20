package statement

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/taxid"
	"carteira/internal/platform/text"
)

// parseDate reads the dates that banks write: 20260305, 2026-03-05, 05/03/2026,
// 05-03-2026, 05.03.2026 and 05/03/26, each of them perhaps with a time behind it.
func parseDate(value string) (civil.Date, bool) {
	value = strings.TrimSpace(value)
	if day, _, found := strings.Cut(value, " "); found {
		value = day
	}
	if day, _, found := strings.Cut(value, "T"); found {
		value = day
	}
	value = strings.NewReplacer(".", "/", "-", "/").Replace(value)
	parts := strings.Split(value, "/")
	if len(parts) == 1 && len(value) == 8 {
		parts = []string{value[:4], value[4:6], value[6:]}
	}
	if len(parts) != 3 {
		return civil.Date{}, false
	}
	on, err := civil.FromParts(parts[0], parts[1], parts[2])
	return on, err == nil
}

// parseAmount reads the amounts that banks write: 35.00, -35,00, 1.234,56,
// 1,234.56, R$ 35,00, "35,00 D", 35,00- and (35,00).
func parseAmount(value string) (money.Cents, bool) {
	value, negative := unsigned(value)
	whole, cents, ok := splitCents(value)
	if !ok {
		return 0, false
	}
	amount, err := money.Parse(whole + "." + cents)
	if err != nil {
		return 0, false
	}
	if negative {
		amount = -amount
	}
	return amount, true
}

// unsigned takes the currency and everything that makes an amount negative away.
func unsigned(value string) (plain string, negative bool) {
	value = strings.ToUpper(strings.Join(strings.Fields(strings.ReplaceAll(value, "\u00a0", " ")), ""))
	for _, mark := range []string{"-", "−", "D", "("} {
		if strings.HasPrefix(value, mark) || strings.HasSuffix(value, mark) {
			negative = true
		}
	}
	value = strings.Trim(value, "+-−()CD")
	value = strings.TrimPrefix(strings.TrimPrefix(value, "R$"), "BRL")
	if inner, found := strings.CutPrefix(value, "-"); found { // R$ -35,00
		value, negative = inner, true
	}
	return value, negative
}

// splitCents cuts the cents off, which are one or two digits behind the last comma
// or point. One that three digits follow may be either, and is refused.
func splitCents(value string) (whole, cents string, ok bool) {
	at := strings.LastIndexAny(value, ".,")
	if at < 0 {
		return value, "00", digits(value)
	}
	whole, cents = value[:at], value[at+1:]
	if len(cents) == 1 {
		cents += "0"
	}
	if len(cents) != 2 || !digits(cents) {
		return "", "", false
	}
	groups := strings.FieldsFunc(whole, func(r rune) bool { return r == '.' || r == ',' })
	for n, group := range groups {
		if !digits(group) || n > 0 && len(group) != 3 {
			return "", "", false
		}
	}
	whole = strings.TrimLeft(strings.Join(groups, ""), "0")
	if whole == "" {
		whole = "0"
	}
	return whole, cents, true
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

var (
	// endToEnd is how the Central Bank numbers a PIX: E, the payer's bank, the
	// minute, and eleven characters.
	endToEnd = regexp.MustCompile(`(?i)\bE[0-9]{8}20[0-9]{10}[a-z0-9]{11}\b`)
	// token may be the txid of a code: a static one has up to 25 characters, the
	// others 26 to 35.
	token = regexp.MustCompile(`\b[A-Za-z0-9]{20,35}\b`)
	taxNo = regexp.MustCompile(`\b(?:[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}` +
		`|[0-9A-Z]{2}\.[0-9A-Z]{3}\.[0-9A-Z]{3}/[0-9A-Z]{4}-[0-9]{2}|[0-9]{14}|[0-9]{11})\b`)
	between = regexp.MustCompile(`[-–—:;|/()*•·,]+`)
)

// EndToEnd is the id that all banks know the PIX by; empty: the line has none.
func (l Line) EndToEnd() string {
	for _, where := range []string{l.ID, l.Description} {
		if found := endToEnd.FindString(where); found != "" {
			return "E" + found[1:]
		}
	}
	return ""
}

// Tokens are what in the line may be the txid of a code, in small letters.
func (l Line) Tokens() (found []string) {
	for _, where := range []string{l.ID, l.Description} {
		for _, one := range token.FindAllString(where, -1) {
			if one = strings.ToLower(one); !slices.Contains(found, one) {
				found = append(found, one)
			}
		}
	}
	return found
}

// TaxIDs are the CPFs and CNPJs in the line that have the right check digits.
func (l Line) TaxIDs() (found []string) {
	for _, one := range taxNo.FindAllString(l.Description+" "+l.ID, -1) {
		number, err := taxid.Parse(one)
		if err != nil && len(one) == 14 && strings.HasPrefix(one, "000") { // a CPF with the length of a CNPJ
			number, err = taxid.Parse(one[3:])
		}
		if err == nil && !slices.Contains(found, number) {
			found = append(found, number)
		}
	}
	return found
}

// noise are the words that banks write around a name.
var noise = func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(`pix recebido recebida receb rec transf transferencia transferido transferida
		pelo pela via por enviado enviada de do da credito cred creditado em conta ted doc tef deposito dep pagamento pagto
		pgto boleto cobranca liquidacao rem remetente pagador favorecido origem nome qr code qrcode qrs qrd dinamico estatico
		interna interno externa mesma titularidade outra if instituicao cp cpf cnpj id chave recebimento
		transfer received from payment to deposit incoming wire`) {
		words[word] = true
	}
	return words
}()

// Names are what in the line may be the whole name of a payer, folded: the parts
// that punctuation, numbers and the words of banks leave.
func (l Line) Names() (found []string) {
	for _, part := range between.Split(l.Description, -1) {
		for _, run := range withoutNumbers(text.Fold(part)) {
			if name := trimNoise(strings.Fields(run)); name != "" && !slices.Contains(found, name) {
				found = append(found, name)
			}
		}
	}
	return found
}

// withoutNumbers are the runs of words between words with digits. The letters before
// the first digit stay: banks glue a date to a name.
func withoutNumbers(folded string) (runs []string) {
	run := ""
	for word := range strings.FieldsSeq(folded) {
		digit := strings.IndexAny(word, "0123456789")
		if digit < 0 {
			run += " " + word
			continue
		}
		runs = append(runs, run+" "+word[:digit])
		run = ""
	}
	return append(runs, run)
}

// Name is a name as Names has it, so that the two can be compared.
func Name(name string) string { return trimNoise(strings.Fields(text.Fold(name))) }

// trimNoise takes the words of banks off both ends. A name has two words at least:
// one alone fits too many people.
func trimNoise(words []string) string {
	for len(words) > 0 && noise[words[0]] {
		words = words[1:]
	}
	for len(words) > 0 && noise[words[len(words)-1]] {
		words = words[:len(words)-1]
	}
	if len(words) < 2 {
		return ""
	}
	return strings.Join(words, " ")
}

// Means is by what the money came, as far as the line says it: pix, boleto, card or
// transfer.
func (l Line) Means() string {
	words := strings.FieldsFunc(text.Fold(l.Description), func(r rune) bool { return !unicode.IsLetter(r) })
	for _, known := range []struct {
		means string
		words []string
	}{
		{"pix", []string{"pix"}},
		{"boleto", []string{"boleto", "boletos", "cobranca", "liquidacao"}},
		{"card", []string{"cartao", "visa", "mastercard", "elo"}},
	} {
		for _, word := range known.words {
			if slices.Contains(words, word) {
				return known.means
			}
		}
	}
	if l.EndToEnd() != "" {
		return "pix"
	}
	return "transfer"
}
