package browser

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// seeded makes the company of the demo once: it lives through 14 months, and each
// test begins with a copy of what they left.
var seeded = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(folder, "demo")
	cmd := exec.Command(binary, "demo", "--data", dir, "--listen", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	for printed := ""; !strings.Contains(printed, "Paste this"); {
		some := make([]byte, 4096)
		n, err := out.Read(some)
		if err != nil {
			return "", err
		}
		printed += string(some[:n])
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		return "", err
	}
	return dir, cmd.Wait()
})

// startDemo serves a demo of the test's own.
func startDemo(t *testing.T) *program {
	t.Helper()
	t.Parallel()
	dir := copied(t, seeded)
	p := &program{t: t, dir: dir}
	p.launch("Paste this", "demo", "--data", dir)
	return p
}

// copied is a folder of the test's own with what another was filled with.
func copied(t *testing.T, filled func() (string, error)) string {
	t.Helper()
	from, err := filled()
	if err != nil {
		t.Fatalf("fill a folder: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "secret.key"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
