package pgserver

import (
	"net"
	"net/url"
	"sync"
	"time"
)

// Proxy lies between a client and a server and can stop forwarding without a
// word, as a network does that drops packets: connections stay open, bytes are
// accepted, and nothing comes back. It can hesitate, too.
type Proxy struct {
	listener net.Listener

	mu     sync.Mutex
	to     string
	silent bool
	pause  time.Duration
	pairs  []*pair
}

// pair is a client's connection and the server's that belongs to it.
type pair struct {
	near, far net.Conn
	pause     time.Duration
	mu        sync.Mutex
	silent    bool
}

// NewProxy forwards connections to an address. Close must be called at the end.
func NewProxy(to string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	proxy := &Proxy{listener: listener, to: to}
	go proxy.accept()
	return proxy, nil
}

// ProxyBefore forwards to the server of a URL, and returns the URL by way of it. That has
// no connect_timeout: with a server that is silent or slow, the program's own limits count.
func ProxyBefore(address string) (*Proxy, *url.URL, error) {
	way, err := url.Parse(address)
	if err != nil {
		return nil, nil, err
	}
	proxy, err := NewProxy(way.Host)
	if err != nil {
		return nil, nil, err
	}
	query := way.Query()
	query.Del("connect_timeout")
	way.Host, way.RawQuery = proxy.Address(), query.Encode()
	return proxy, way, nil
}

// Address is the host and port that the proxy listens on.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

func (p *Proxy) accept() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.join(near)
	}
}

func (p *Proxy) join(near net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	joined := &pair{near: near, silent: p.silent, pause: p.pause}
	p.pairs = append(p.pairs, joined)
	if p.silent {
		go joined.forward(nil, near)
		return
	}
	far, err := net.Dial("tcp", p.to)
	if err != nil {
		_ = near.Close()
		return
	}
	joined.far = far
	go joined.forward(far, near)
	go joined.forward(near, far)
}

// forward copies bytes, or swallows them while the pair is silent. A silent pair
// does not pass on that an end has closed either.
func (c *pair) forward(to, from net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		count, err := from.Read(buffer)
		c.mu.Lock()
		silent := c.silent
		c.mu.Unlock()
		switch {
		case silent && err != nil:
			return
		case silent:
		case err != nil:
			_ = to.Close()
			return
		default:
			time.Sleep(c.pause)
			_, _ = to.Write(buffer[:count])
		}
	}
}

// Silence stops forwarding, on connections that are open and on new ones.
func (p *Proxy) Silence() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = true
	for _, pair := range p.pairs {
		pair.mu.Lock()
		pair.silent = true
		pair.mu.Unlock()
	}
}

// Hesitate waits before all that new connections have to say, in either direction.
func (p *Proxy) Hesitate(pause time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pause = pause
}

// Speak forwards new connections again, to another address if one is given.
// Those that went silent stay so: their server has gone for good.
func (p *Proxy) Speak(to ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = false
	if len(to) > 0 {
		p.to = to[0]
	}
}

// Connections is how many connections have come so far.
func (p *Proxy) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.pairs)
}

// Close closes every connection and refuses new ones.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, pair := range p.pairs {
		_ = pair.near.Close()
		if pair.far != nil {
			_ = pair.far.Close()
		}
	}
}
