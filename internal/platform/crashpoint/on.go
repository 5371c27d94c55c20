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
