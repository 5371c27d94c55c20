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
		fd, millis := int(descriptor), int(userTimeout.Milliseconds()) //nolint:gosec // a descriptor fits an int
		failed = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, tcpUserTimeout, millis)
	})
	if err != nil {
		return err
	}
	return failed
}
