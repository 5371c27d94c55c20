package architecture

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// clockUse is by which clocks a file goes. All others go by the installation's
// alone, which a sandbox moves.
type clockUse struct {
	both bool // by the installation's too
	why  string
}

// realClock lists the files that go by the real clock, each with the reason.
var realClock = map[string]clockUse{
	"internal/account/session.go":     {why: "sessions, and links by which the first company is made"},
	"internal/account/sql_session.go": {why: "sessions, attempts to sign in, leases of mails"},
	"internal/account/limit.go":       {why: "the rate limit and the limit of attempts to sign in"},
	"internal/account/token.go":       {why: "the rate limit"},
	"internal/account/totp.go":        {why: "codes of an app, which has its own clock"},
	"internal/account/password.go":    {why: "links by which somebody gets in"},
	"internal/account/address.go":     {both: true, why: "links by which somebody gets in"},
	"internal/account/sql_user.go":    {both: true, why: "links by which somebody gets in"},
	"internal/account/mail.go":        {why: "leases of mails, and waiting for a mail server"},

	"internal/customer/intake/staging.go":    {why: "leases of imports"},
	"internal/customer/intake/upload.go":     {why: "files that a person uploads and a process reads"},
	"internal/customer/intake/sql_upload.go": {why: "files that a person uploads and a process reads"},

	"internal/doctor/doctor.go":                 {why: "it compares the clocks of machines"},
	"internal/payment/call.go":                  {both: true, why: "how long a gateway took"},
	"internal/reminder/deliver.go":              {both: true, why: "how long a carrier took"},
	"internal/reseller/signup.go":               {both: true, why: "the limit of signups an hour"},
	"internal/web/api/events.go":                {why: "whether the token of a call that waits has expired"},
	"internal/web/idempotency/idempotency.go":   {why: "leases and lives of keys: a caller repeats a call in real time"},
	"internal/web/panel/kit/permit.go":          {why: "how long ago a password was asked for"},
	"internal/web/panel/company/integration.go": {why: "when a token was used, and whether it has expired"},
	"internal/webhook/check.go":                 {why: "the timestamp header is the real time"},
	"internal/webhook/rotate.go":                {why: "how long the old secret signs, by the clock of the timestamp header"},
	"internal/webhook/sender/executor.go":       {both: true, why: "the timestamp header is the real time"},
	"internal/webhook/sender/sql_lanes.go":      {why: "leases of lanes"},

	"internal/sandbox/driver.go": {both: true, why: "the lease of the driver, and waiting for requests"},
	"internal/sandbox/sql.go":    {both: true, why: "the lease of the driver, and how far one clock is ahead of the other"},
	"internal/cli/demo.go":       {both: true, why: "the demo ends its past at the real present"},
	"internal/cli/demo_life.go":  {both: true, why: "the demo ends its past at the real present"},
}

// clockCalls returns which clocks of a transaction or a database a file
// reads.
func clockCalls(file source) (moved, real []ast.Node) {
	ast.Inspect(file.ast, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok || len(call.Args) > 0 {
			return true
		}
		chosen, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !isDatabase(chosen.X) {
			return true
		}
		switch chosen.Sel.Name {
		case "Now":
			moved = append(moved, call)
		case "Real", "Clock":
			real = append(real, call)
		}
		return true
	})
	return moved, real
}

// isDatabase reports whether an expression is called tx or db.
func isDatabase(of ast.Expr) bool {
	name := ""
	switch of := of.(type) {
	case *ast.Ident:
		name = of.Name
	case *ast.SelectorExpr:
		name = of.Sel.Name
	}
	return slices.Contains([]string{"tx", "db", "DB"}, name)
}

func checkClocks(module module, listed map[string]clockUse) []string {
	var problems []string
	seen := map[string]bool{}
	for _, file := range module.files {
		if file.test || !strings.HasPrefix(file.path, "internal/") || file.pkg == "internal/platform/sqldb" {
			continue
		}
		use, goesByReal := listed[file.path]
		moved, real := clockCalls(file)
		if !goesByReal && len(real) > 0 {
			problems = append(problems, fmt.Sprintf("%s: %s goes by the real clock and is not listed with a reason", module.at(real[0]), file.path))
		}
		if goesByReal && !use.both && len(moved) > 0 {
			problems = append(problems, fmt.Sprintf("%s: %s (%s) goes by the real clock alone", module.at(moved[0]), file.path, use.why))
		}
		seen[file.path] = goesByReal && len(real) > 0
	}
	for path := range listed {
		if !seen[path] {
			problems = append(problems, path+": listed, and does not go by the real clock")
		}
	}
	slices.Sort(problems)
	return problems
}

func TestWhatGoesByTheRealClockIsListed(t *testing.T) {
	report(t, checkClocks(realModule(t), realClock))
}

func TestWrongClockIsFound(t *testing.T) {
	listed := map[string]clockUse{
		"internal/a/lease.go": {why: "leases"}, "internal/a/both.go": {both: true, why: "both"}, "internal/a/gone.go": {why: "gone"},
	}
	wantProblems(t, checkClocks(files{
		"internal/a/lease.go": "package a\nfunc f(tx T) { tx.Real(); tx.Now() }",
		"internal/a/both.go":  "package a\nfunc g(s S) { s.db.Clock(); s.db.Now() }",
		"internal/a/rule.go":  "package a\nfunc h(s S) { s.DB.Real() }",
		"internal/a/fine.go":  "package a\nfunc i(tx T) { tx.Now(); other.Real() }",
	}.module(t), listed), "internal/a/gone.go: listed", "internal/a/lease.go:2", "internal/a/rule.go:2")
}
