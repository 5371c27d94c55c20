package sender

import "strings"

// few writes the first {in ?} of a text out for each list that has a few values,
// in their order, and returns the arguments of all. PostgreSQL expects ten in a
// list that is one argument. It thinks a plan for a shorter one better, and so
// plans anew at every use, which takes it longer than to find the rows.
func few[T int64 | string](text string, lists ...[]T) (string, []any) {
	var written strings.Builder
	var args []any
	for _, list := range lists {
		before, after, _ := strings.Cut(text, "{in ?}")
		in := "{in ?}"
		if n := len(list); n == 0 || n > maxWritten {
			args = append(args, list)
		} else {
			in = "IN (?" + strings.Repeat(",?", n-1) + ")"
			for _, value := range list {
				args = append(args, value)
			}
		}
		written.WriteString(before + in)
		text = after
	}
	return written.String() + text, args
}

// maxWritten is how many values of a list few writes out.
const maxWritten = 6
