package main

import (
	"go/ast"
	"go/token"
	"strings"
)

// declarations counts interfaces, structs that embed the service of their
// package, and exported things with and without a comment.
func (m *metrics) declarations(file *ast.File) {
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.InterfaceType:
			if len(node.Methods.List) > 0 && isContract(node) {
				m.interfaces++
			}
		case *ast.StructType:
			if embedsService(node) {
				m.embedded++
			}
		}
		return true
	})
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil || ast.IsExported(receiver(decl)) {
				m.export(decl.Name, decl.Doc != nil)
			}
		case *ast.GenDecl:
			m.exports(decl)
		}
	}
}

// isContract tells an interface with methods from a constraint of types.
func isContract(node *ast.InterfaceType) bool {
	for _, field := range node.Methods.List {
		if _, ok := field.Type.(*ast.FuncType); ok {
			return true
		}
	}
	return false
}

func embedsService(node *ast.StructType) bool {
	for _, field := range node.Fields.List {
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
	expr := fn.Recv.List[0].Type
	for {
		switch typed := expr.(type) {
		case *ast.StarExpr:
			expr = typed.X
		case *ast.IndexExpr:
			expr = typed.X
		case *ast.IndexListExpr:
			expr = typed.X
		case *ast.Ident:
			return typed.Name
		default:
			return ""
		}
	}
}

// exports counts the names of a group, which share its comment if they have none.
func (m *metrics) exports(node *ast.GenDecl) {
	if node.Tok == token.IMPORT {
		return
	}
	for _, spec := range node.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			m.export(spec.Name, node.Doc != nil || spec.Doc != nil || spec.Comment != nil)
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				m.export(name, node.Doc != nil || spec.Doc != nil || spec.Comment != nil)
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
