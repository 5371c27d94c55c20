package architecture

import (
	"cmp"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// hole stands for a part of a text that is known only when the program runs.
const hole = "§"

// texts finds the strings of a package, with constants and local variables put
// in their places.
type texts struct {
	path  string
	files []*ast.File
}

// text is a string as it is used.
type text struct {
	node     ast.Node
	function string // "" outside functions
	owner    string // the same with its receiver: Service.Find
	text     string
}

// texts folds every string expression of the package where it is used. A name
// that is given a string is not a use: what it becomes part of is.
func (p texts) texts() []text {
	s := scope{outer: p.packageNames(), functions: p.functions()}
	var list []text
	for _, file := range p.files {
		for _, decl := range file.Decls {
			in, function, owner := s, "", outsideFunctions
			if fn, ok := decl.(*ast.FuncDecl); ok {
				in, function, owner = s.within(fn), fn.Name.Name, nodeName(fn)
			}
			for _, use := range uses(decl) {
				list = append(list, text{use, function, owner, in.fold(use)})
			}
		}
	}
	return list
}

// packageNames are the strings that constants and variables of the package are
// given.
func (p texts) packageNames() map[string][]ast.Expr {
	names := map[string][]ast.Expr{}
	for _, file := range p.files {
		for _, decl := range file.Decls {
			if node, ok := decl.(*ast.GenDecl); ok {
				for _, spec := range node.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok {
						give(names, exprs(v.Names), v.Values)
					}
				}
			}
		}
	}
	return names
}

func (p texts) functions() map[string][]*ast.FuncDecl {
	functions := map[string][]*ast.FuncDecl{}
	for _, file := range p.files {
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				functions[fn.Name.Name] = append(functions[fn.Name.Name], fn)
			}
		}
	}
	return functions
}

// uses lists the string expressions of a declaration, each as large as it is.
func uses(node ast.Node) []ast.Expr {
	var list []ast.Expr
	ast.Inspect(node, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.ImportSpec, *ast.FieldList:
			return false
		case *ast.SelectorExpr: // the name after the dot is another's
			list = append(list, uses(node.X)...)
			return false
		case *ast.KeyValueExpr:
			list = append(list, uses(node.Value)...)
			return false
		case *ast.AssignStmt:
			list = append(list, assigned(node.Lhs, node.Rhs)...)
			return false
		case *ast.ValueSpec:
			list = append(list, assigned(exprs(node.Names), node.Values)...)
			return false
		case *ast.BinaryExpr:
			if node.Op != token.ADD {
				return true
			}
			list = append(append(list, node), calls(node)...)
			return false
		case *ast.BasicLit:
			list = append(list, node)
		case *ast.Ident:
			list = append(list, node)
		}
		return true
	})
	return list
}

// assigned lists the uses on both sides of an assignment. A string that is
// given to a name is no use, unless the name can be used in other packages.
func assigned(left, right []ast.Expr) []ast.Expr {
	var list []ast.Expr
	for i, expr := range right {
		name, plain := left[min(i, len(left)-1)].(*ast.Ident)
		if !plain || !isText(expr) || name.IsExported() {
			list = append(list, uses(expr)...)
		} else {
			list = append(list, calls(expr)...)
		}
	}
	for _, expr := range left {
		if _, plain := expr.(*ast.Ident); !plain {
			list = append(list, uses(expr)...)
		}
	}
	return list
}

// isText tells an expression that may be folded from one that is something
// else, such as a call.
func isText(expr ast.Expr) bool {
	switch expr := expr.(type) {
	case *ast.BasicLit, *ast.Ident:
		return true
	case *ast.BinaryExpr:
		return expr.Op == token.ADD
	case *ast.ParenExpr:
		return isText(expr.X)
	}
	return false
}

// calls lists the uses inside the calls that stand in a concatenation.
func calls(expr ast.Expr) []ast.Expr {
	var list []ast.Expr
	ast.Inspect(expr, func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok {
			list = append(list, uses(call)...)
			return false
		}
		return true
	})
	return list
}

// scope knows what names stand for.
type scope struct {
	outer, inner map[string][]ast.Expr
	functions    map[string][]*ast.FuncDecl
	body         *ast.FuncDecl
}

