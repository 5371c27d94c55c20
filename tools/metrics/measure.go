package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"
)

// metrics is what was counted. A list has one number for each function, file or
// name.
type metrics struct {
	codeLines, testLines, commentLines int
	tokens, wideLines                  int
	fileLines                          []int

	functions, functionTokens, complexity, parameters []int
	boolParameters, longestTest, deepest              int

	localNames []int // letters of each

	interfaces, embedded, undocumented, exported, todos int

	packages, documented map[string]bool
}

// wide is from where on a line is counted as wide.
const wide = 120

func measure(fsys fs.FS) (*metrics, error) {
	m := &metrics{packages: map[string]bool{}, documented: map[string]bool{}}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && outside(fsys, name):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		return m.file(name, text)
	})
	return m, err
}

// outside reports whether a folder is not part of the module.
func outside(fsys fs.FS, dir string) bool {
	base := path.Base(dir)
	_, err := fs.Stat(fsys, path.Join(dir, "go.mod"))
	return err == nil ||
		base == "testdata" ||
		base == "vendor" ||
		strings.HasPrefix(base, ".") ||
		strings.HasPrefix(base, "_")
}

// isTest reports whether a file is for tests only: by its name, as part of a test
// kit such as sqldbtest, or in the folder of whole-program tests.
func isTest(name string) bool {
	return strings.HasSuffix(name, "_test.go") ||
		strings.HasSuffix(path.Dir(name), "test") ||
		strings.HasPrefix(name, "test/")
}

func (m *metrics) file(name string, text []byte) error {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(
		fset,
		name,
		text,
		parser.ParseComments|parser.SkipObjectResolution,
	)
	if err != nil {
		return err
	}
	scanned := scan(text)
	if isTest(name) {
		m.testLines += scanned.codeLines
		m.tests(fset, file)
		return nil
	}
	m.codeLines += scanned.codeLines
	m.commentLines += scanned.commentLines
	m.tokens += len(scanned.offsets)
	m.todos += scanned.todos
	for line := range bytes.Lines(text) {
		if utf8.RuneCount(bytes.TrimRight(line, "\n")) > wide {
			m.wideLines++
		}
	}
	m.fileLines = append(m.fileLines, bytes.Count(text, []byte("\n")))
	m.packages[path.Dir(name)] = true
	if file.Doc != nil {
		m.documented[path.Dir(name)] = true
	}
	m.declarations(file)
	for _, decl := range file.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil {
			m.function(fset, fn, scanned)
		}
	}
	return nil
}

func (m *metrics) tests(fset *token.FileSet, file *ast.File) {
	for _, decl := range file.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && strings.HasPrefix(fn.Name.Name, "Test") {
			m.longestTest = max(m.longestTest, lines(fset, fn))
		}
	}
}

// scanned is a file as the compiler's scanner sees it.
type scanned struct {
	offsets                        []int // of each token, comments left out
	codeLines, commentLines, todos int
}

func scan(text []byte) scanned {
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	var result scanned
	code, comments := map[int]bool{}, map[int]bool{}
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		first := file.Line(pos)
		into := code
		switch {
		case tok == token.COMMENT:
			into = comments
			if strings.Contains(lit, "TODO") || strings.Contains(lit, "FIXME") {
				result.todos++
			}
		case tok == token.SEMICOLON && lit == "\n": // the scanner's own
			continue
		default:
			result.offsets = append(result.offsets, file.Offset(pos))
		}
		for line := first; line <= first+strings.Count(lit, "\n"); line++ {
			into[line] = true
		}
	}
	result.codeLines, result.commentLines = len(code), len(comments)
	return result
}
