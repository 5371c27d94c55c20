package documents

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

// read returns a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// documents are the texts for people, by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/adr/*.md", "clients/*/README.md", "integrations/*/README.md"} {
		names, err := fs.Glob(os.DirFS(root), pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d documents, %v", pattern, len(names), err)
		}
		for _, name := range names {
			texts[name] = read(t, name)
		}
	}
	return texts
}

func report(t *testing.T, document string, problems []string) {
	t.Helper()
	for _, problem := range problems {
		t.Errorf("%s: %s", document, problem)
	}
}

// wantProblems fails unless there is one problem for each wanted text.
func wantProblems(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("problems %q, want %q", got, want)
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("problem %q does not say %q", got[i], want[i])
		}
	}
}

// goFiles is the Go source, by path.
func goFiles(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, dir := range []string{"cmd", "internal", "openapi", "test", "tools"} {
		err := fs.WalkDir(os.DirFS(root), dir, func(name string, _ fs.DirEntry, err error) error {
			if path.Ext(name) == ".go" {
				texts[name] = read(t, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range texts {
		if strings.HasPrefix(name, "internal/architecture/") || strings.HasPrefix(name, "test/documents/") {
			delete(texts, name) // they hold examples
		}
	}
	return texts
}
