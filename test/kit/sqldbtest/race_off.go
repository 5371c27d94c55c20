//go:build !race

package sqldbtest

// Raced reports whether the race detector is on.
const Raced = false
