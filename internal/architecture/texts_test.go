package architecture

import (
	"cmp"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// hole marks a part of a text that is known only when the program runs.
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
func (p texts) packageNames() map[string][]given {
	names := map[string][]given{}
	for _, file := range p.files {
		for _, decl := range file.Decls {
			if node, ok := decl.(*ast.GenDecl); ok {
				for _, spec := range node.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok {
						give(names, exprs(v.Names), v.Values, token.ASSIGN)
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

// assigned lists the uses on both sides of an assignment. A string assigned
// to a name does not count as a use, unless other packages can use the name.
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

// isText reports whether an expression may be folded into a text; a call, for
// example, may not.
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
	outer, inner map[string][]given
	functions    map[string][]*ast.FuncDecl
	body         *ast.FuncDecl
}

// given is what a name is given once.
type given struct {
	expr ast.Expr
	result
	more bool // added to what the name stood for before
}

// result is which of how many values of an expression; calls alone have several.
type result struct{ at, of int }

// within adds the names of a function: parameters, which may be anything, and
// variables with all that they are ever given.
func (s scope) within(fn *ast.FuncDecl) scope {
	s.body, s.inner = fn, map[string][]given{}
	ast.Inspect(fn, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncType:
			for _, list := range []*ast.FieldList{node.Params, node.Results} {
				if list != nil {
					for _, f := range list.List {
						give(s.inner, exprs(f.Names), nil, token.ASSIGN)
					}
				}
			}
		case *ast.AssignStmt:
			give(s.inner, node.Lhs, node.Rhs, node.Tok)
		case *ast.RangeStmt:
			give(s.inner, []ast.Expr{node.Key, node.Value}, nil, token.ASSIGN)
		case *ast.ValueSpec:
			give(s.inner, exprs(node.Names), node.Values, token.ASSIGN)
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

// give notes what names are given by an assignment; a name without a value of its
// own is known and may be anything.
func give(names map[string][]given, left, right []ast.Expr, assignment token.Token) {
	for i, expr := range left {
		name, ok := expr.(*ast.Ident)
		if !ok {
			continue
		}
		var values []given
		switch more := assignment == token.ADD_ASSIGN; len(right) {
		case len(left):
			values = []given{{right[i], result{0, 1}, more}}
		case 1: // a call with several results
			values = []given{{right[0], result{i, len(left)}, more}}
		}
		names[name.Name] = append(names[name.Name], values...)
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
	case *ast.SelectorExpr:
		if isVisible(expr.Sel) {
			return visibleMark
		}
	case *ast.Ident:
		if isVisible(expr) {
			return visibleMark
		}
		if !slices.Contains(under, expr.Name) {
			return s.foldName(expr.Name, append(slices.Clone(under), expr.Name))
		}
		return ""
	case *ast.CallExpr:
		if calledName(expr) == "String" {
			return s.foldConditions(expr)
		}
		return s.foldCall(expr, result{0, 1}, under)
	}
	return hole
}

// visibleMark marks customer.Visible and customer.VisibleC in a text: a
// condition of its own, with tables that the statement is not about.
const visibleMark = "{visible}"

func isVisible(name *ast.Ident) bool { return name.Name == "Visible" || name.Name == "VisibleC" }

// foldCall takes the texts that functions of this package return as one of their
// results. Of functions with one name it takes those that have such a result.
func (s scope) foldCall(call *ast.CallExpr, wanted result, under []string) string {
	name := calledName(call) + "()"
	if slices.Contains(under, name) {
		return hole
	}
	// A name that is being folded here is another one there.
	under = append(slices.DeleteFunc(slices.Clone(under), func(name string) bool { return !strings.HasSuffix(name, "()") }), name)
	var out strings.Builder
	for _, fn := range s.functions[calledName(call)] {
		if !wanted.mayBeTextOf(fn) {
			continue
		}
		in := s.within(fn)
		ast.Inspect(fn, func(node ast.Node) bool {
			if r, ok := node.(*ast.ReturnStmt); ok && len(r.Results) == wanted.of && isText(r.Results[wanted.at]) {
				out.WriteString(strings.TrimPrefix(in.foldUnder(r.Results[wanted.at], under), hole))
			}
			return true
		})
	}
	return cmp.Or(out.String(), hole)
}

// mayBeTextOf reports whether a function has as many results, and no error in
// this place.
func (r result) mayBeTextOf(fn *ast.FuncDecl) bool {
	var types []ast.Expr
	if fn.Type.Results != nil {
		for _, field := range fn.Type.Results.List {
			types = append(types, slices.Repeat([]ast.Expr{field.Type}, max(1, len(field.Names)))...)
		}
	}
	if len(types) != r.of {
		return false
	}
	name, plain := types[r.at].(*ast.Ident)
	return !plain || name.Name != "error"
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
	for i, value := range values {
		if i > 0 && !value.more {
			out.WriteString(" ") // the one text does not end in the word with which the other begins
		}
		if call, ok := value.expr.(*ast.CallExpr); ok && calledName(call) != "String" {
			out.WriteString(s.foldCall(call, value.result, under))
		} else {
			out.WriteString(s.foldUnder(value.expr, under))
		}
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
	for _, value := range s.inner[where.Name] {
		if made, ok := value.expr.(*ast.CallExpr); ok {
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

// conditions lists what name.And and name.If are given in a function; of anything's
// when name is "".
func (s scope) conditions(fn *ast.FuncDecl, name string) []string {
	var list []string
	ast.Inspect(fn, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		place, adds := map[string]int{"And": 0, "If": 1}[calledName(call)]
		if !adds || len(call.Args) <= place {
			return true
		}
		on, ok := call.Fun.(*ast.SelectorExpr).X.(*ast.Ident)
		if name == "" || ok && on.Name == name {
			list = append(list, s.fold(call.Args[place]))
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
