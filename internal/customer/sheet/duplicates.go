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
	// Full reports whether there were more rows than are remembered: later ones are compared with those, not with each
	// other.
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

// Of returns what earlier rows that were remembered have in common with a row. A value that could not be read is
// compared with nothing.
func (d *Duplicates) Of(row Row) []Duplicate {
	var found []Duplicate
	for _, mark := range marks {
		if key := d.key(row, mark.field, mark.of); key != 0 && d.lines[key] != 0 {
			found = append(found, Duplicate{d.lines[key], mark.field, mark.reason})
		}
	}
	return found
}

// Remember has later rows compared with a row.
func (d *Duplicates) Remember(row Row) {
	for _, mark := range marks {
		key := d.key(row, mark.field, mark.of)
		if key == 0 || d.lines[key] != 0 {
			continue
		}
		if len(d.lines) == maxRemembered {
			d.Full = true
			return
		}
		d.lines[key] = row.Line
	}
}

// key is a number for what a row has in a field; 0: nothing to compare.
func (d *Duplicates) key(row Row, field string, of func(map[string]string) string) uint64 {
	if d.lines == nil {
		d.seed, d.lines = maphash.MakeSeed(), map[uint64]int{}
	}
	value := of(row.Values)
	if value == "" || row.Faults.Get(field) != nil {
		return 0
	}
	return max(1, maphash.String(d.seed, field+"\x00"+value))
}
