//go:build unix && !linux

package pgserver

// folderInMemory is "": the temporary folder has to do.
func folderInMemory() string { return "" }
