//go:build race

package customer

// raced tells that the race detector is on. SQLite, which is Go here, is then
// some fifty times slower.
const raced = true
