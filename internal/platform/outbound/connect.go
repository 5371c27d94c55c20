package outbound

import (
	"context"
	"net"
	"strconv"
	"time"
)

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

// Explain is the *Error of a failure on a connection, so that its owner can be
// told the reason.
func Explain(ctx context.Context, err error) error {
	return explain(context.WithoutCancel(ctx), ctx, err)
}
