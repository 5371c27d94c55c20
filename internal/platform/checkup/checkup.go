// Package checkup is the form in which the program says what it found out about
// itself. It owns no check: rooms check their own tables, and doctor what is
// around them.
package checkup

import (
	"context"
	"fmt"
)

// Verdict is how a finding is to be taken.
type Verdict string

// The verdicts, from harmless to worst.
const (
	OK      Verdict = "ok"
	Warning Verdict = "warning" // it works, and an operator should know
	Wrong   Verdict = "wrong"
)

// Finding is what one check found, in words for an operator.
type Finding struct {
	Check   string  `json:"check"`
	Verdict Verdict `json:"verdict"`
	Text    string  `json:"text"`
	Advice  string  `json:"advice,omitempty"` // what to do
}

// Check is something that can be wrong. Run looks and changes nothing.
type Check struct {
	Name string
	Run  func(ctx context.Context) (Finding, error)
}

// Do runs a check. One that cannot be made is a finding too.
func (c Check) Do(ctx context.Context) Finding {
	finding, err := c.Run(ctx)
	if err != nil {
		finding = Finding{Verdict: Wrong, Text: fmt.Sprintf("could not be checked: %v", err)}
	}
	finding.Check = c.Name
	return finding
}

// Good is a finding of nothing wrong.
func Good(format string, args ...any) Finding {
	return Finding{Verdict: OK, Text: fmt.Sprintf(format, args...)}
}

// Warn is a finding that an operator should know.
func Warn(advice, format string, args ...any) Finding {
	return Finding{Verdict: Warning, Text: fmt.Sprintf(format, args...), Advice: advice}
}

// Bad is a finding of something wrong.
func Bad(advice, format string, args ...any) Finding {
	return Finding{Verdict: Wrong, Text: fmt.Sprintf(format, args...), Advice: advice}
}
