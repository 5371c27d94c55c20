//go:build crashpoints

package app

import (
	"os"
	"time"
)

// clock is wrong by CARTEIRA_CLOCK_SKEW. Only the binary that test/chaos builds
// for it has this: a released one goes by the machine's clock.
func clock() func() time.Time {
	skew, err := time.ParseDuration(os.Getenv("CARTEIRA_CLOCK_SKEW"))
	if err != nil {
		return nil
	}
	return func() time.Time { return time.Now().Add(skew) }
}
