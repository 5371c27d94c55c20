package outbound

import (
	"context"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"net"
	"net/netip"
	"strings"
	"time"
)

// maxHandshake bounds what a receiver may say before TLS is up, certificates
// included. Real ones need less than 10 KiB; Go itself would take 256.
const maxHandshake = 64 << 10

var errHandshakeTooLong = errors.New("TLS handshake is too long")

// A route is the host that the transport sees: the checked address, in hex,
// then the name that TLS must prove. The transport keeps idle connections by
// host, so that one is used again only by a send that was checked for the very
// same address and that expects the very same name; a name that moved leaves
// its old connections to die of age. The address alone would not do: two names
// on one address would share a connection proven for one of them.
func route(addr netip.Addr, target target) string {
	r := hex.EncodeToString(addr.AsSlice())
	if target.addr.IsValid() {
		return r
	}
	return r + "." + target.host
}

func parseRoute(r string) (addr netip.Addr, name string, err error) {
	first, name, named := strings.Cut(r, ".")
	decoded, err := hex.DecodeString(first)
	if err != nil {
		return addr, "", err
	}
	addr, ok := netip.AddrFromSlice(decoded)
	if !ok {
		return addr, "", errors.New("not a route: " + r)
	}
	if !named {
		name = addr.String()
	}
	return addr, name, nil
}

// send is what a dial must know of the call that it is for. The call's context
// is in it because the transport takes cancellation away from the contexts of
// dials, which would leave a stalled handshake behind after its call ended.
type send struct {
	call      context.Context
	connectBy time.Time
}

type sendKey struct{}

// dialPlain connects to a route in the operator's own network, for the call
// whose send is in ctx.
func (c *Client) dialPlain(ctx context.Context, _, hostPort string) (net.Conn, error) {
	conn, _, err := c.dialRoute(ctx, hostPort)
	return conn, err
}

// dialRoute connects to a route and returns the name that TLS must prove.
func (c *Client) dialRoute(
	ctx context.Context,
	hostPort string,
) (conn net.Conn, name string, err error) {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, "", err
	}
	addr, name, err := parseRoute(host)
	if err != nil {
		return nil, "", err
	}
	s := ctx.Value(sendKey{}).(*send)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.call, cancel)() //nolint:contextcheck // see send
	conn, err = c.connect(ctx, s.connectBy, net.JoinHostPort(addr.String(), port))
	if err != nil {
		return nil, "", &unreachedError{err}
	}
	return conn, name, nil
}

// dialTLS connects to a route, for the call whose send is in ctx.
func (c *Client) dialTLS(ctx context.Context, _, hostPort string) (net.Conn, error) {
	plain, name, err := c.dialRoute(ctx, hostPort)
	if err != nil {
		return nil, err
	}
	s := ctx.Value(sendKey{}).(*send)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.call, cancel)() //nolint:contextcheck // see send
	measured := &handshakeConn{Conn: plain, left: maxHandshake}
	config := c.tls.Clone()
	config.ServerName = name
	conn := tls.Client(measured, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = plain.Close()
		return nil, &handshakeError{err}
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
