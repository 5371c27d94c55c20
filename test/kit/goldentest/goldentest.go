// Package goldentest compares JSON with golden files, which -update rewrites.
package goldentest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"carteira/test/kit/housetest"
)

var rewrite = flag.Bool("update", false, "rewrite the golden files in testdata")

// Chances are patterns of what no two runs have alike, each with what golden files have
// instead.
type Chances [][2]string

// IDs are the chances of records and events.
var IDs = Chances{
	{`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`, "00000000-0000-4000-8000-000000000000"},
	{`evt_[0-9A-Z]{26}`, "evt_00000000000000000000000000"},
}

// Want compares a body with the golden file of a name.
func Want(t *testing.T, name, body string, chances Chances) {
	t.Helper()
	for _, chance := range chances {
		body = regexp.MustCompile(chance[0]).ReplaceAllString(body, chance[1])
	}
	var got bytes.Buffer
	housetest.Must(t, json.Indent(&got, []byte(body), "", "  "))
	got.WriteByte('\n')
	file := filepath.Join("testdata", name+".golden.json")
	if *rewrite {
		housetest.Must(t, os.WriteFile(file, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(file)
	housetest.Must(t, err)
	if got.String() != string(want) {
		t.Errorf("%s: got\n%swant\n%s", file, got.String(), want)
	}
}
