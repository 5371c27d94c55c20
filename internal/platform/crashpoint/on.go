//go:build crashpoints

package crashpoint

import "os"

// Here kills the process when CARTEIRA_CRASH_AT names the point, as a
// power cut would. Only the binary that test/program builds for it has this.
func Here(name string) {
	if os.Getenv("CARTEIRA_CRASH_AT") != name {
		return
	}
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {} // block until the signal arrives
}

// Migration is one more than the program has, in CARTEIRA_TEST_MIGRATION: with it
// the process is one of a newer version. test/chaos has such a process and one
// without it at work on one database.
func Migration() string { return os.Getenv("CARTEIRA_TEST_MIGRATION") }
