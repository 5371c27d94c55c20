//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"
)

// client is one keep-alive connection that sends finished requests and reads of
// the answers only what it must: a costlier one would take from the server the
// cores that they share.
type client struct {
	conn net.Conn
	buf  []byte
}

func dial(ctx context.Context, addr string) (*client, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &client{conn, make([]byte, 256<<10)}, nil
}

// called starts a process on a dataset and dials it; stop ends both.
func called(
	ctx context.Context, start func(context.Context, *dataset) (*process, error), set *dataset,
) (dialled *client, stop func(), err error) {
	process, err := start(ctx, set)
	if err != nil {
		return nil, nil, err
	}
	dialled, err = dial(ctx, process.addr)
	if err != nil {
		process.stop()
		return nil, nil, err
	}
	return dialled, func() { dialled.close(); process.stop() }, nil
}

func (c *client) close() { _ = c.conn.Close() }

var (
	headEnd       = []byte("\r\n\r\n")
	contentLength = []byte("\r\nContent-Length: ")
	chunked       = []byte("\r\nTransfer-Encoding: chunked")
	lastChunk     = []byte("\r\n0\r\n\r\n") // JSON has no line break of this kind in it
)

// answerTimeout is how long the slowest answer may take.
const answerTimeout = 60 * time.Second

// do sends a request and returns the body of the answer, which is good until
// the next call. A body that came in chunks is returned with the marks between
// them. An answer that is not 200 is an error.
func (c *client) do(request []byte) ([]byte, error) {
	if err := c.conn.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
		return nil, err
	}
	if _, err := c.conn.Write(request); err != nil {
		return nil, err
	}
	have, end := 0, -1
	for end < 0 {
		n, err := c.conn.Read(c.buf[have:])
		if err != nil {
			return nil, err
		}
		have += n
		end = bytes.Index(c.buf[:have], headEnd)
	}
	body := end + len(headEnd)
	whole, err := c.readBody(c.buf[:end+2], body, have)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(c.buf, []byte("HTTP/1.1 200 ")) {
		return nil, fmt.Errorf("%s answered %.12s: %.300s", firstLine(request), c.buf, c.buf[body:whole])
	}
	return c.buf[body:whole], nil
}

// readBody reads on until the answer that begins with head is whole, and
// returns where it ends. The body begins at body, and have bytes are here.
func (c *client) readBody(head []byte, body, have int) (int, error) {
	if bytes.Contains(head, chunked) {
		for !bytes.HasSuffix(c.buf[body-2:have], lastChunk) {
			n, err := c.conn.Read(c.buf[have:])
			if err != nil {
				return 0, err
			}
			have += n
		}
		return have, nil
	}
	length, err := lengthOf(head)
	if err != nil {
		return 0, err
	}
	whole := body + length
	if whole > len(c.buf) {
		return 0, fmt.Errorf("an answer of %d bytes", length)
	}
	for have < whole {
		n, err := c.conn.Read(c.buf[have:whole])
		if err != nil {
			return 0, err
		}
		have += n
	}
	return whole, nil
}

func lengthOf(head []byte) (int, error) {
	_, rest, found := bytes.Cut(head, contentLength)
	if !found {
		return 0, errors.New("an answer without Content-Length")
	}
	digits, _, _ := bytes.Cut(rest, []byte("\r"))
	return strconv.Atoi(string(digits))
}

func firstLine(request []byte) []byte {
	line, _, _ := bytes.Cut(request, []byte("\r\n"))
	return bytes.TrimSuffix(line, []byte(" HTTP/1.1"))
}

// maxConns bounds the connections of a load.
const maxConns = 1024

// requests makes the requests of one connection, one after the other.
type requests func() []byte

// load sends requests on conns connections for a while and returns how many
// were answered. The first failure ends it.
func load(ctx context.Context, addr string, conns int, span time.Duration, make func(conn int) requests) (int, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	until := time.Now().Add(span)
	answered := [maxConns]struct {
		n int
		_ [56]byte // connections count on cache lines of their own
	}{}
	var running sync.WaitGroup
	for i := range conns {
		running.Go(func() {
			client, err := dial(ctx, addr)
			if err != nil {
				cancel(err)
				return
			}
			defer client.close()
			next := make(i)
			for time.Now().Before(until) && ctx.Err() == nil {
				if _, err := client.do(next()); err != nil {
					cancel(err)
					return
				}
				answered[i].n++
			}
		})
	}
	running.Wait()
	sum := 0
	for i := range answered {
		sum += answered[i].n
	}
	return sum, context.Cause(ctx)
}
