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
	for _, f := range p.files {
		for _, d := range f.Decls {
			in, function, owner := s, "", outsideFunctions
			if fn, ok := d.(*ast.FuncDecl); ok {
				in, function, owner = s.within(fn), fn.Name.Name, nodeName(fn)
			}
			for _, e := range uses(d) {
				list = append(list, text{e, function, owner, in.fold(e)})
			}
		}
	}
	return list
}

// packageNames are the strings that constants and variables of the package are
// given.
func (p texts) packageNames() map[string][]ast.Expr {
	names := map[string][]ast.Expr{}
	for _, f := range p.files {
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				for _, s := range g.Specs {
					if v, ok := s.(*ast.ValueSpec); ok {
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
	for _, f := range p.files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				functions[fn.Name.Name] = append(functions[fn.Name.Name], fn)
			}
		}
	}
	return functions
}

// uses lists the string expressions of a declaration, each as large as it is.
func uses(n ast.Node) []ast.Expr {
	var list []ast.Expr
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec, *ast.FieldList:
			return false
		case *ast.SelectorExpr: // the name after the dot is another's
			list = append(list, uses(n.X)...)
			return false
		case *ast.KeyValueExpr:
			list = append(list, uses(n.Value)...)
			return false
		case *ast.AssignStmt:
			list = append(list, assigned(n.Lhs, n.Rhs)...)
			return false
		case *ast.ValueSpec:
			list = append(list, assigned(exprs(n.Names), n.Values)...)
			return false
		case *ast.BinaryExpr:
			if n.Op != token.ADD {
				return true
			}
			list = append(append(list, n), calls(n)...)
			return false
		case *ast.BasicLit:
			list = append(list, n)
		case *ast.Ident:
			list = append(list, n)
		}
		return true
	})
	return list
}

// assigned lists the uses on both sides of an assignment. A string that is
// given to a name is no use, unless the name can be used in other packages.
func assigned(left, right []ast.Expr) []ast.Expr {
	var list []ast.Expr
	for i, e := range right {
		name, plain := left[min(i, len(left)-1)].(*ast.Ident)
		if !plain || !isText(e) || name.IsExported() {
			list = append(list, uses(e)...)
		} else {
			list = append(list, calls(e)...)
		}
	}
	for _, e := range left {
		if _, plain := e.(*ast.Ident); !plain {
			list = append(list, uses(e)...)
		}
	}
	return list
}

// isText tells an expression that may be folded from one that is something
// else, such as a call.
func isText(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit, *ast.Ident:
		return true
	case *ast.BinaryExpr:
		return e.Op == token.ADD
	case *ast.ParenExpr:
		return isText(e.X)
	}
	return false
}

// calls lists the uses inside the calls that stand in a concatenation.
func calls(e ast.Expr) []ast.Expr {
	var list []ast.Expr
	ast.Inspect(e, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
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
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType:
			for _, list := range []*ast.FieldList{n.Params, n.Results} {
				if list != nil {
					for _, f := range list.List {
						give(s.inner, exprs(f.Names), nil)
					}
				}
			}
		case *ast.AssignStmt:
			give(s.inner, n.Lhs, n.Rhs)
		case *ast.RangeStmt:
			give(s.inner, []ast.Expr{n.Key, n.Value}, nil)
		case *ast.ValueSpec:
			give(s.inner, exprs(n.Names), n.Values)
		}
		return true
	})
	return s
}

func exprs(names []*ast.Ident) []ast.Expr {
	list := make([]ast.Expr, len(names))
	for i, n := range names {
		list[i] = n
	}
	return list
}

// give notes what names are given; a name without a value of its own is known
// and may be anything.
func give(names map[string][]ast.Expr, left, right []ast.Expr) {
	for i, l := range left {
		name, ok := l.(*ast.Ident)
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
func (s scope) fold(e ast.Expr) string { return s.foldUnder(e, nil) }

func (s scope) foldUnder(e ast.Expr, under []string) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text
		}
	case *ast.ParenExpr:
		return s.foldUnder(e.X, under)
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return s.foldUnder(e.X, under) + s.foldUnder(e.Y, under)
		}
	case *ast.Ident:
		if !slices.Contains(under, e.Name) {
			return s.foldName(e.Name, append(slices.Clone(under), e.Name))
		}
		return ""
	case *ast.CallExpr:
		if calledName(e) == "String" {
			return s.foldConditions(e)
		}
		return s.foldCall(e, under)
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
	var b strings.Builder
	for _, fn := range s.functions[calledName(call)] {
		in := s.within(fn)
		ast.Inspect(fn, func(n ast.Node) bool {
			if r, ok := n.(*ast.ReturnStmt); ok {
				for _, e := range r.Results {
					if isText(e) {
						b.WriteString(strings.TrimPrefix(in.foldUnder(e, under), hole))
					}
				}
			}
			return true
		})
	}
	return cmp.Or(b.String(), hole)
}

func (s scope) foldName(name string, under []string) string {
	values, known := s.inner[name]
	if !known {
		values = s.outer[name]
	}
	if len(values) == 0 {
		return hole
	}
	var b strings.Builder
	for _, v := range values {
		b.WriteString(s.foldUnder(v, under))
	}
	return b.String()
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
	for _, v := range s.inner[where.Name] {
		if made, ok := v.(*ast.CallExpr); ok {
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
	ast.Inspect(fn, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
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
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}
