// Package crashpoint names the places where crash tests kill the process, for
// every room that promises to survive it. A released binary has none of them.
package crashpoint
