package channeltest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Server is an HTTPS carrier that keeps what it gets and gives the configured
// answers.
type Server struct {
	*httptest.Server
	mu       sync.Mutex
	answer   Answer
	requests []Request
	answers  map[Answer]Reply
	fixed    map[string]Reply // by method and path: answered so in any case
}

// Request is what a Server got.
type Request struct {
	Path   string
	Header http.Header
	Body   []byte
}

// Reply is how a Server answers.
type Reply struct {
	Status int
	Body   string
	Header map[string]string
}

// NewServer starts a carrier. Silence needs no reply.
func NewServer(t *testing.T, answers map[Answer]Reply) *Server {
	t.Helper()
	server := &Server{answer: Accept, answers: answers}
	server.Server = httptest.NewUnstartedServer(server)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	if reply, ok := s.fixed[r.Method+" "+r.URL.EscapedPath()]; ok {
		s.mu.Unlock()
		w.WriteHeader(reply.Status)
		_, _ = io.WriteString(w, reply.Body)
		return
	}
	s.requests = append(s.requests, Request{r.Method + " " + r.URL.EscapedPath(), r.Header.Clone(), bytes.Clone(body)})
	answer := s.answer
	s.mu.Unlock()
	if answer == Silence {
		panic(http.ErrAbortHandler)
	}
	reply := s.answers[answer]
	for name, value := range reply.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(reply.Status)
	_, _ = io.WriteString(w, reply.Body)
}

// Answers makes the server answer so from now on.
func (s *Server) Answers(answer Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// Fix answers a method and path, such as "GET /state", always in one way, and does
// not keep what comes there.
func (s *Server) Fix(request string, reply Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fixed == nil {
		s.fixed = map[string]Reply{}
	}
	s.fixed[request] = reply
}

// Requests are those that came.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}
