//go:build !linux

package sqldb

import "syscall"

// limitUnacknowledged has nothing to set: keepalive and the deadlines of
// statements find out that a server is gone.
func limitUnacknowledged(string, string, syscall.RawConn) error { return nil }
