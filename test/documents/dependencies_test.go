package documents

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	require  = regexp.MustCompile(`(?m)^(?:require)?\s+([a-z0-9.]+\.[a-z]+/\S+) v\S+(.*)$`)
	imported = regexp.MustCompile(`(?m)^(?:import)?\s*(?:[\w.]+ )?"([a-z0-9]+\.[a-z]+/[^"]+)"$`)
	listed   = regexp.MustCompile("(?m)^- `([a-z0-9.]+\\.[a-z]+/\\S+)`")
)

// checkDependencies wants a line for each module that is imported or required
// directly, and for no other.
func checkDependencies(text, gomod string, source map[string]string) []string {
	needed := map[string]bool{}
	var modules []string
	for _, m := range require.FindAllStringSubmatch(gomod, -1) {
		modules = append(modules, m[1])
		if !strings.Contains(m[2], "// indirect") {
			needed[m[1]] = true
		}
	}
	for _, file := range source {
		for _, m := range imported.FindAllStringSubmatch(file, -1) {
			for _, module := range modules {
				if m[1] == module || strings.HasPrefix(m[1], module+"/") {
					needed[module] = true
				}
			}
		}
	}
	var problems []string
	for _, m := range listed.FindAllStringSubmatch(text, -1) {
		if !needed[m[1]] {
			problems = append(problems, "nothing imports "+m[1])
		}
		delete(needed, m[1])
	}
	for _, module := range slices.Sorted(maps.Keys(needed)) {
		problems = append(problems, "no sentence for "+module)
	}
	return problems
}

func TestEveryDependencyHasASentence(t *testing.T) {
	text := read(t, "docs/dependencies.md")
	report(t, "docs/dependencies.md", checkDependencies(text, read(t, "go.mod"), goFiles(t)))
	if vendored := "@scalar/api-reference"; !strings.Contains(text, vendored) {
		t.Errorf("docs/dependencies.md: no sentence for %s", vendored)
	}
}

func TestADependencyWithoutASentenceIsFound(t *testing.T) {
	gomod := "module carteira\n\nrequire (\n\texample.com/direct v1.0.0\n\texample.com/used/v2 v2.0.0 // indirect\n\texample.com/deep v1.0.0 // indirect\n)\n\nrequire golang.org/x/one v1.0.0\n"
	source := map[string]string{"a.go": "package a\n\nimport (\n\t\"fmt\"\n\tx \"example.com/used/v2/sub\"\n)\n"}
	sentences := "- `example.com/direct`: a.\n- `example.com/used/v2`: b.\n- `golang.org/x/one`: c.\n"
	wantProblems(t, checkDependencies(sentences, gomod, source))
	wantProblems(t, checkDependencies("- `example.com/old`: o.\n", gomod, source),
		"nothing imports example.com/old", "no sentence for example.com/direct", "no sentence for example.com/used/v2", "no sentence for golang.org/x/one")
}
