package architecture

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// checkForms finds functions that have both a transaction and a form: as
// parameters, as receiver, or as a form that a function literal with a
// transaction takes from around it. A transaction may run again, and a form
// keeps the refusals of the run that was rolled back.
func checkForms(module module) []string {
	var problems []string
	for _, pkg := range programPackages(module) {
		for _, fn := range declared(pkg) {
			if at := formInTransaction(fn); at != nil {
				problems = append(problems, fmt.Sprintf("%s: %s.%s takes the form into a transaction, which may run again: "+
					"read the form before it, and return refusals as an error", module.at(at), pkg.path, nodeName(fn)))
			}
		}
	}
	return problems
}

// formInTransaction is the place where a function or a literal inside it has
// both; nil when none has.
func formInTransaction(fn *ast.FuncDecl) ast.Node {
	forms := paramsOf(fn.Type, "input.Form")
	if fn.Recv != nil {
		forms = append(forms, named(fn.Recv, "input.Form")...)
	}
	if len(forms) > 0 && inTransaction(fn.Type) {
		return fn
	}
	forms = append(forms, madeForms(fn)...)
	var at ast.Node
	ast.Inspect(fn.Body, func(node ast.Node) bool {
		lit, ok := node.(*ast.FuncLit)
		if ok && inTransaction(lit.Type) && at == nil && (len(paramsOf(lit.Type, "input.Form")) > 0 || mentionsAny(lit.Body, forms)) {
			at = lit
		}
		return true
	})
	return at
}

func inTransaction(node *ast.FuncType) bool {
	return slices.ContainsFunc([]string{"account.Tx", "sqldb.Tx", "Tx", "sqldb.Querier"}, func(name string) bool {
		return len(paramsOf(node, name)) > 0
	})
}

// paramsOf are the names of the parameters of a type; _ of those without a name.
func paramsOf(node *ast.FuncType, want string) []string { return named(node.Params, want) }

func named(fields *ast.FieldList, want string) []string {
	var list []string
	for _, node := range fields.List {
		if qualified(node.Type) != want {
			continue
		}
		list = append(list, "_")
		for _, name := range node.Names {
			list = append(list, name.Name)
		}
	}
	return list
}

// qualified is a type with its package and without its star: input.Form; one of
// the same package is its name alone.
func qualified(expr ast.Expr) string {
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	sel, ok := expr.(*ast.SelectorExpr)
	if !ok {
		return typeName(expr)
	}
	return typeName(sel.X) + "." + sel.Sel.Name
}

// madeForms are the variables that a function gives a form of its own:
// form := input.Pairs(…).
func madeForms(fn *ast.FuncDecl) []string {
	var list []string
	ast.Inspect(fn.Body, func(node ast.Node) bool {
		assign, ok := node.(*ast.AssignStmt)
		if !ok || len(assign.Rhs) != 1 {
			return true
		}
		call, ok := assign.Rhs[0].(*ast.CallExpr)
		if name, plain := assign.Lhs[0].(*ast.Ident); ok && plain && strings.HasPrefix(qualified(call.Fun), "input.") {
			list = append(list, name.Name)
		}
		return true
	})
	return list
}

func mentionsAny(node ast.Node, names []string) bool {
	found := false
	ast.Inspect(node, func(node ast.Node) bool {
		if sel, ok := node.(*ast.SelectorExpr); ok {
			found = found || mentionsAny(sel.X, names)
			return false
		}
		id, ok := node.(*ast.Ident)
		found = found || ok && slices.Contains(names, id.Name)
		return true
	})
	return found
}

func TestNoTransactionTakesTheForm(t *testing.T) {
	report(t, checkForms(realModule(t)))
}

func TestAFormInATransactionIsFound(t *testing.T) {
	tests := map[string]struct{ body, want string }{
		"both":        {"func f(tx *sqldb.Tx, form *input.Form) {}", "a.go:2: internal/x.f takes the form into a transaction"},
		"an actor's":  {"func f(tx account.Tx, form *input.Form) {}", "internal/x.f takes"},
		"a method":    {"func (s *Service) f(ctx int, tx *sqldb.Tx, n int, form *input.Form) {}", "internal/x.Service.f takes"},
		"a querier":   {"func f(q sqldb.Querier, form *input.Form) {}", "internal/x.f takes"},
		"around":      {"func f(form *input.Form) {\ndb.Write(func(tx *sqldb.Tx) error { form.Refuse(`n`); return nil }) }", "a.go:3: internal/x.f takes"},
		"handed on":   {"func f(form *input.Form) { db.Write(func(tx *sqldb.Tx) error { return g(form) }) }", "internal/x.f takes"},
		"made here":   {"func f() { form := input.Pairs(); db.Write(func(tx *sqldb.Tx) error { return g(form) }) }", "internal/x.f takes"},
		"before":      {"func f(form *input.Form) { n := form.Int(); db.Write(func(tx *sqldb.Tx) error { return g(n) }) }", ""},
		"another":     {"func f(form *page.Form) { db.Write(func(tx *sqldb.Tx) error { return g(form) }) }", ""},
		"a field":     {"func f(form *input.Form) { db.Write(func(tx *sqldb.Tx) error { return g(x.form) }) }", ""},
		"without one": {"func f(form *input.Form) { each(func(n int) error { return g(form) }) }", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := checkForms(files{"internal/x/a.go": "package x\n" + tt.body}.module(t))
			if tt.want == "" {
				wantProblems(t, got)
				return
			}
			wantProblems(t, got, tt.want)
		})
	}
}
