//go:build !linux

package sqldb_test

func runOutOfDescriptors(string) {}
