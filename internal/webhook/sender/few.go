package sender

import (
	"strings"
	"sync"
)

// few writes the first {in ?} of a text out for each list that has a few values,
// in their order, and returns the arguments of all. PostgreSQL expects ten in a
// list that is one argument. It thinks a plan for a shorter one better, and so
// plans anew at every use, which takes it longer than to find the rows.
func few[T int64 | string](text string, lists ...[]T) (string, []any) {
	var args []any
	key := fewKey{text: text}
	for i, list := range lists {
		if len(list) == 0 || len(list) > maxWritten {
			args = append(args, list)
			continue
		}
		key.sizes[i] = len(list)
		for _, value := range list {
			args = append(args, value)
		}
	}
	if known, ok := fewTexts.Load(key); ok {
		return known.(string), args // only strings are stored
	}
	written := key.write()
	fewTexts.Store(key, written)
	return written, args
}

// maxFew is how many lists few takes, and maxWritten how many values of each.
const (
	maxFew     = 2
	maxWritten = 6
)

// fewKey is a text, and how many values its lists have; 0: the list is one
// argument.
type fewKey struct {
	text  string
	sizes [maxFew]int
}

func (k fewKey) write() string {
	parts := strings.SplitN(k.text, "{in ?}", maxFew+1)
	var text strings.Builder
	text.WriteString(parts[0])
	for i, part := range parts[1:] {
		in := "{in ?}"
		if k.sizes[i] > 0 {
			in = "IN (" + strings.Repeat("?,", k.sizes[i]-1) + "?)"
		}
		text.WriteString(in + part)
	}
	return text.String()
}

// fewTexts are the texts that few has made.
var fewTexts sync.Map