// within adds the names of a function: parameters, which may be anything, and
// variables with all that they are ever given.
func (s scope) within(fn *ast.FuncDecl) scope {
	s.body, s.inner = fn, map[string][]ast.Expr{}
	ast.Inspect(fn, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncType:
			for _, list := range []*ast.FieldList{node.Params, node.Results} {
				if list != nil {
					for _, f := range list.List {
						give(s.inner, exprs(f.Names), nil)
					}
				}
			}
		case *ast.AssignStmt:
			give(s.inner, node.Lhs, node.Rhs)
		case *ast.RangeStmt:
			give(s.inner, []ast.Expr{node.Key, node.Value}, nil)
		case *ast.ValueSpec:
			give(s.inner, exprs(node.Names), node.Values)
		}
		return true
	})
	return s
}

func exprs(names []*ast.Ident) []ast.Expr {
	list := make([]ast.Expr, len(names))
	for i, name := range names {
		list[i] = name
	}
	return list
}

// give notes what names are given; a name without a value of its own is known
// and may be anything.
func give(names map[string][]ast.Expr, left, right []ast.Expr) {
	for i, expr := range left {
		name, ok := expr.(*ast.Ident)
		if !ok {
			continue
		}
		var value []ast.Expr
		switch len(right) {
		case len(left):
			value = right[i : i+1]
		case 1: // a call with several results
			value = right
		}
		names[name.Name] = append(names[name.Name], value...)
	}
}

// fold puts a string together. Of a variable that is given several strings it
// takes all, one after the other: what any of them lacks is then lacking.
func (s scope) fold(expr ast.Expr) string { return s.foldUnder(expr, nil) }

func (s scope) foldUnder(expr ast.Expr, under []string) string {
	switch expr := expr.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(expr.Value); err == nil && expr.Kind == token.STRING {
			return text
		}
	case *ast.ParenExpr:
		return s.foldUnder(expr.X, under)
	case *ast.BinaryExpr:
		if expr.Op == token.ADD {
			return s.foldUnder(expr.X, under) + s.foldUnder(expr.Y, under)
		}
	case *ast.Ident:
		if !slices.Contains(under, expr.Name) {
			return s.foldName(expr.Name, append(slices.Clone(under), expr.Name))
		}
		return ""
	case *ast.CallExpr:
		if calledName(expr) == "String" {
			return s.foldConditions(expr)
		}
		return s.foldCall(expr, under)
	}
	return hole
}

// foldCall takes the texts that a function of this package returns.
func (s scope) foldCall(call *ast.CallExpr, under []string) string {
	name := calledName(call) + "()"
	if slices.Contains(under, name) {
		return hole
	}
	under = append(slices.Clone(under), name)
	var out strings.Builder
	for _, fn := range s.functions[calledName(call)] {
		in := s.within(fn)
		ast.Inspect(fn, func(node ast.Node) bool {
			if r, ok := node.(*ast.ReturnStmt); ok {
				for _, result := range r.Results {
					if isText(result) {
						out.WriteString(strings.TrimPrefix(in.foldUnder(result, under), hole))
					}
				}
			}
			return true
		})
	}
	return cmp.Or(out.String(), hole)
}

func (s scope) foldName(name string, under []string) string {
	values, known := s.inner[name]
	if !known {
		values = s.outer[name]
	}
	if len(values) == 0 {
		return hole
	}
	var out strings.Builder
	for _, value := range values {
		out.WriteString(s.foldUnder(value, under))
	}
	return out.String()
}

// foldConditions reads w.String() of a sqldb.Where: what w.And was given in
// this function, and in the function of this package that made w.
func (s scope) foldConditions(call *ast.CallExpr) string {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "String" || s.body == nil {
		return hole
	}
	where, ok := sel.X.(*ast.Ident)
	if !ok {
		return hole
	}
	conditions := s.conditions(s.body, where.Name)
	for _, expr := range s.inner[where.Name] {
		if made, ok := expr.(*ast.CallExpr); ok {
			for _, fn := range s.functions[calledName(made)] {
				conditions = append(conditions, s.within(fn).conditions(fn, "")...)
			}
		}
	}
	if len(conditions) == 0 {
		return hole
	}
	return " WHERE " + strings.Join(conditions, " AND ")
}

// conditions lists the first arguments of name.And in a function; of anything's
// And when name is "".
func (s scope) conditions(fn *ast.FuncDecl, name string) []string {
	var list []string
	ast.Inspect(fn, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok || calledName(call) != "And" || len(call.Args) == 0 {
			return true
		}
		on, ok := call.Fun.(*ast.SelectorExpr).X.(*ast.Ident)
		if name == "" || ok && on.Name == name {
			list = append(list, s.fold(call.Args[0]))
		}
		return true
	})
	return list
}

func calledName(call *ast.CallExpr) string {
	switch expr := call.Fun.(type) {
	case *ast.Ident:
		return expr.Name
	case *ast.SelectorExpr:
		return expr.Sel.Name
	}
	return ""
}
