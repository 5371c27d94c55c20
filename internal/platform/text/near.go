package text

// Near finds the known word that word was probably meant to be: at most two slips away (a letter more, less, other, or two
// swapped) and fewer than half its letters wrong. It returns "" when none is.
func Near(word string, known []string) string {
	typed := []rune(Fold(word))
	best, nearest := "", min(2, (len(typed)-1)/2)+1
	for _, candidate := range known {
		meant := []rune(Fold(candidate))
		if max(len(typed)-len(meant), len(meant)-len(typed)) >= nearest {
			continue // no closer than what is known, and never worth a table the size of a hostile word
		}
		if slips := distance(typed, meant); slips < nearest {
			best, nearest = candidate, slips
		}
	}
	return best
}

// distance is the Damerau–Levenshtein distance in its restricted form: no letter is edited twice.
func distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range b {
			replace := last[j]
			if a[i] != b[j] {
				replace++
			}
			row[j+1] = min(replace, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
