package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

func measured(t *testing.T, files map[string]string) map[string]string {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	metrics, err := measure(fsys)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for _, row := range metrics.rows() {
		values[row.name] = row.value
	}
	return values
}

func TestProgramIsMeasuredAndTestsAreNot(t *testing.T) {
	got := measured(t, map[string]string{
		"go.mod": "module x",
		"a/a.go": `// Package a is one.
package a

// Service is the room.
type Service struct{}

type helper struct {
	*Service
	name string
}

type Gate interface{ Open() }

// Sum has six parameters, one of them a bool.
func (s *Service) Sum(ctx, first, b int, deep bool, e, f string) (total int, err error) { // TODO
	for i := range first {
		if i > b && deep {
			switch {
			case i == 1:
				total += i
			default:
				total--
			}
		} else if i < 0 {
			return 0, nil
		}
	}
	return total, nil
}
`,
		"a/a_test.go":     "package a\nfunc TestSum(t int) {\n\n}\n",
		"a/atest/kit.go":  "package atest\nfunc Kit(a, b, c, d, e int) {}\n",
		"test/x/main.go":  "package main\nfunc main() {}\n",
		"b/b.go":          "package b\n\nfunc b() {}\n",
		"nested/go.mod":   "module nested",
		"nested/n.go":     "package nested\nfunc N() {}\n",
		"a/testdata/x.go": "not Go",
	})
	for name, want := range map[string]string{
		"functions": "2",
		"function lines: median / p90 / p99 / max": "1 / 15 / 15 / 15",
		"cyclomatic: median / p90 / p99 / max":     "1 / 6 / 6 / 6",
		"parameters: median / p90 / p99 / max":     "0 / 6 / 6 / 6",
		"deepest nesting":                          "3",
		"bool parameters per 100 functions":        "50.0",
		"local names of one letter, %":             "57.1", // b, e, f, i of first, b, deep, e, f, total, i
		"structs that embed their service":         "1",
		"interfaces":                               "1",
		"undocumented exports, %":                  "33.3", // Gate of Service, Gate, Sum
		"packages with a doc":                      "1/2",
		"TODO/FIXME":                               "1",
		"longest test function":                    "3",
		"test / code":                              "0.29",
	} {
		if got[name] != want {
			t.Errorf("%s: %s, want %s", name, got[name], want)
		}
	}
}

func TestTokensAreCountedWithoutCommentsAndTheScannersOwn(t *testing.T) {
	scanned := scan([]byte("package a // b c d\n\nvar x = 1 + 2\n/* e\nf */\n"))
	if len(scanned.offsets) != 8 || scanned.codeLines != 2 || scanned.commentLines != 3 {
		t.Errorf("%d tokens, %d lines of code, %d of comments", len(scanned.offsets), scanned.codeLines, scanned.commentLines)
	}
}

func TestSourceThatDoesNotParseIsNamed(t *testing.T) {
	_, err := measure(fstest.MapFS{"a/a.go": {Data: []byte("package")}})
	if err == nil || !strings.Contains(err.Error(), "a/a.go") {
		t.Errorf("got %v", err)
	}
}
