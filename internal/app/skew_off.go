//go:build !crashpoints

package app

import "time"

// clock is the machine's.
func clock() func() time.Time { return nil }
