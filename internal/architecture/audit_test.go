package architecture

import (
	"fmt"
	"go/ast"
	"slices"
	"testing"
)

// notAudited are the functions that apply a change and write no audit line:
// room.function → why.
var notAudited = map[string]string{
	"internal/account.Service.applyBelow":         "the change is that of a company above, which is in the log of that one",
	"internal/account.Service.applyFunctions":     "auditFunctions writes the lines of all children in one statement",
	"internal/billing.Service.applyPayment":       "the line is that of the invoice's change, or of the decision about the payment",
	"internal/payment.Service.applyAuthorisation": "the line is that of the customer's change, which the customer room writes",
	"internal/payment.Service.applyCharge":        "a charge follows from the invoice or the payment, which have their lines",
}

// reaching lists the functions of a package from which one that mentions a name
// can be reached.
func (g graph) reaching(names ...string) map[string]bool {
	found := map[string]bool{}
	var mark func(node string)
	mark = func(node string) {
		if found[node] {
			return
		}
		found[node] = true
		for _, caller := range g.callers[node] {
			mark(caller)
		}
	}
	for node, fn := range g.nodes {
		if slices.ContainsFunc(names, func(name string) bool { return mentionsName(fn, name) }) {
			mark(node)
		}
	}
	return found
}

func mentionsName(fn *ast.FuncDecl, name string) (found bool) {
	ast.Inspect(fn, func(node ast.Node) bool {
		called, ok := node.(*ast.Ident)
		found = found || ok && called.Name == name
		return !found
	})
	return found
}

// checkAudit finds functions that apply a change and do not reach the audit log.
func checkAudit(module module, room string) (problems []string) {
	for _, pkg := range programPackages(module) {
		if pkg.path != room {
			continue
		}
		auditing := graphOf(pkg).reaching("WriteAudit", "AuditChange")
		for _, fn := range declared(pkg) {
			node := nodeName(fn)
			if why := notAudited[room+"."+node]; isApply(fn) && auditing[node] == (why != "") {
				problems = append(problems, fmt.Sprintf("%s.%s applies a change: audited %t, excused %t", room, node, auditing[node], why != ""))
			}
		}
	}
	return problems
}

func TestEveryApplyWritesTheAuditLog(t *testing.T) {
	module := realModule(t)
	for _, applied := range roomsWithApply {
		report(t, checkAudit(module, applied.room))
	}
}

func TestAnApplyWithoutAuditIsFound(t *testing.T) {
	check := func(body string) []string {
		return checkAudit(files{"internal/x/a.go": "package x\ntype change struct{}\n" + body}.module(t), "internal/x")
	}
	wantProblems(t, check("func apply(c change) { save(c) }\nfunc save(c change) {}"), "internal/x.apply applies a change: audited false")
	wantProblems(t, check("func apply(c change) { note(c) }\nfunc note(c change) { account.WriteAudit(c) }"))
	wantProblems(t, check("func apply(c change) { account.AuditChange(c) }"))
	if !slices.Equal(check("func applies(c change) {}"), nil) {
		t.Error("a function that is no apply needs no audit line")
	}
}
