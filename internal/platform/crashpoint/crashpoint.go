// Package crashpoint names the places where crash tests kill the process, for
// every room that promises to survive it. A released binary kills at none of them:
// what sets Kill and Migration is in internal/app, behind the build tag crashpoints, so
// that all packages below app are the same in both binaries, and compiled once.
package crashpoint

// Kill is given the name of each place that is reached.
var Kill func(name string)

// Migration is one more than the program has: with it the process is one of a newer
// version. test/chaos has such a process and one without it at work on one database.
var Migration string

// Here marks where the crash tests kill the process.
func Here(name string) {
	if Kill != nil {
		Kill(name)
	}
}
