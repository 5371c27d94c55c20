package main

import (
	"go/ast"
	"go/token"
	"slices"
	"sort"
	"unicode/utf8"
)

func lines(fset *token.FileSet, node ast.Node) int {
	return fset.Position(node.End()).Line - fset.Position(node.Pos()).Line + 1
}

func (m *metrics) function(fset *token.FileSet, fn *ast.FuncDecl, scanned scanned) {
	m.functions = append(m.functions, lines(fset, fn))
	m.functionTokens = append(m.functionTokens, tokensIn(fset, fn, scanned.offsets))
	m.complexity = append(m.complexity, complexityOf(fn))
	m.deepest = max(m.deepest, nesting(fn.Body, 0))
	count := 0
	for _, field := range fn.Type.Params.List {
		count += max(1, len(field.Names))
		if name, ok := field.Type.(*ast.Ident); ok && name.Name == "bool" {
			m.boolParameters += max(1, len(field.Names))
		}
	}
	m.parameters = append(m.parameters, count)
	m.locals(fn)
}

func tokensIn(fset *token.FileSet, node ast.Node, offsets []int) int {
	from := sort.SearchInts(offsets, fset.Position(node.Pos()).Offset)
	to := sort.SearchInts(offsets, fset.Position(node.End()).Offset)
	return to - from
}

// complexityOf is the cyclomatic complexity: one, and one more for each branch.
func complexityOf(fn *ast.FuncDecl) int {
	count := 1
	ast.Inspect(fn, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			count++
		case *ast.CaseClause:
			if node.List != nil {
				count++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				count++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				count++
			}
		}
		return true
	})
	return count
}

// nesting is how deep branches and loops stand in each other. A function literal
// begins anew, and an else if is as deep as its if.
func nesting(n ast.Node, depth int) int {
	deepest := depth
	ast.Inspect(n, func(node ast.Node) bool {
		if node == nil || node == n {
			return true
		}
		switch node := node.(type) {
		case *ast.FuncLit:
			deepest = max(deepest, nesting(node.Body, 0))
			return false
		case *ast.IfStmt:
			deepest = max(deepest, nesting(node.Body, depth+1))
			if other, ok := node.Else.(*ast.IfStmt); ok {
				deepest = max(deepest, nesting(&ast.BlockStmt{List: []ast.Stmt{other}}, depth))
			} else if node.Else != nil {
				deepest = max(deepest, nesting(node.Else, depth+1))
			}
			return false
		case *ast.ForStmt:
			deepest = max(deepest, nesting(node.Body, depth+1))
			return false
		case *ast.RangeStmt:
			deepest = max(deepest, nesting(node.Body, depth+1))
			return false
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			deepest = max(deepest, nesting(bodyOf(node), depth+1))
			return false
		}
		return true
	})
	return deepest
}

func bodyOf(node ast.Node) *ast.BlockStmt {
	switch node := node.(type) {
	case *ast.SwitchStmt:
		return node.Body
	case *ast.TypeSwitchStmt:
		return node.Body
	case *ast.SelectStmt:
		return node.Body
	}
	return &ast.BlockStmt{}
}

// customary are the names that every Go program has for the same things: they
// say nothing about how a program chooses its own.
var customary = []string{"_", "ctx", "err", "tx", "ok"}

// locals are the parameters, results and variables that a function declares;
// receivers and customary names are left out.
func (m *metrics) locals(fn *ast.FuncDecl) {
	add := func(expr ast.Expr) {
		if name, ok := expr.(*ast.Ident); ok && !slices.Contains(customary, name.Name) {
			m.localNames = append(m.localNames, utf8.RuneCountInString(name.Name))
		}
	}
	ast.Inspect(fn, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncType:
			for _, list := range []*ast.FieldList{node.Params, node.Results} {
				if list == nil {
					continue
				}
				for _, field := range list.List {
					for _, name := range field.Names {
						add(name)
					}
				}
			}
		case *ast.AssignStmt:
			if node.Tok == token.DEFINE {
				for _, expr := range node.Lhs {
					add(expr)
				}
			}
		case *ast.RangeStmt:
			if node.Tok == token.DEFINE {
				add(node.Key)
				add(node.Value)
			}
		case *ast.ValueSpec:
			for _, name := range node.Names {
				add(name)
			}
		}
		return true
	})
}
