package outbound

import (
	"context"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"time"
)

// maxHandshake bounds what a receiver may say before TLS is up, certificates
// included. Real ones need less than 10 KiB; Go itself would take 256.
const maxHandshake = 64 << 10

var errHandshakeTooLong = errors.New("TLS handshake is too long")

// A route is where a call leads: the checked address, and the name that TLS must
// prove there. It travels in the context of the request to the dialer.
type route struct {
	addr      netip.Addr
	target    target
	connectBy time.Time
	// onEnd runs a function when the call ends. The transport takes cancellation
	// away from the contexts of dials, which would leave a stalled handshake behind.
	onEnd func(func()) (stop func() bool)
}

type routeKey struct{}

// key is the host that the transport sees, by which it keeps idle connections:
// one is used again only by a call that was checked for the same address and
// expects the same name. A name that moved leaves its old connections to die of
// age, and two names on one address share none.
func (r route) key() string {
	name := hex.EncodeToString(r.addr.AsSlice())
	if !r.target.addr.IsValid() {
		name += "." + r.target.host
	}
	return net.JoinHostPort(name, strconv.Itoa(int(r.target.port)))
}

// dialRoute connects to the route of the call that ctx belongs to.
func (c *Client) dialRoute(ctx context.Context, _, _ string) (net.Conn, error) {
	route := ctx.Value(routeKey{}).(route)
	ctx, cancel := context.WithDeadline(ctx, route.connectBy)
	defer cancel()
	defer route.onEnd(cancel)()
	conn, err := c.dial(ctx, "tcp", netip.AddrPortFrom(route.addr, route.target.port).String())
	if err != nil {
		return nil, &unreachedError{err}
	}
	return conn, nil
}

// dialTLS connects to a route and proves its name.
func (c *Client) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	plain, err := c.dialRoute(ctx, network, address)
	if err != nil {
		return nil, err
	}
	route := ctx.Value(routeKey{}).(route)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer route.onEnd(cancel)()
	measured := &handshakeConn{Conn: plain, left: maxHandshake}
	config := c.tls.Clone()
	config.ServerName = route.target.host
	conn := tls.Client(measured, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = plain.Close()
		return nil, &handshakeError{err}
	}
	measured.done = true
	return conn, nil
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

// Connection is a connection to a host that a customer named, for protocols
// other than HTTP. Reading and writing end with the time of the call that
// opened it.
type Connection struct {
	net.Conn
	Name   string // what TLS must prove
	Inside bool   // it leads into a network that the operator allowed
}

// Connect connects to a host by the rules of the gate: every address is
// checked, and the one that is dialled is one of those. The connection ends
// with ctx.
func (g *Gate) Connect(ctx context.Context, host string, port int) (*Connection, error) {
	connection, err := g.connect(ctx, host, port)
	if err != nil {
		return nil, Explain(ctx, &unsentError{err})
	}
	return connection, nil
}

func (g *Gate) connect(ctx context.Context, host string, port int) (*Connection, error) {
	target, err := parseHost(host, g.near)
	if err != nil {
		return nil, err
	}
	addrs, err := g.lookup(ctx, target)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Control: g.control}
	deadline, limited := ctx.Deadline()
	addrs = addrs[:min(len(addrs), maxTries)]
	for i, addr := range addrs {
		dialer.Deadline = time.Time{}
		if limited { // a dead address leaves some time for the next
			dialer.Deadline = time.Now().Add(time.Until(deadline) / time.Duration(len(addrs)-i))
		}
		var conn net.Conn
		conn, err = dialer.DialContext(ctx, "tcp", net.JoinHostPort(addr.String(), strconv.Itoa(port)))
		if err == nil {
			context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
			return &Connection{Conn: conn, Name: target.host, Inside: within(g.allow, addr)}, nil
		}
	}
	return nil, err
}

// Explain returns the *Error of a failure on a connection, with a reason for
// the owner of the address.
func Explain(ctx context.Context, err error) error {
	return explain(context.WithoutCancel(ctx), ctx, err)
}
