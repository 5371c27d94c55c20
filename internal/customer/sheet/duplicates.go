package sheet

import (
	"hash/maphash"

	"carteira/internal/platform/text"
)

// maxRemembered bounds what Duplicates remembers: 100,000 rows have at most 300,000 keys, which take about 12 MB.
const maxRemembered = 300_000

// Duplicates finds rows of a file that seem to be one customer. It holds a number per value, not the values, so that a
// file of a hundred thousand rows fits into a few megabytes. The zero value is ready.
type Duplicates struct {
	seed  maphash.Seed
	lines map[uint64]int
	// Full tells that there were more rows than are remembered: later ones are compared with those, not with each other.
	Full bool
}

// Duplicate is an earlier row that has the same.
type Duplicate struct {
	Line   int    // of the earlier row
	Field  string // whatsapp, cpf_cnpj or name
	Reason string
}

// marks are what makes two rows one customer: the same phone, the same CPF or CNPJ, or the same name and due date.
var marks = []struct {
	field, reason string
	of            func(values map[string]string) string
}{
	{"whatsapp", "is the phone of an earlier line too", func(values map[string]string) string { return values["whatsapp"] }},
	{"cpf_cnpj", "is the CPF or CNPJ of an earlier line too", func(values map[string]string) string { return values["cpf_cnpj"] }},
	{"name", "is in an earlier line too, with the same due date", func(values map[string]string) string {
		name, due := text.Fold(values["name"]), values["data_de_vencimento"]
		if name == "" || due == "" {
			return ""
		}
		return due + " " + name
	}},
}

// Of returns what earlier rows have in common with a row, and remembers it. A value that could not be read is compared
// with nothing.
func (d *Duplicates) Of(row Row) []Duplicate {
	if d.lines == nil {
		d.seed, d.lines = maphash.MakeSeed(), map[uint64]int{}
	}
	var found []Duplicate
	for _, mark := range marks {
		value := mark.of(row.Values)
		if value == "" || row.Faults.Get(mark.field) != nil {
			continue
		}
		if line, met := d.first(mark.field+"\x00"+value, row.Line); met {
			found = append(found, Duplicate{line, mark.field, mark.reason})
		}
	}
	return found
}

func (d *Duplicates) first(key string, line int) (first int, met bool) {
	hash := maphash.String(d.seed, key)
	if first, met = d.lines[hash]; met {
		return first, true
	}
	if len(d.lines) < maxRemembered {
		d.lines[hash] = line
	} else {
		d.Full = true
	}
	return 0, false
}
