//go:build race

package sqldbtest

// Raced reports whether the race detector is on. SQLite, which is Go here, is
// then some fifty times slower.
const Raced = true
