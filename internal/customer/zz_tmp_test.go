package customer

import (
	"fmt"
	"testing"
	"unicode"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
)

func TestTmpFolding(t *testing.T) {
	w := newWorld(t, sqldb.SQLite)
	var list []Customer
	var runes []rune
	for r := rune(0x80); r < 0x1ffff; r++ {
		if !(unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) || unicode.SimpleFold(r) != r) {
			continue
		}
		if text.Fold(string(r)) == "" { continue }
		runes = append(runes, r)
		list = append(list, Customer{Name: "xx" + string(r) + "yy"})
	}
	for from := 0; from < len(list); from += 1000 {
		w.populate(t, w.actor, list[from:min(from+1000, len(list))])
	}
	m := w.model(t, w.actor)
	fmt.Println(len(list))
	bad := 0
	for _, r := range runes {
		f := Filter{Search: "xx" + string(r) + "yy"}
		want := m.match(f, day("2026-01-31"))
		got, total, err := w.List(t.Context(), w.actor, f, firstPage)
		if err != nil || int(total) != len(want) {
			bad++
			if bad < 30 {
				var names []string
				for _, c := range got { names = append(names, c.Name) }
				t.Errorf("%q %U: %d, want %d %v: %q", r, r, total, len(want), err, names)
			}
		}
	}
	fmt.Println("bad", bad)
}
