package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

// modulePath is what the module's own imports begin with.
const modulePath = "carteira"

// source is one Go file.
type source struct {
	path string // internal/account/sql.go
	pkg  string // internal/account
	test bool   // not part of the program: a _test.go file or a file of a test kit
	ast  *ast.File
}

// module is the source of the program, parsed and not compiled: a check then
// sees the files of every platform and build tag.
type module struct {
	fset  *token.FileSet
	files []source
}

func readModule(fsys fs.FS) (module, error) {
	m := module{fset: token.NewFileSet()}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && outside(fsys, name):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(m.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		pkg := path.Dir(name)
		m.files = append(m.files, source{name, pkg, strings.HasSuffix(name, "_test.go") || isKit(pkg), file})
		return err
	})
	return m, err
}

// outside reports whether a folder is not part of this module.
func outside(fsys fs.FS, dir string) bool {
	base := path.Base(dir)
	if dir == "." {
		return false
	}
	_, err := fs.Stat(fsys, path.Join(dir, "go.mod"))
	return err == nil || dir == "docs" || base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")
}

// isKit reports whether a package, such as sqldbtest, is for tests to import.
func isKit(pkg string) bool {
	return strings.HasPrefix(pkg, "test/kit/")
}

// at is the position of a node, in the form that editors understand.
func (m module) at(node ast.Node) string {
	position := m.fset.Position(node.Pos())
	return fmt.Sprintf("%s:%d", position.Filename, position.Line)
}

// root is the folder of go.mod.
var root = os.DirFS("../..")

// realModuleOnce parses the tree once for all tests.
var realModuleOnce = sync.OnceValues(func() (module, error) { return readModule(root) })

func realModule(t *testing.T) module {
	t.Helper()
	module, err := realModuleOnce()
	if err != nil {
		t.Fatal(err)
	}
	if len(module.files) < 50 {
		t.Fatalf("only %d Go files found: is this the folder of go.mod?", len(module.files))
	}
	return module
}

func report(t *testing.T, problems []string) {
	t.Helper()
	for _, problem := range problems {
		t.Error(problem)
	}
}

// files is a small module in memory, by path.
type files map[string]string

func (f files) fs() fs.FS {
	mapFS := fstest.MapFS{}
	for name, text := range f {
		mapFS[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return mapFS
}

func (f files) module(t *testing.T) module {
	t.Helper()
	module, err := readModule(f.fs())
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// wantProblems fails unless there is one problem for each wanted text, and it
// contains that text.
func wantProblems(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d problems, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
		return
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("problem %q does not say %q", got[i], want[i])
		}
	}
}

func TestReadingPassesOverWhatIsNotOfTheModule(t *testing.T) {
	module := files{
		"go.mod":             "module carteira",
		"a/a.go":             "package a",
		"a/a_test.go":        "package a",
		"test/kit/a/kit.go":  "package atest",
		"a/testdata/x.go":    "this is not Go",
		".git/x.go":          "neither is this",
		"docs/x/x.go":        "package main", // for integrators
		"tools/lint/go.mod":  "module lint",
		"tools/lint/main.go": "package main",
	}.module(t)
	var got []string
	for _, file := range module.files {
		got = append(got, fmt.Sprint(file.path, " ", file.test))
	}
	want := "a/a.go false, a/a_test.go true, test/kit/a/kit.go true"
	if strings.Join(got, ", ") != want {
		t.Errorf("read %q, want %q", got, want)
	}
}
