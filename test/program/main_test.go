package program

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"testing"

	"carteira/test/kit/sqldbtest"
)

// binary is the program under test.
var binary string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "carteira-program-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "carteira")
	if err := build(binary); err != nil {
		fmt.Fprintln(os.Stderr, "build the program:", err)
		return 1
	}
	// Most of the time a test waits for the program, which mostly waits as well.
	if err := flag.Set("test.parallel", strconv.Itoa(max(8, runtime.GOMAXPROCS(0)))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := sqldbtest.Drop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func build(to string, args ...string) error {
	args = append([]string{"build", "-ldflags=-w", "-o", to}, args...)
	if underRace() {
		args = append(args, "-race")
	}
	command := exec.Command("go", append(args, "carteira/cmd/carteira")...)
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	return command.Run()
}

// mortal builds the program with the points at which it can be made to die.
var mortal = sync.OnceValues(func() (string, error) {
	to := binary + "-crashpoints"
	return to, build(to, "-tags", "crashpoints")
})

// underRace reports whether these tests were built with the race detector:
// the program is then built with it too.
func underRace() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.ContainsFunc(info.Settings, func(setting debug.BuildSetting) bool { return setting.Key == "-race" && setting.Value == "true" })
}

// need skips a test that uses a program this machine lacks, except where a
// green run is taken for the whole truth.
func need(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err == nil {
		return path
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed", program)
	}
	t.Skipf("%s is not installed; `make test` installs it where it may", program)
	return ""
}
