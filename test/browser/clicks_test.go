package browser

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/chromedp"
)

// counts are how many clicks and keys each journey took, for the table that a run
// leaves with its pictures.
var counts struct {
	sync.Mutex
	list []journey
}

type journey struct {
	name         string
	clicks, most int
	keys         int
}

// click clicks what a selector finds, once it can be seen.
func (b *tab) click(sel string) {
	b.t.Helper()
	b.clicks++
	css := chromedp.CSS(sel)
	b.settle()
	b.find(chromedp.WaitVisible(css))
	b.hit(chromedp.Click(css, chromedp.NodeVisible))
}

// menu opens a page from the menu, as a person does.
func (b *tab) menu(path string) {
	b.t.Helper()
	b.click(fmt.Sprintf(`.wide nav a[href=%q]`, path))
	b.do(chromedp.WaitReady(chromedp.CSS(fmt.Sprintf(`.wide nav a[href=%q][aria-current]`, path))))
	b.stood = ""
}

// begin counts clicks and keys from here on.
func (b *tab) begin() { b.clicks, b.keys = 0, 0 }

// within fails when a journey took more clicks than it may, and keeps how many it
// took.
func (b *tab) within(name string, most int) {
	b.t.Helper()
	if b.again != "" {
		name += " (" + b.again + ")"
	}
	counts.Lock()
	counts.list = append(counts.list, journey{name, b.clicks, most, b.keys})
	counts.Unlock()
	if b.clicks > most {
		b.t.Errorf("%s takes %d clicks, not %d", name, b.clicks, most)
	}
	b.t.Logf("%s: %d clicks, %d keys", name, b.clicks, b.keys)
	b.begin()
}

// leaveCounts writes the table of clicks.
func leaveCounts() error {
	counts.Lock()
	defer counts.Unlock()
	if len(counts.list) == 0 {
		return nil
	}
	slices.SortFunc(counts.list, func(a, b journey) int { return cmp.Compare(a.name, b.name) })
	var table strings.Builder
	table.WriteString("clicks  goal  keys  journey\n")
	for _, done := range counts.list {
		fmt.Fprintf(&table, "%6d  %4d  %4d  %s\n", done.clicks, done.most, done.keys, done.name)
	}
	if err := os.MkdirAll(screens, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(filepath.Dir(screens), "clicks.txt"), []byte(table.String()), 0o644)
}
