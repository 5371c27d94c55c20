package outbound

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"slices"
	"sync"
	"time"
)

const (
	defaultTimeout = 10 * time.Second
	defaultMaxBody = 16 << 10

	maxHeader      = 16 << 10
	maxIdle        = 1024
	maxIdlePerHost = 4
	idleTime       = 30 * time.Second

	// maxTries bounds how many addresses of one name are dialled for a call, so
	// that a name with a thousand addresses does not make us try them all.
	maxTries = 4
	// maxSettled bounds the addresses that are remembered.
	maxSettled = 1024
)

// Options are the limits of a client; zero values stand for the usual ones.
type Options struct {
	Timeout   time.Duration  // of a whole exchange, name lookup and body included; 10 s
	MaxBody   int            // how much of an answer's body is read; 16 KiB
	BodyTime  time.Duration  // how long it is read for; as long as the exchange may take
	RootCAs   *x509.CertPool // nil for the machine's
	UserAgent string
	// Once is for receivers that would act on a second copy: every call has a
	// connection of its own and is never sent again by itself.
	Once bool
}

// Client posts to addresses that pass its gate, and keeps connections to them.
type Client struct {
	gate      *Gate
	timeout   time.Duration
	maxBody   int
	bodyTime  time.Duration
	userAgent string
	once      bool
	tls       *tls.Config
	transport *http.Transport
	dial      func(ctx context.Context, network, address string) (net.Conn, error)

	mu      sync.Mutex
	settled map[string]netip.Addr // which of several addresses answered last, by host and port
}

// NewClient makes a client behind a gate.
func NewClient(gate *Gate, options Options) *Client {
	client := &Client{
		gate:      gate,
		timeout:   options.Timeout,
		maxBody:   options.MaxBody,
		bodyTime:  options.BodyTime,
		userAgent: options.UserAgent,
		once:      options.Once,
		tls:       &tls.Config{RootCAs: options.RootCAs, MinVersion: tls.VersionTLS12},
		dial:      (&net.Dialer{Control: gate.control}).DialContext,
		settled:   map[string]netip.Addr{},
	}
	if client.timeout <= 0 {
		client.timeout = defaultTimeout
	}
	if client.maxBody <= 0 {
		client.maxBody = defaultMaxBody
	}
	// HTTP/1.1 alone: an HTTP/2 receiver may fill megabytes of window before a
	// call reads, and a handful of calls at once has nothing to multiplex.
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	client.transport = &http.Transport{
		Proxy:                  nil, // a proxy of the environment would bypass the gate
		DialContext:            client.dialRoute,
		DialTLSContext:         client.dialTLS,
		DisableKeepAlives:      options.Once,
		Protocols:              &protocols,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    maxIdlePerHost,
		IdleConnTimeout:        idleTime,
	}
	return client
}

// Close closes the idle connections.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Post sends body to a URL and returns the answer, whatever its status:
// redirects are not followed. An answer that breaks off in its body is an
// answer all the same. An error is an *Error, and the result then has only
// the duration of the call; when ctx itself ended it wraps that and is no
// ErrTimeout.
//
// A receiver that hangs up on a kept connection without a word has most often
// closed it for being idle, so the body is sent again on a new one: receivers
// must bear to get it twice, or be called by a client with Once.
func (c *Client) Post(ctx context.Context, url string, header http.Header, body []byte) (Result, error) {
	return c.timed(ctx, call{http.MethodPost, url, header, body})
}

// Get asks a URL for what is there, and otherwise does as Post does.
func (c *Client) Get(ctx context.Context, url string, header http.Header) (Result, error) {
	return c.timed(ctx, call{http.MethodGet, url, header, nil})
}

// Delete asks a URL to remove what is there, and otherwise does as Post does.
func (c *Client) Delete(ctx context.Context, url string, header http.Header) (Result, error) {
	return c.timed(ctx, call{http.MethodDelete, url, header, nil})
}

// timed makes a call within the client's time.
func (c *Client) timed(ctx context.Context, given call) (Result, error) {
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	result, err := c.make(limited, cancel, given)
	result.Duration = time.Since(began)
	if err != nil {
		return result, explain(ctx, limited, err)
	}
	return result, nil
}

// call is what is asked or posted.
type call struct {
	method string
	url    string
	header http.Header
	body   []byte
}

