package outbound

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"syscall"
	"time"
)

// maxAtOnce is how much is written before anybody reads: the system takes that
// much off our hands. More is written beside the reading, since a receiver may
// answer before it has read everything, and then stop.
const maxAtOnce = 16 << 10

var errBigHeaders = errors.New("response headers exceeded the limit")

// line is a connection that speaks HTTP/1.1, one call at a time. The goroutine
// of the call writes and reads by itself: net/http has two more for each
// connection, and handing over to them cost as much as the exchange. An HTTP/2
// receiver may fill megabytes of window before anybody reads, and a handful of
// calls at once has nothing to multiplex.
type line struct {
	client *Client
	route  route
	conn   net.Conn // with TLS, unless the route is plain
	wire   net.Conn // without
	raw    syscall.RawConn
	reader *bufio.Reader
	left   int  // how much may still be read
	heard  bool // the receiver has answered something to this call
	since  time.Time
}

func newLine(client *Client, route route, conn, wire net.Conn) *line {
	line := &line{client: client, route: route, conn: conn, wire: wire}
	if socket, ok := wire.(syscall.Conn); ok {
		line.raw, _ = socket.SyscallConn()
	}
	line.reader = bufio.NewReader(line)
	return line
}

// Read reads no more than is left.
func (l *line) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errBigHeaders
	}
	n, err := l.conn.Read(p[:min(len(p), l.left)])
	l.left -= n
	l.heard = l.heard || n > 0
	return n, err
}

// exchange sends a request and reads the head of the answer. It ends with ctx,
// and so does the reading of the body. The body must be closed, and gives the
// connection back.
func (l *line) exchange(ctx context.Context, request []byte) (*http.Response, error) {
	stop := context.AfterFunc(ctx, l.cut)
	l.left, l.heard = maxHeader, false
	response, err := l.ask(request)
	if err != nil {
		stop()
		_ = l.wire.Close()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, err
	}
	l.left = math.MaxInt
	response.Body = &lineBody{
		line:  l,
		body:  response.Body,
		stop:  stop,
		keep:  !l.client.once && !response.Close && response.StatusCode/100 == 2,
		whole: response.Body == http.NoBody,
	}
	return response, nil
}

// cut ends what is being read or written.
func (l *line) cut() { _ = l.wire.SetDeadline(time.Unix(1, 0)) }

func (l *line) ask(request []byte) (*http.Response, error) {
	if len(request) <= maxAtOnce {
		if _, err := l.conn.Write(request); err != nil {
			return nil, err
		}
		return l.readHead()
	}
	request = slices.Clone(request) // the buffer is used again when the call has ended
	written := make(chan error, 1)
	go func() {
		_, err := l.conn.Write(request)
		written <- err
	}()
	response, err := l.readHead()
	select {
	case failure := <-written:
		err = errors.Join(err, failure)
	default:
		if response != nil {
			response.Close = true
		}
	}
	return response, err
}

// readHead reads the head of an answer. Those before it that are only news of it
// count to the same limit.
func (l *line) readHead() (*http.Response, error) {
	for {
		response, err := http.ReadResponse(l.reader, nil)
		switch {
		case err != nil && l.left <= 0:
			return nil, errBigHeaders // whatever a head that was cut short looks like
		case err != nil:
			return nil, err
		case response.StatusCode >= 200 || response.StatusCode == http.StatusSwitchingProtocols:
			return response, nil
		}
	}
}

// lineBody is the body of an answer.
type lineBody struct {
	line  *line
	body  io.Reader // its own Close would read to the end, however far that is
	stop  func() bool
	keep  bool // the receiver accepted, and the connection may be used again
	whole bool // everything was read
}

func (b *lineBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	b.whole = b.whole || errors.Is(err, io.EOF)
	return n, err
}

// Close keeps the connection for the next call, or ends it. Receivers that refuse
// what they get would otherwise push those of others out of the kept connections.
func (b *lineBody) Close() error {
	if b.stop == nil {
		return nil
	}
	inTime := b.stop()
	b.stop = nil
	switch line := b.line; {
	case !inTime || !b.whole:
		return line.wire.Close() // without a word, for which there may be no room
	case b.keep && line.reader.Buffered() == 0:
		line.client.kept.put(line)
		return nil
	default:
		return line.conn.Close()
	}
}
