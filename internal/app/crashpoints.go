//go:build crashpoints

package app

import (
	"os"

	"carteira/internal/platform/crashpoint"
)

// The places are armed before main begins, in the binary that the crash tests build.
var _ = arm()

func arm() bool {
	crashpoint.Kill = dieAt
	crashpoint.Migration = os.Getenv("CARTEIRA_TEST_MIGRATION")
	return true
}

// dieAt kills the process where CARTEIRA_CRASH_AT names the place, as a power cut
// would.
func dieAt(name string) {
	if os.Getenv("CARTEIRA_CRASH_AT") != name {
		return
	}
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {} // block until the signal arrives
}
