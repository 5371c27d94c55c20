package page

import (
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"

	"carteira/internal/platform/civil"
)

// The one message catalog: messages/*.txt, a line for each text, English and
// Portuguese with a bar between them. The English text is the key, and may
// have verbs of fmt (%d, %s, %q): a reason that was made with them is found by
// its shape, and what stood in their places goes into the Portuguese in the
// same order. A text that counts has two more parts, the English and the
// Portuguese of one.

//go:embed messages/*.txt
var messageFiles embed.FS

type catalog struct {
	exact  map[string]string
	ones   map[string]singular // by the English of many
	shapes []shape
}

// singular is what a text that counts says of one.
type singular struct{ english, portuguese string }

func (s singular) in(lang Lang) string {
	if lang == Portuguese {
		return s.portuguese
	}
	return s.english
}

type shape struct {
	english    *regexp.Regexp
	portuguese string
	words      int // letters that are not filled in
}

var messages = sync.OnceValue(func() catalog {
	c := catalog{exact: map[string]string{}, ones: map[string]singular{}}
	names, err := fs.Glob(messageFiles, "messages/*.txt")
	if err != nil {
		panic(err) // the pattern is constant
	}
	for _, name := range names {
		for line := range strings.Lines(mustRead(messageFiles, name)) {
			parts := strings.Split(strings.TrimSpace(line), " | ")
			if len(parts) < 2 || strings.HasPrefix(parts[0], "#") {
				continue
			}
			c.add(strings.TrimSpace(parts[0]), strings.TrimSpace(parts[1]))
			if len(parts) == 4 {
				c.ones[strings.TrimSpace(parts[0])] = singular{strings.TrimSpace(parts[2]), strings.TrimSpace(parts[3])}
			}
		}
	}
	// Of two shapes that a reason has, the one that says more is meant.
	slices.SortStableFunc(c.shapes, func(a, b shape) int { return b.words - a.words })
	return c
})

var verb = regexp.MustCompile(`%(\[\d\])?[sdqv]`)

func (c *catalog) add(english, portuguese string) {
	c.exact[english] = portuguese
	if !verb.MatchString(english) {
		return
	}
	var pattern strings.Builder
	rest := english
	for {
		at := verb.FindStringIndex(rest)
		if at == nil {
			break
		}
		pattern.WriteString(regexp.QuoteMeta(rest[:at[0]]))
		switch rest[at[1]-1] {
		case 'd':
			pattern.WriteString(`(-?\d+)`)
		case 'q':
			pattern.WriteString(`("(?:[^"\\]|\\.)*")`)
		default:
			pattern.WriteString(`(.+?)`)
		}
		rest = rest[at[1]:]
	}
	pattern.WriteString(regexp.QuoteMeta(rest))
	c.shapes = append(c.shapes, shape{
		regexp.MustCompile(`(?s)^` + pattern.String() + `$`),
		verb.ReplaceAllString(portuguese, "%${1}s"), len(verb.ReplaceAllString(english, "")),
	})
}

// Known reports whether the catalog has Portuguese for an English text.
func Known(english string) bool {
	_, ok := messages().exact[english]
	return ok
}

// context separates a text from what it is said of, where Portuguese writes one
// English text in two ways: "Paid // invoice" is "Paga".
const context = " // "

// T translates a text of a page and fills in its verbs.
func (l Lang) T(english string, args ...any) string {
	text, _, _ := strings.Cut(english, context)
	if l == Portuguese {
		if translated, ok := messages().exact[english]; ok {
			text = translated
		}
	}
	if len(args) == 0 {
		return text
	}
	if one, ok := messages().ones[english]; ok && isOne(args[0]) {
		text = one.in(l)
	}
	return fmt.Sprintf(text, args...)
}

// isOne reports whether a count, as a number or as FormatInt writes it, is one.
func isOne(count any) bool { return fmt.Sprint(count) == "1" }

// What a reason may be to be translated: it may quote what a caller has sent, and
// each level of reasons inside it is held against every shape.
const (
	longestReason = 2 << 10
	deepestReason = 3
)

// Reason translates a text that a room made: the reason of a refused field,
// the message of a fault.
func (l Lang) Reason(english string) string { return l.reason(english, deepestReason) }

func (l Lang) reason(english string, levels int) string {
	if l != Portuguese || len(english) > longestReason || levels == 0 {
		return english
	}
	catalog := messages()
	if translated, ok := catalog.exact[english]; ok {
		return translated
	}
	for _, shape := range catalog.shapes {
		found := shape.english.FindStringSubmatch(english)
		if found == nil {
			continue
		}
		args := make([]any, len(found)-1)
		for i, part := range found[1:] {
			args[i] = l.part(part, english, levels)
		}
		return fmt.Sprintf(shape.portuguese, args...)
	}
	return english
}

// part translates a part of a reason: a reason inside another, as after "not sent
// in time:", is one itself.
func (l Lang) part(part, whole string, levels int) string {
	if strings.Contains(part, ": ") && len(part) < len(whole) {
		return l.reason(part, levels-1)
	}
	return l.word(part)
}

var amount = regexp.MustCompile(`^\d+\.\d\d$`)

// word translates a part of a reason where the catalog has it as a whole, and
// writes an amount and a day as they are typed.
func (l Lang) word(part string) string {
	if translated, ok := messages().exact[part]; ok {
		return translated
	}
	if amount.MatchString(part) {
		return strings.Replace(part, ".", ",", 1)
	}
	if day, err := civil.Parse(part); err == nil {
		return FormatDate(day)
	}
	return part
}
