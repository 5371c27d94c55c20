package sqldbtest

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Wire lies between the program and PostgreSQL, and can be cut.
type Wire struct {
	URL     string // of the database, through the wire
	Address string

	to     string
	mu     sync.Mutex
	closed func()
	conns  []net.Conn
}

// NewWire puts a wire before the database of a URL.
func NewWire(tb testing.TB, database string) *Wire {
	tb.Helper()
	address, err := url.Parse(database)
	if err != nil {
		tb.Fatal(err)
	}
	w := &Wire{to: address.Host, Address: "127.0.0.1:0"}
	w.Mend(tb)
	tb.Cleanup(w.Cut)
	address.Host = w.Address
	w.URL = address.String()
	return w
}

// Mend lets connections through, at the same address as before.
func (w *Wire) Mend(tb testing.TB) {
	tb.Helper()
	listener, err := net.Listen("tcp", w.Address)
	if err != nil {
		tb.Fatal(err)
	}
	w.Address = listener.Addr().String()
	w.closed = func() { _ = listener.Close() }
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			w.join(near)
		}
	}()
}

func (w *Wire) join(near net.Conn) {
	far, err := net.Dial("tcp", w.to)
	if err != nil {
		_ = near.Close()
		return
	}
	w.mu.Lock()
	w.conns = append(w.conns, near, far)
	w.mu.Unlock()
	for _, pair := range [][2]net.Conn{{near, far}, {far, near}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1])
			_ = pair[0].Close()
		}()
	}
}

// Cut breaks every connection and refuses new ones.
func (w *Wire) Cut() {
	w.closed()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, conn := range w.conns {
		_ = conn.Close()
	}
	w.conns = nil
}
