package customer

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"carteira/internal/platform/address"
	"carteira/internal/platform/input"
	"carteira/internal/platform/taxid"
)

// Limits of a company's own fields.
const (
	maxCustom     = 20
	maxCustomName = 60
	maxCustomText = 500
)

func readTaxID(in *input.Form, name string) input.Opt[string] {
	line := in.Line(name, 40)
	if !line.HasValue() {
		return line
	}
	number, err := taxid.Parse(line.Value)
	if err != nil {
		in.Refuse(name, err.Error())
		return input.Opt[string]{}
	}
	return input.Some(number)
}

// readAddress reads the seven parts as one field: a part that is left out is
// empty.
func readAddress(in *input.Form, name string) input.Opt[address.Address] {
	texts := in.Texts(name)
	if !texts.HasValue() {
		if texts.IsNull() {
			return input.Null[address.Address]()
		}
		return input.Opt[address.Address]{}
	}
	var a address.Address
	refused := false
	for part, text := range texts.Value {
		if place := a.Part(part); place != nil {
			*place = text
			continue
		}
		in.Refuse(name+"."+part, "unknown field")
		refused = true
	}
	a, faults := a.Check()
	for part, reasons := range faults.All() {
		in.Refuse(name+"."+part, reasons[0])
	}
	if refused || !faults.Empty() {
		return input.Opt[address.Address]{}
	}
	return input.Some(a)
}

func readCustom(in *input.Form, name string) input.Opt[Custom] {
	texts := in.Texts(name)
	if !texts.HasValue() {
		if texts.IsNull() {
			return input.Null[Custom]()
		}
		return input.Opt[Custom]{}
	}
	kept := map[string]string{}
	for field, text := range texts.Value {
		if reason := refuseCustom(field, text); reason != "" {
			in.Refuse(name, reason)
			return input.Opt[Custom]{}
		}
		if text != "" {
			kept[field] = text
		}
	}
	if len(kept) > maxCustom {
		in.Refuse(name, fmt.Sprintf("must have at most %d fields", maxCustom))
		return input.Opt[Custom]{}
	}
	return input.Some(NewCustom(kept))
}

// refuseCustom says what is wrong with a field of the company's own.
func refuseCustom(name, text string) string {
	switch {
	case !isPlain(name, maxCustomName) || name == "":
		return fmt.Sprintf("names must have 1 to %d characters, on one line", maxCustomName)
	case !isPlain(text, maxCustomText):
		return fmt.Sprintf("texts must have at most %d characters, on one line", maxCustomText)
	}
	return ""
}

func isPlain(text string, limit int) bool {
	if !utf8.ValidString(text) || utf8.RuneCountInString(text) > limit {
		return false
	}
	for _, r := range text {
		if unicode.IsControl(r) {
			return false
		}
	}
	return true
}