// make makes a call. The status is the answer: a body that dawdles is cut off
// with end, and what came of it is kept.
func (c *Client) make(ctx context.Context, end context.CancelFunc, given call) (Result, error) {
	target, err := parseTarget(given.url, c.gate.near)
	if err != nil {
		return Result{}, err
	}
	addrs, err := c.gate.lookup(ctx, target)
	if err != nil {
		return Result{}, err
	}
	given.header = c.header(given.header)
	response, err := c.send(ctx, target, addrs, given)
	if err != nil {
		return Result{}, err
	}
	defer response.Body.Close()
	if c.bodyTime > 0 && response.ContentLength != 0 {
		defer time.AfterFunc(c.bodyTime, end).Stop()
	}
	return readResult(ctx, response, c.maxBody), nil
}

// send tries the addresses in turn until one takes the connection. Each gets
// its share of the time that is left, so that a dead one leaves some for the
// next.
func (c *Client) send(ctx context.Context, target target, addrs []netip.Addr, given call) (*http.Response, error) {
	deadline, _ := ctx.Deadline()
	tries := c.order(target, addrs)
	onEnd := func(do func()) func() bool { return context.AfterFunc(ctx, do) }
	var err error
	for i, addr := range tries {
		connectBy := time.Now().Add(time.Until(deadline) / time.Duration(len(tries)-i))
		var response *http.Response
		response, err = c.sendTo(ctx, route{addr, target, connectBy, onEnd}, given)
		if err == nil {
			c.settle(target, addr, len(addrs))
			return response, nil
		}
		if !isUnreached(err) || ctx.Err() != nil {
			break
		}
	}
	return nil, err
}

// sendTo makes the request on a kept connection of the route, or on a new one.
func (c *Client) sendTo(ctx context.Context, route route, given call) (*http.Response, error) {
	var conn net.Conn
	ctx = httptrace.WithClientTrace(context.WithValue(ctx, routeKey{}, route),
		&httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) { conn = got.Conn }})
	request, err := http.NewRequestWithContext(ctx, given.method, "", bytes.NewReader(given.body))
	if err != nil {
		return nil, &unsentError{err}
	}
	address := *route.target.url
	address.Host = route.key()
	request.URL, request.Host, request.Header = &address, route.target.hostPort, given.header
	response, err := c.transport.RoundTrip(request)
	switch {
	case err != nil && conn == nil:
		return nil, &unsentError{err}
	case err != nil:
		return nil, err
	case response.StatusCode/100 != 2:
		response.Body = &lastBody{response.Body, conn}
	}
	return response, nil
}

// lastBody closes the connection with the body. Receivers that refuse what they
// get would otherwise push the kept connections of others out.
type lastBody struct {
	io.ReadCloser
	conn net.Conn
}

func (b *lastBody) Close() error { return errors.Join(b.ReadCloser.Close(), b.conn.Close()) }

var identity = []string{"identity"}

func (c *Client) header(given http.Header) http.Header {
	header := make(http.Header, len(given)+3)
	maps.Copy(header, given) // the values are only read
	if c.userAgent != "" {
		header["User-Agent"] = []string{c.userAgent}
	}
	header["Accept-Encoding"] = identity
	// Without a value it is not sent: it makes the transport send again when a
	// kept connection turns out to be closed.
	if _, ok := header["Idempotency-Key"]; !ok && !c.once {
		header["Idempotency-Key"] = nil
	}
	return header
}

// order puts the address that answered last time first, if it is still one of
// the name's: there a connection may wait, and a dead neighbour costs nothing.
func (c *Client) order(target target, addrs []netip.Addr) []netip.Addr {
	if len(addrs) < 2 {
		return addrs
	}
	c.mu.Lock()
	last, ok := c.settled[target.hostPort]
	c.mu.Unlock()
	if i := slices.Index(addrs, last); ok && i > 0 {
		addrs = slices.Insert(slices.Delete(slices.Clone(addrs), i, i+1), 0, last)
	}
	return addrs[:min(len(addrs), maxTries)]
}

func (c *Client) settle(target target, addr netip.Addr, of int) {
	if of < 2 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.settled) >= maxSettled {
		clear(c.settled)
	}
	c.settled[target.hostPort] = addr
}
