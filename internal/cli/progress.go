package cli

import (
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"time"

	"carteira/internal/customer/intake"
	"carteira/internal/customer/sheet"
)

// progress shows how far an import is: on a terminal as one line that is
// written over, elsewhere as a line every few seconds.
type progress struct {
	out      io.Writer
	file     *sheetFile
	now      func() time.Time
	before   int // passes over the file that write nothing
	terminal bool
	drawn    bool
	passes   int
	count    int
	began    time.Time
	last     time.Time
}

func newProgress(out io.Writer, file *sheetFile, now func() time.Time, options intake.ImportOptions) *progress {
	before := 0
	if options.DryRun || !options.KeepGoing || options.SkipDuplicates {
		before++
	}
	if options.CreateMissing { // the plans' prices
		before++
	}
	return &progress{out: out, file: file, now: now, before: before, terminal: isTerminal(out)}
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// rows walks the file from its beginning.
func (p *progress) rows() iter.Seq2[sheet.Row, error] {
	return func(yield func(sheet.Row, error) bool) {
		p.passes++
		p.count, p.began, p.last = 0, p.now(), p.now()
		reader, err := p.file.open()
		if err != nil {
			yield(sheet.Row{}, err)
			return
		}
		for row, err := range reader.All() {
			p.count++
			p.tick()
			if !yield(row, err) {
				return
			}
		}
	}
}

func (p *progress) tick() {
	pause := 5 * time.Second
	if p.terminal {
		pause = 100 * time.Millisecond
	}
	now := p.now()
	if now.Sub(p.last) < pause {
		return
	}
	p.last = now
	p.draw(now)
}

func (p *progress) draw(now time.Time) {
	doing := "importing"
	if p.passes <= p.before {
		doing = "checking"
	}
	percent := 100 * p.file.read / max(p.file.size, 1)
	rate := float64(p.count) / max(now.Sub(p.began).Seconds(), 0.001)
	text := fmt.Sprintf("%3d%%  %d lines, %.0f a second", percent, p.count, rate)
	if !p.terminal {
		fmt.Fprintf(p.out, "%s: %s\n", doing, text)
		return
	}
	const width = 30
	done := int(min(percent, 100)) * width / 100
	p.clear()
	fmt.Fprintf(p.out, "%-9s [%s%s] %s", doing, strings.Repeat("#", done), strings.Repeat("-", width-done), text)
	p.drawn = true
}

// clear takes the line away before something else is written.
func (p *progress) clear() {
	if p.drawn {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.drawn = false
	}
}
