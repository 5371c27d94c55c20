package sqldb

import "strings"

// Substring is the LIKE pattern, with ESCAPE '!', for text that contains term.
func Substring(term string) string {
	return "%" + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(term) + "%"
}

// Contains is the condition, with one placeholder, that a column's text contains
// a term.
func Contains(engine Engine, column string) string {
	if engine == Postgres {
		return "strpos(" + column + ", ?) > 0"
	}
	return "instr(" + column + ", ?) > 0"
}
