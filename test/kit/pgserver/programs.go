//go:build unix

package pgserver

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

var errMissing = errors.New("no PostgreSQL server programs in PATH or /usr/lib/postgresql: install PostgreSQL 15 or " +
	"newer with its contrib extensions (Debian: apt-get install postgresql), or set CARTEIRA_TEST_POSTGRES_URL")

// programs returns the folder of the server programs, installing them if they
// are missing and this user may.
func programs() (string, error) {
	if dir := findPrograms(); dir != "" {
		return dir, nil
	}
	if err := install(); err != nil {
		return "", err
	}
	if dir := findPrograms(); dir != "" {
		return dir, nil
	}
	return "", errMissing
}

// findPrograms prefers what the user put in PATH; Debian keeps its own out of it.
func findPrograms() string {
	var dirs []string
	if postgres, err := exec.LookPath("postgres"); err == nil {
		dirs = append(dirs, filepath.Dir(postgres))
	}
	debian, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.SortFunc(debian, func(a, b string) int { return cmp.Compare(version(b), version(a)) })
	dirs = append(dirs, debian...)
	i := slices.IndexFunc(dirs, complete)
	if i < 0 {
		return ""
	}
	return dirs[i]
}

func version(bin string) float64 {
	v, _ := strconv.ParseFloat(filepath.Base(filepath.Dir(bin)), 64)
	return v
}

// complete reports whether a folder has a server, and not only the client.
func complete(dir string) bool {
	for _, name := range []string{"initdb", "pg_basebackup", "pg_ctl", "pg_isready", "postgres", "psql"} {
		if _, err := exec.LookPath(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// install takes no context: killing a dpkg at work leaves packages half set up.
func install() error {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return errMissing
	}
	// RUNLEVEL=1 keeps the package from starting a server of its own.
	prefix := []string{"env", "RUNLEVEL=1", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"}
	if os.Geteuid() != 0 {
		if exec.Command("sudo", "-n", "true").Run() != nil {
			return errMissing
		}
		prefix = append([]string{"sudo", "-n"}, prefix...)
	}
	fmt.Fprintln(os.Stderr,
		"pgserver: no PostgreSQL server programs found; installing the package postgresql with apt-get")
	for _, step := range [][]string{{"update"}, {"install", "-y", "--no-install-recommends", "postgresql"}} {
		argv := slices.Concat(prefix, step)
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("apt-get %s: %w", step[0], err)
		}
	}
	return nil
}
