//go:build !crashpoints

package crashpoint

// Here marks where the crash tests kill the process. It does nothing
// here: a released binary has no such hook.
func Here(string) {}

// Migration is that of a newer version of the program, which is none here.
func Migration() string { return "" }
