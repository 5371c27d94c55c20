package main

import (
	"go/ast"
	"go/token"
	"strings"
)

// declarations counts interfaces, structs that embed the service of their
// package, and exported things with and without a comment.
func (m *metrics) declarations(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.InterfaceType:
			if len(n.Methods.List) > 0 && isContract(n) {
				m.interfaces++
			}
		case *ast.StructType:
			if embedsService(n) {
				m.embedded++
			}
		}
		return true
	})
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || ast.IsExported(receiver(d)) {
				m.export(d.Name, d.Doc != nil)
			}
		case *ast.GenDecl:
			m.exports(d)
		}
	}
}

// isContract tells an interface with methods from a constraint of types.
func isContract(n *ast.InterfaceType) bool {
	for _, field := range n.Methods.List {
		if _, ok := field.Type.(*ast.FuncType); ok {
			return true
		}
	}
	return false
}

func embedsService(n *ast.StructType) bool {
	for _, field := range n.Fields.List {
		if len(field.Names) > 0 {
			continue
		}
		embedded := field.Type
		if star, ok := embedded.(*ast.StarExpr); ok {
			embedded = star.X
		}
		if name, ok := embedded.(*ast.Ident); ok && name.Name == "Service" {
			return true
		}
	}
	return false
}

func receiver(fn *ast.FuncDecl) string {
	if len(fn.Recv.List) == 0 {
		return ""
	}
	e := fn.Recv.List[0].Type
	for {
		switch typed := e.(type) {
		case *ast.StarExpr:
			e = typed.X
		case *ast.IndexExpr:
			e = typed.X
		case *ast.IndexListExpr:
			e = typed.X
		case *ast.Ident:
			return typed.Name
		default:
			return ""
		}
	}
}

// exports counts the names of a group, which share its comment if they have none.
func (m *metrics) exports(d *ast.GenDecl) {
	if d.Tok == token.IMPORT {
		return
	}
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			m.export(spec.Name, d.Doc != nil || spec.Doc != nil || spec.Comment != nil)
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				m.export(name, d.Doc != nil || spec.Doc != nil || spec.Comment != nil)
			}
		}
	}
}

func (m *metrics) export(name *ast.Ident, documented bool) {
	if !name.IsExported() || strings.HasPrefix(name.Name, "_") {
		return
	}
	m.exported++
	if !documented {
		m.undocumented++
	}
}
