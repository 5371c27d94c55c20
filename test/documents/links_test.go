package documents

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\[[^\]]+\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// checkLinks finds links to files and headings that do not exist.
func checkLinks(fsys fs.FS, name, text string) []string {
	var problems []string
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		file, anchor, _ := strings.Cut(m[1], "#")
		if strings.Contains(file, "://") {
			continue
		}
		to := path.Join(path.Dir(name), file)
		if file == "" {
			to = name
		}
		if _, err := fs.Stat(fsys, to); err != nil {
			problems = append(problems, "the link to "+m[1]+" leads nowhere")
			continue
		}
		if anchor != "" && !hasHeading(fsys, to, anchor) {
			problems = append(problems, to+" has no heading #"+anchor)
		}
	}
	return problems
}

func hasHeading(fsys fs.FS, name, anchor string) bool {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(heading.FindAllStringSubmatch(string(text), -1), func(m []string) bool {
		slug := strings.ReplaceAll(strings.ToLower(m[1]), " ", "-")
		return regexp.MustCompile(`[^\w-]`).ReplaceAllString(slug, "") == anchor
	})
}

func TestLinksLeadSomewhere(t *testing.T) {
	for name, text := range documents(t) {
		report(t, name, checkLinks(os.DirFS(root), name, text))
	}
}

func TestABrokenLinkIsFound(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("# One\n## The second, part\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := "[a](../a.md) [b](../a.md#the-second-part) [c](https://example.com/x) [d](../b.md) [e](../a.md#third)"
	wantProblems(t, checkLinks(os.DirFS(dir), "docs/x.md", text), "the link to ../b.md", "a.md has no heading #third")
}

// checkDecision wants a decision to be short and in the form of the others.
func checkDecision(name, text string, number int) []string {
	var problems []string
	if n := strings.Count(text, "\n"); n > 40 {
		problems = append(problems, fmt.Sprintf("%d lines; a decision has at most 40", n))
	}
	var heads []string
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		heads = append(heads, m[1])
	}
	prefix := fmt.Sprintf("%04d", number)
	if !strings.HasPrefix(name, prefix+"-") || len(heads) == 0 || !strings.HasPrefix(heads[0], prefix+". ") {
		problems = append(problems, "its name and its title should begin with "+prefix)
	}
	if len(heads) == 0 || !slices.Equal(heads[1:], []string{"Context", "Decision", "Consequence"}) {
		problems = append(problems, "its parts should be Context, Decision, Consequence")
	}
	return problems
}

// A number that is missing is one of history.md, which says what replaced it.
func TestDecisionsAreNumberedAndShort(t *testing.T) {
	names, err := fs.Glob(os.DirFS(root), "docs/adr/*")
	if err != nil || len(names) < 10 {
		t.Fatalf("%d decisions, %v", len(names), err)
	}
	history, next := read(t, "docs/history.md"), 1
	for _, name := range names {
		for ; strings.Contains(history, fmt.Sprintf("\n- %04d, ", next)); next++ {
		}
		report(t, name, checkDecision(path.Base(name), read(t, name), next))
		next++
	}
}

func TestADecisionOutOfFormIsFound(t *testing.T) {
	good := "# 0002. X\n## Context\n## Decision\n## Consequence\n"
	wantProblems(t, checkDecision("0002-x.md", good, 2))
	wantProblems(t, checkDecision("0003-x.md", good, 2), "should begin with 0002")
	wantProblems(t, checkDecision("0002-x.md", "# 0002. X\n## Decision\n", 2), "Context, Decision, Consequence")
	wantProblems(t, checkDecision("0002-x.md", good+strings.Repeat("\n", 40), 2), "44 lines")
	wantProblems(t, checkDecision("0002-x.md", "", 2), "should begin with 0002", "Context")
}
