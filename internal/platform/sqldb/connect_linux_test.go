package sqldb_test

import (
	"net"
	"syscall"
	"testing"

	"carteira/internal/platform/sqldb"
)

func TestKernelGivesUpAServerThatVanishedWithinSeconds(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	conn, err := sqldb.Dial(t.Context(), server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	const tcpUserTimeout = 0x12
	for option, want := range map[int]int{
		tcpUserTimeout: 10_000, syscall.TCP_KEEPIDLE: 5, syscall.TCP_KEEPINTVL: 3, syscall.TCP_KEEPCNT: 3,
	} {
		var got int
		var failed error
		if err := raw.Control(func(descriptor uintptr) {
			got, failed = syscall.GetsockoptInt(int(descriptor), syscall.IPPROTO_TCP, option)
		}); err != nil || failed != nil || got != want {
			t.Errorf("option %d is %d, want %d: %v %v", option, got, want, err, failed)
		}
	}
}
