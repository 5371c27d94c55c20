package pix

import "carteira/internal/platform/taxid"

// ValidCPF reports whether s is eleven digits of which the last two fit.
func ValidCPF(s string) bool { return canonical(s) && !taxid.IsCNPJ(s) }

// ValidCNPJ reports whether s is twelve digits or capital letters and two
// digits that fit.
func ValidCNPJ(s string) bool { return canonical(s) && taxid.IsCNPJ(s) }

// canonical reports whether s is a number without punctuation or small letters.
func canonical(s string) bool {
	number, err := taxid.Parse(s)
	return err == nil && number == s
}
