package documents

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// goFile is the name of a Go file, with or without its folder. A name with an
	// ellipsis means several files, and one after -o is an output: neither is checked.
	goFile = regexp.MustCompile(`(-o )?[\w./…-]*\w\.go\b`)
	// testName is the name of a test or a benchmark.
	testName = regexp.MustCompile(`\b(?:Test|Benchmark)[A-Z]\w+`)
)

// checkGoFiles finds names of Go files that do not exist. A name without its
// whole path may be in any folder.
func checkGoFiles(files []string, text string) []string {
	var problems []string
	for _, name := range goFile.FindAllString(text, -1) {
		if strings.Contains(name, "…") || strings.HasPrefix(name, "-o ") {
			continue
		}
		name = strings.TrimPrefix(name, "./")
		if !slices.ContainsFunc(files, func(file string) bool { return file == name || strings.HasSuffix(file, "/"+name) }) {
			problems = append(problems, "there is no file "+name)
		}
	}
	return problems
}

// checkTests finds names of tests that the source does not declare.
func checkTests(source, text string) []string {
	var problems []string
	for _, name := range testName.FindAllString(text, -1) {
		if !strings.Contains(source, "func "+name) {
			problems = append(problems, "there is no test "+name)
		}
	}
	return problems
}

func TestGoFilesExist(t *testing.T) {
	files := trackedFiles(t)
	for name, text := range documents(t) {
		report(t, name, checkGoFiles(files, text))
	}
}

// CHANGELOG.md is about the past.
func TestTestsExist(t *testing.T) {
	var source strings.Builder
	for _, name := range trackedFiles(t) {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil && !os.IsNotExist(err) { // deleted, and not yet committed
			t.Fatal(err)
		}
		source.Write(text)
	}
	for name, text := range documents(t) {
		if name != "CHANGELOG.md" {
			report(t, name, checkTests(source.String(), text))
		}
	}
}

func TestAnInventedTestIsFound(t *testing.T) {
	const source = "func TestOne(t *testing.T) {}\nfunc BenchmarkLists(b *testing.B) {}"
	wantProblems(t, checkTests(source, "`TestOne`, -bench BenchmarkLists, `TestTwo`"), "there is no test TestTwo")
}

func TestAnInventedGoFileIsFound(t *testing.T) {
	files := []string{"internal/app/app.go", "internal/tally/fold.go"}
	text := "`internal/app/app.go`, `app.go`, `tally/fold.go`, `sql_….go`, -o out/client.go, then `app/none.go` and none.go"
	wantProblems(t, checkGoFiles(files, text), "there is no file app/none.go", "there is no file none.go")
}
