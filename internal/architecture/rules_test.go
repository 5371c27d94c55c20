package architecture

import (
	"fmt"
	"go/ast"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// checkDocs wants a comment at every package that says what it owns. Where
// there is nothing but tests, theirs will do.
func checkDocs(module module) []string {
	type state struct{ program, documented, testDocumented bool }
	packages := map[string]*state{}
	for _, file := range module.files {
		s := packages[file.pkg]
		if s == nil {
			s = &state{}
			packages[file.pkg] = s
		}
		onlyTests := strings.HasSuffix(file.path, "_test.go")
		s.program = s.program || !onlyTests
		s.documented = s.documented || !onlyTests && documented(file.ast)
		s.testDocumented = s.testDocumented || documented(file.ast)
	}
	var problems []string
	for _, pkg := range slices.Sorted(maps.Keys(packages)) {
		if s := packages[pkg]; !s.documented && (s.program || !s.testDocumented) {
			problems = append(problems, pkg+": no package comment; say what it owns and what it does not, beginning with Package or Command and its name")
		}
	}
	return problems
}

func documented(file *ast.File) bool {
	text := file.Doc.Text()
	return strings.HasPrefix(text, "Package "+strings.TrimSuffix(file.Name.Name, "_test")+" ") || file.Name.Name == "main" && strings.HasPrefix(text, "Command ")
}

func TestEveryPackageHasADoc(t *testing.T) { report(t, checkDocs(realModule(t))) }

func TestAPackageWithoutADocIsFound(t *testing.T) {
	wantProblems(t, checkDocs(files{
		"bare/a.go":        "package bare",
		"loose/a.go":       "// Package loose is a comment of the file.\n\npackage loose",
		"other/a.go":       "// This is package other.\npackage other",
		"tested/a.go":      "package tested",
		"tested/a_test.go": "// Package tested is documented by its tests.\npackage tested",
		"tests/a_test.go":  "package tests",
		"whole/a.go":       "package whole",
		"whole/doc.go":     "// Package whole is one sentence.\npackage whole",
		"x/main.go":        "// Command x runs.\npackage main",
		"y/y_test.go":      "// Package y is tests only.\npackage y_test",
	}.module(t)), "bare: no package comment", "loose:", "other:", "tested:", "tests:")
}

// clocked are the places that may read the clock: everything else takes the
// instant of its transaction (tx.Now), so that all rows of one change bear one
// time, or the database's (db.Now), which a test can set.
var clocked = []string{platform, "internal/web", "internal/web/...", "internal/app", "test/..."}

func checkClock(module module) []string {
	var problems []string
	for _, file := range module.files {
		if file.test || slices.ContainsFunc(clocked, func(p string) bool { return covers(p, file.pkg) }) {
			continue
		}
		name := importName(file.ast, "time")
		ast.Inspect(file.ast, func(node ast.Node) bool {
			sel, ok := node.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := sel.X.(*ast.Ident)
			if ok && name != "" && x.Name == name && slices.Contains([]string{"Now", "Since", "Until"}, sel.Sel.Name) {
				problems = append(problems, fmt.Sprintf("%s: time.%s: take tx.Now() or db.Now(), so that one change bears one time and a test can set it", module.at(sel), sel.Sel.Name))
			}
			return true
		})
	}
	return problems
}

// importName is what a file calls an import; "" when it has none.
func importName(file *ast.File, imported string) string {
	for _, spec := range file.Imports {
		if p, _ := strconv.Unquote(spec.Path.Value); p != imported {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path.Base(imported)
	}
	return ""
}

func TestRoomsTakeTheirInstantFromTheTransaction(t *testing.T) { report(t, checkClock(realModule(t))) }

func TestAClockReadInARoomIsFound(t *testing.T) {
	wantProblems(t, checkClock(files{
		"internal/billing/a.go":        "package billing\nimport \"time\"\nvar at = time.Now()",
		"internal/billing/b.go":        "package billing\nimport clock \"time\"\nvar now = clock.Now",
		"internal/billing/c.go":        "package billing\nimport \"time\"\nfunc f(t time.Time) any { return time.Since(t) }",
		"internal/billing/d.go":        "package billing\nimport \"time\"\nvar d = time.UnixMicro(0)",
		"internal/billing/e.go":        "package billing\nfunc f(time clock) { time.Now() }",
		"internal/billing/a_test.go":   "package billing\nimport \"time\"\nvar at = time.Now()",
		"internal/platform/x/a.go":     "package x\nimport \"time\"\nvar at = time.Now()",
		"internal/web/a.go":            "package web\nimport \"time\"\nvar at = time.Now()",
		"internal/web/api/a.go":        "package api\nimport \"time\"\nvar at = time.Now()",
		"internal/app/a.go":            "package app\nimport \"time\"\nvar at = time.Now()",
		"internal/cli/a.go":            "package cli\nimport \"time\"\nvar at = time.Now()",
		"internal/platform/x/xtest.go": "package x",
	}.module(t)),
		"internal/billing/a.go:3: time.Now: take tx.Now()", "internal/billing/b.go:3: time.Now", "internal/billing/c.go:3: time.Since", "internal/cli/a.go:3")
}

// checkMigrations wants a file for each engine under every number; that both
// give the same tables is tested where they are run.
func checkMigrations(fsys fs.FS) ([]string, error) {
	var problems []string
	names := map[string][]string{}
	for _, dir := range migrationFolders {
		entries, err := fs.ReadDir(fsys, dir)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			names[entry.Name()] = append(names[entry.Name()], dir)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if in := names[name]; len(in) == 1 {
			problems = append(problems, fmt.Sprintf("migration %s stands in %s only: the databases would part ways", name, in[0]))
		}
	}
	if len(names) == 0 {
		problems = append(problems, "no migration was found")
	}
	return problems, nil
}

func TestBothEnginesHaveTheSameMigrations(t *testing.T) {
	problems, err := checkMigrations(root)
	if err != nil {
		t.Fatal(err)
	}
	report(t, problems)
}

func TestAMigrationOfOneEngineIsFound(t *testing.T) {
	a, b := migrationFolders[0], migrationFolders[1]
	problems, err := checkMigrations(files{
		a + "/0001_x.sql": "", b + "/0001_x.sql": "",
		a + "/0002_y.sql": "", b + "/0002_z.sql": "",
	}.fs())
	if err != nil {
		t.Fatal(err)
	}
	wantProblems(t, problems, "0002_y.sql stands in "+a+" only", "0002_z.sql stands in "+b+" only")
	if _, err := checkMigrations(files{a + "/0001_x.sql": ""}.fs()); err == nil {
		t.Error("a missing folder is not found")
	}
}
