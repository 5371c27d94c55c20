//go:build linux

package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

// progress tells on standard error how far something long has come.
type progress struct {
	what     string
	began    time.Time
	shown    int // percent
	terminal bool
}

func newProgress(what string) *progress {
	info, err := os.Stderr.Stat()
	return &progress{what: what, began: time.Now(), terminal: err == nil && info.Mode()&os.ModeCharDevice != 0}
}

// show overwrites its line on a terminal; into a file it writes one for every
// quarter.
func (p *progress) show(done, all int) {
	percent := done * 100 / all
	took := time.Since(p.began).Round(time.Second)
	switch {
	case p.terminal:
		end := ""
		if done == all {
			end = "\n"
		}
		fmt.Fprintf(os.Stderr, "\r%s: %3d%%, %s%s", p.what, percent, took, end)
	case percent/25 > p.shown/25:
		fmt.Fprintf(os.Stderr, "%s: %d%%, %s\n", p.what, percent, took)
	}
	p.shown = percent
}

// grouped prints 1000000 as 1,000,000.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
