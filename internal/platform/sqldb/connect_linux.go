package sqldb

import "syscall"

// tcpUserTimeout is TCP_USER_TIMEOUT of linux/tcp.h, in milliseconds.
const tcpUserTimeout = 0x12

func limitUnacknowledged(network, _ string, conn syscall.RawConn) error {
	if network == "unix" {
		return nil
	}
	var failed error
	err := conn.Control(func(descriptor uintptr) {
		failed = syscall.SetsockoptInt(int(descriptor), syscall.IPPROTO_TCP, tcpUserTimeout, int(userTimeout.Milliseconds())) //nolint:gosec // a descriptor fits an int
	})
	if err != nil {
		return err
	}
	return failed
}
