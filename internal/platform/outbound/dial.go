package outbound

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"time"
)

// maxHandshake bounds what a receiver may say before TLS is up, certificates
// included. Real ones need less than 10 KiB; Go itself would take 256.
const maxHandshake = 64 << 10

var errHandshakeTooLong = errors.New("TLS handshake is too long")

// A route is where a connection leads: the checked address, and the name that
// TLS must prove there. Connections are kept by route, so that one is used again
// only by a send that was checked for the very same address and that expects the
// very same name; a name that moved leaves its old connections to die of age.
// The address alone would not do: two names on one address would share a
// connection proven for one of them.
type route struct {
	addr  netip.Addr
	port  uint16
	name  string
	plain bool // without TLS, into the operator's own network
}

func routeTo(addr netip.Addr, target target) route {
	return route{addr: addr, port: target.port, name: target.host, plain: target.plain}
}

// open connects to a route.
func (c *Client) open(ctx context.Context, route route, by time.Time) (*line, error) {
	wire, err := c.connect(ctx, by, netip.AddrPortFrom(route.addr, route.port).String())
	if err != nil {
		return nil, &unreachedError{err}
	}
	conn := wire
	if !route.plain {
		if conn, err = c.secure(ctx, wire, route.name); err != nil {
			_ = wire.Close()
			return nil, &handshakeError{err}
		}
	}
	return newLine(c, route, conn, wire), nil
}

// secure proves the name of a connection.
func (c *Client) secure(ctx context.Context, wire net.Conn, name string) (net.Conn, error) {
	measured := &handshakeConn{Conn: wire, left: maxHandshake}
	config := c.tls.Clone()
	config.ServerName = name
	conn := tls.Client(measured, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	measured.done = true
	return conn, nil
}

func (c *Client) connect(ctx context.Context, by time.Time, address string) (net.Conn, error) {
	ctx, cancel := context.WithDeadline(ctx, by)
	defer cancel()
	return c.dial(ctx, "tcp", address)
}

// unreachedError says that no connection came about, so that another address
// of the same name may be tried.
type unreachedError struct{ cause error }

func (e *unreachedError) Error() string { return e.cause.Error() }
func (e *unreachedError) Unwrap() error { return e.cause }

func isUnreached(err error) bool {
	_, ok := errors.AsType[*unreachedError](err)
	return ok && !errors.Is(err, ErrRefused)
}

// unsentError says that there was no connection to send anything on.
type unsentError struct{ cause error }

func (e *unsentError) Error() string { return e.cause.Error() }
func (e *unsentError) Unwrap() error { return e.cause }

// Unsent reports whether it is certain that the receiver got nothing of a call
// that failed: the address was refused or not found, or no connection came
// about.
func Unsent(err error) bool {
	_, unconnected := errors.AsType[*unsentError](err)
	return unconnected || errors.Is(err, ErrRefused) || errors.Is(err, errNoAddress)
}

// handshakeError says that TLS did not come about.
type handshakeError struct{ cause error }

func (e *handshakeError) Error() string { return e.cause.Error() }
func (e *handshakeError) Unwrap() error { return e.cause }

// handshakeConn reads no more than left bytes until the handshake is done.
type handshakeConn struct {
	net.Conn
	left int
	done bool
}

func (c *handshakeConn) Read(p []byte) (int, error) {
	if c.done {
		return c.Conn.Read(p)
	}
	if c.left <= 0 {
		return 0, errHandshakeTooLong
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}
