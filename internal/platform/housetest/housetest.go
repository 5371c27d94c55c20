// Package housetest is what tests of every package need: Must, the morning on
// which most of them begin, forms from pairs and a log that can be read. It
// knows no room; a company with customers is worldtest's.
package housetest

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/platform/input"
)

// Morning is nine o'clock on 31 January 2026 in São Paulo: the last day of a
// long month, so that renewals meet a shorter one.
var Morning = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// Must ends the test on an error.
func Must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// Form is a form of names and values, one after the other.
func Form(namesAndValues ...string) *input.Form {
	values := map[string]string{}
	for pair := range slices.Chunk(namesAndValues, 2) {
		values[pair[0]] = pair[1]
	}
	return input.FromStrings(values)
}

// Log is a writer that can be read while others write to it.
type Log struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (l *Log) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(data)
}

// String is all that was written so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
