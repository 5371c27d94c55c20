package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carteira/test/kit/housetest"
)

func TestCommandsOfAnInstalledPackageReadItsEnvironmentFile(t *testing.T) {
	file, program := environmentFile, installedProgram
	t.Cleanup(func() { environmentFile, installedProgram = file, program })
	environmentFile = filepath.Join(t.TempDir(), "carteira.env")
	housetest.Must(t, os.WriteFile(environmentFile, []byte(
		"# the service's\nCARTEIRA_DATA_DIR=/var/lib/carteira\n; more\nCARTEIRA_LISTEN=\"127.0.0.1:8080\"\nCARTEIRA_PUBLIC_URL='https://a.example'\n"), 0o600))
	environment := func(name string) (string, bool) { return "from outside", name == "CARTEIRA_LISTEN" }
	want := func(name, wanted string, given bool) {
		t.Helper()
		lookup, err := withEnvironmentFile(environment)
		housetest.Must(t, err)
		if got, ok := lookup(name); got != wanted && ok || ok != given {
			t.Errorf("%s is %q, %v; want %q", name, got, ok, wanted)
		}
	}
	want("CARTEIRA_DATA_DIR", "", false) // this program is not the installed one
	var err error
	installedProgram, err = os.Executable()
	housetest.Must(t, err)
	want("CARTEIRA_DATA_DIR", "/var/lib/carteira", true)
	want("CARTEIRA_PUBLIC_URL", "https://a.example", true)
	want("CARTEIRA_LISTEN", "from outside", true)
	environmentFile += ".missing"
	want("CARTEIRA_DATA_DIR", "", false)
}

func TestCommandThatListsMakesNoDatabase(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	for _, args := range [][]string{{"company", "list"}, {"plan", "list", "--company", "1"}, {"token", "list", "--company", "1"}} {
		root := newRoot()
		var out bytes.Buffer
		root.SetOut(&out)
		root.SetErr(&out)
		root.SetArgs(append(args, "--data-dir", dir))
		if err := root.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "there is no database") {
			t.Errorf("%v: %v", args, err)
		}
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder: %v, want none", err)
	}
}
