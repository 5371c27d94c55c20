package cli

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestEveryCommandExplainsItself(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	var seen []string
	var walk func(path []string)
	walk = func(path []string) {
		seen = append(seen, strings.Join(path, " "))
		var stdout, stderr strings.Builder
		code := Run(t.Context(), append(path, "--help"), strings.NewReader(""), &stdout, &stderr)
		if code != 0 || stderr.String() != "" || !strings.Contains(stdout.String(), "Usage:\n  carteira") {
			t.Errorf("%v --help: exit code %d\n%s%s", path, code, stdout.String(), stderr.String())
		}
		if _, list, ok := strings.Cut(stdout.String(), "Available Commands:\n"); ok {
			list, _, _ = strings.Cut(list, "\n\n")
			for line := range strings.Lines(list) {
				walk(append(slices.Clone(path), strings.Fields(line)[0]))
			}
		}
	}
	walk(nil)
	for _, command := range []string{
		"demo", "serve", "company create", "token create", "token list", "token delete", "plan create", "product create",
		"import customers", "backup", "migrate", "version",
	} {
		if !slices.Contains(seen, command) {
			t.Errorf("%q is not to be found from the help", command)
		}
	}
	for _, folder := range []string{".", os.Getenv("HOME")} {
		if made, err := os.ReadDir(folder); err != nil || len(made) != 0 {
			t.Errorf("asking for help made %v: %v", made, err)
		}
	}
}
