//go:build !race

package sqldbtest

// Raced tells that the race detector is on.
const Raced = false
