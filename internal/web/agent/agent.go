// Package agent serves the API to models by the Model Context Protocol: every
// operation of the OpenAPI document is a tool. It owns the tools and the prompts.
// It has no rule of its own: a tool makes one call of the API with the caller's
// token, and answers what the API answers.
package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"carteira/internal/web"
)

// callerHeader carries the address of the caller to the API. What a caller sends
// under that name is replaced.
const callerHeader = "X-Carteira-Caller"

// api makes one call of the API.
type api func(ctx context.Context, header http.Header, r *http.Request) (*http.Response, error)

// newServer makes a server with the tools of the document: those that read, or all.
func newServer(call api, all bool) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "carteira", Title: "Carteira", Version: "1"},
		&mcp.ServerOptions{Instructions: instructions, Capabilities: &mcp.ServerCapabilities{}, PageSize: maxTools})
	for _, op := range operations() {
		if all || op.forReading() {
			server.AddTool(op.tool(), op.handler(call))
		}
	}
	addPrompts(server)
	return server
}

// maxTools is how many tools a list has at most. Clients exist that read one page.
const maxTools = 500

const instructions = `Carteira keeps a company's customers, what they pay for and when it falls due.
Each tool is one operation of its API; the company is that of the token.
Amounts are texts such as "35.00" in Brazilian reais. Dates are YYYY-MM-DD in the company's time zone.
Lists have pages: read meta.last_page, and ask for more with page. per_page is at most 200.
A tool that changes something says so in its description. Ask the person before you use one, and give a POST an
idempotency_key, so that a repeated call does nothing twice. A token has 60 calls a minute, unless the operator of this
installation chose otherwise.`

// Handler serves the protocol over streamable HTTP. It keeps no sessions, so that
// any process of an installation can answer. mayWrite reports whether a token may
// change something, and fails for one that does not work.
func Handler(server http.Handler, mayWrite func(ctx context.Context, token string) (bool, error)) http.Handler {
	call := inProcess(server)
	// The document is read at the first call: it takes longer than all else that the program does until it is ready.
	reading := sync.OnceValue(func() http.Handler { return stateless(newServer(call, false)) })
	writing := sync.OnceValue(func() http.Handler { return stateless(newServer(call, true)) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		writes, err := mayWrite(r.Context(), token)
		if err != nil {
			w.Header().Set("WWW-Authenticate", "Bearer")
			web.WriteFault(w, err)
			return
		}
		r.Header.Set(callerHeader, r.RemoteAddr)
		w.Header().Set("Cache-Control", "no-store")
		if writes {
			writing().ServeHTTP(w, r)
		} else {
			reading().ServeHTTP(w, r)
		}
	})
}

func stateless(server *mcp.Server) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true,
		// A proxy on the same machine passes calls on under the name of the installation, and each has a token.
		DisableLocalhostProtection: true,
	})
}

// inProcess calls the API of this process with the token of the request.
func inProcess(server http.Handler) api {
	return func(ctx context.Context, header http.Header, r *http.Request) (*http.Response, error) {
		r = r.WithContext(ctx)
		r.Header.Set("Authorization", header.Get("Authorization"))
		r.RemoteAddr = header.Get(callerHeader)
		w := &recorder{header: http.Header{}}
		server.ServeHTTP(w, r)
		return &http.Response{
			Status: http.StatusText(w.status), StatusCode: w.status, Header: w.header, Body: io.NopCloser(&w.body),
		}, nil
	}
}

// recorder keeps an answer in memory.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header               { return r.header }
func (r *recorder) WriteHeader(status int)            { r.status = status }
func (r *recorder) Write(content []byte) (int, error) { return r.body.Write(content) }

// Serve serves the protocol over standard input and output until the client goes:
// calls go to the installation at an address, with a token.
func Serve(ctx context.Context, to Installation, in io.ReadCloser, out io.WriteCloser) error {
	full, err := scopeAt(ctx, to.call)
	if err != nil {
		return err
	}
	return newServer(to.call, full).Run(ctx, &mcp.IOTransport{Reader: in, Writer: out})
}

// Installation is one that is called over the network.
type Installation struct {
	Address   *url.URL // what the addresses of its pages begin with
	Token     string
	Transport http.RoundTripper
}

// call calls the API of the installation.
func (i Installation) call(ctx context.Context, _ http.Header, r *http.Request) (*http.Response, error) {
	r = r.WithContext(ctx)
	folder := strings.TrimRight(strings.TrimSuffix(strings.TrimRight(i.Address.Path, "/"), basePath), "/")
	r.URL.Scheme, r.URL.Host, r.URL.Path = i.Address.Scheme, i.Address.Host, folder+r.URL.Path
	if r.URL.RawPath != "" {
		r.URL.RawPath = folder + r.URL.RawPath
	}
	r.Header.Set("Authorization", "Bearer "+i.Token)
	return i.Transport.RoundTrip(r)
}

// scopeAt asks an installation what the token may do.
func scopeAt(ctx context.Context, call api) (full bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, basePath+"/account", http.NoBody)
	if err != nil {
		return false, err
	}
	resp, err := call(ctx, nil, r)
	if err != nil {
		return false, fmt.Errorf("ask for the account: %w", err)
	}
	defer resp.Body.Close()
	var account struct {
		Message string
		Data    struct{ Token struct{ Scope string } }
	}
	if err := json.NewDecoder(resp.Body).Decode(&account); err != nil {
		return false, fmt.Errorf("ask for the account: the answer %s is none of Carteira: %w", resp.Status, err)
	}
	if resp.StatusCode != http.StatusOK {
		return false, fmt.Errorf("ask for the account: %s", cmp.Or(account.Message, resp.Status))
	}
	return account.Data.Token.Scope != "read", nil
}

// result is the answer of the API as a tool has it. What the API refuses is an error
// that the model reads, with the reason.
func result(resp *http.Response) (*mcp.CallToolResult, error) {
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("read the answer of the API: %w", err)
	}
	text := string(bytes.TrimSpace(body))
	if wait := resp.Header.Get("Retry-After"); wait != "" {
		text += "\nTry again in " + wait + " seconds."
	}
	out := &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: text}},
		IsError: resp.StatusCode != http.StatusOK,
	}
	if json.Valid(body) {
		out.StructuredContent = json.RawMessage(body)
	}
	return out, nil
}
