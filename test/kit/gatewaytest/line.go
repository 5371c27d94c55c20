package gatewaytest

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"sync"
	"testing"
)

// Line is the connection between a gateway and the double of its provider,
// which the suite breaks.
type Line struct {
	URL    string
	Client *http.Client // follows redirects and waits for ever: gateways must not rely on it
	// Certificate is the server's own, which no authority knows.
	Certificate *x509.Certificate

	provider http.Handler
	makes    func(*http.Request) bool

	mu      sync.Mutex
	trouble trouble
	strayed int // calls that followed a redirect
}

// trouble answers a request in the provider's place.
type trouble func(w http.ResponseWriter, r *http.Request, provider http.Handler)

// NewLine starts a TLS server for a double. makes recognises the request that
// makes a charge; set may change the server before it starts.
func NewLine(t *testing.T, provider http.Handler, makes func(*http.Request) bool, set ...func(*httptest.Server)) *Line {
	t.Helper()
	line := &Line{provider: provider, makes: makes}
	server := httptest.NewUnstartedServer(line)
	for _, change := range set {
		change(server)
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	line.URL, line.Client, line.Certificate = server.URL, server.Client(), server.Certificate()
	return line
}

func (l *Line) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Read to its end, so that the server notices when the caller hangs up.
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	l.mu.Lock()
	answer := l.trouble
	if strings.HasPrefix(r.URL.Path, strayPath) {
		l.strayed++
	}
	l.mu.Unlock()
	if answer == nil {
		l.provider.ServeHTTP(w, r)
		return
	}
	answer(w, r, l.provider)
}

// suffer makes every answer that of a trouble until the function returned is
// called.
func (l *Line) suffer(answer trouble) (mend func()) {
	set := func(answer trouble) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.trouble = answer
	}
	set(answer)
	return func() { set(nil) }
}

func (l *Line) followed() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.strayed
}

func says(status int, body string) trouble {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// hollow answers questions, and whatever would change something with nothing.
func hollow(w http.ResponseWriter, r *http.Request, provider http.Handler) {
	if r.Method == http.MethodGet {
		provider.ServeHTTP(w, r)
		return
	}
	says(http.StatusOK, "{}")(w, r, provider)
}

// silent says yes to changes of webhooks without a word, as some providers do.
func silent(w http.ResponseWriter, r *http.Request, provider http.Handler) {
	if r.Method == http.MethodGet || !strings.Contains(r.URL.Path, "webhook") {
		provider.ServeHTTP(w, r)
		return
	}
	provider.ServeHTTP(httptest.NewRecorder(), r)
	w.WriteHeader(http.StatusOK)
}

const strayPath = "/stray"

// redirects sends the caller elsewhere, with the body if it goes there.
func redirects(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	if strings.HasPrefix(r.URL.Path, strayPath) {
		return
	}
	http.Redirect(w, r, strayPath+r.URL.Path, http.StatusTemporaryRedirect)
}

// hangsUp ends the connection without an answer.
func hangsUp(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }

// breaksOff ends it in the middle of one.
func breaksOff(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	w.Header().Set("Content-Length", "1000")
	_, _ = io.WriteString(w, `{"id":`)
	panic(http.ErrAbortHandler)
}

// floods gives the right answer after more than anybody should read.
func floods(w http.ResponseWriter, r *http.Request, provider http.Handler) {
	answer := httptest.NewRecorder()
	provider.ServeHTTP(answer, r)
	w.WriteHeader(answer.Code)
	_, _ = io.WriteString(w, strings.Repeat(" ", 2<<20))
	_, _ = w.Write(answer.Body.Bytes())
}

// hangs takes requests and never answers, and signals each.
func hangs(arrived chan<- struct{}) trouble {
	return func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
		select {
		case arrived <- struct{}{}:
			neverAnswer(r)
		case <-r.Context().Done():
			neverAnswer(r)
		}
	}
}

// neverAnswer waits until the caller has gone. A handler that then returns
// would answer after all, and a caller on its way out may still hear it.
func neverAnswer(r *http.Request) {
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}

// loses lets the provider make a charge, and keeps the answer.
func (l *Line) loses(made chan<- struct{}) trouble {
	return func(w http.ResponseWriter, r *http.Request, provider http.Handler) {
		if !l.makes(r) {
			provider.ServeHTTP(w, r)
			return
		}
		provider.ServeHTTP(httptest.NewRecorder(), r)
		made <- struct{}{}
		neverAnswer(r)
	}
}

// echoes turns everything down and repeats what was asked, credentials and all,
// wherever a provider might put its words.
func echoes(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	asked, _ := httputil.DumpRequest(r, true)
	text := string(asked)
	said := map[string]any{
		"message": text, "error": text, "error_description": text, "title": text, "detail": text, "nome": text, "mensagem": text,
		"errors":    []any{map[string]string{"code": text, "description": text, "message": text}},
		"cause":     []any{map[string]string{"code": text, "description": text}},
		"violacoes": []any{map[string]string{"razao": text, "propriedade": text}},
	}
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(said)
}
