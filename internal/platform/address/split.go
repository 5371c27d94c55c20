package address

import (
	"regexp"
	"strings"

	"carteira/internal/platform/text"
)

var (
	cepInside  = regexp.MustCompile(`(?i)[-–,;. (]*(?:\bcep\b[:. nº]*)?\b(\d{2}\.?\d{3}-\d{3}|(?:cep[:. nº]*)\d{8})\b\)?`)
	numberPart = regexp.MustCompile(`(?i)^(?:n(?:[º°o.]|ro|um|úmero)*[.: ]*)?(\d{1,5}(?:[- ]?[a-z]\b)?|s/?n[º°]?|km ?\d+)(?:[ ]+(.+))?$`)
	extraPart  = regexp.MustCompile(`(?i)^(?:apt?o?|apartamento|bl|bloco|casa|fundos?|sala|loja|lote|lt|quadra|qd|torre|cond|condomínio)\b`)
	separators = regexp.MustCompile(`\s*(?:[,;–]|\s-|-\s)\s*`)
)

// Split takes apart an address that was written in one line, such as Rua das Flores, 12-A, ap 4 – Centro – São Paulo/SP
// – 01310-100. What cannot be made out is left in the street, so that nothing is lost.
func Split(line string) Address {
	var found Address
	rest := strings.Join(strings.Fields(line), " ")
	if at := cepInside.FindStringSubmatchIndex(rest); at != nil {
		if cep, err := ParseCEP(text.Digits(rest[at[2]:at[3]])); err == nil {
			found.CEP, rest = cep, rest[:at[0]]+" - "+rest[at[1]:]
		}
	}
	pieces := separators.Split(strings.Trim(rest, " -–,;."), -1)
	pieces = found.takeNumber(pieces)
	if found.Number == "" {
		return Address{Street: strings.TrimSpace(line)}
	}
	pieces = found.takeCity(pieces)
	for len(pieces) > 0 && (extraPart.MatchString(pieces[0]) || len(pieces) > 1) {
		found.Complement = join(", ", found.Complement, pieces[0])
		pieces = pieces[1:]
	}
	found.District = strings.Join(pieces, "")
	if _, faults := found.Check(); !faults.Empty() {
		return Address{Street: strings.TrimSpace(line)}
	}
	return found
}

// takeNumber takes the street and the number of the house from the pieces of an address, and returns the others.
func (a *Address) takeNumber(pieces []string) []string {
	for n, piece := range pieces {
		number := numberPart.FindStringSubmatch(piece)
		if n == 0 || number == nil {
			continue
		}
		a.Street, a.Number, a.Complement = strings.Join(pieces[:n], ", "), number[1], number[2]
		var left []string
		for _, piece := range pieces[n+1:] {
			if piece != "" {
				left = append(left, piece)
			}
		}
		return left
	}
	return pieces
}

// takeCity takes the city and the state from the end of the pieces: Varginha/MG, or Varginha and MG.
func (a *Address) takeCity(pieces []string) []string {
	last := len(pieces) - 1
	if last < 0 {
		return pieces
	}
	if city, state, cut := strings.Cut(pieces[last], "/"); cut {
		if code, err := ParseState(state); err == nil {
			a.City, a.State = strings.TrimSpace(city), code
			return pieces[:last]
		}
	}
	if code, err := ParseState(pieces[last]); err == nil && len(pieces[last]) == len("MG") && last > 0 {
		a.City, a.State = pieces[last-1], code
		return pieces[:last-1]
	}
	return pieces
}
