// Package docs serves the API's documentation: the interactive page at /docs and the document itself. It owns the
// page, its Content-Security-Policy and the vendored viewer; what the document says is the openapi package's.
//
// Everything comes from the binary: an installation without internet access shows the same page, and no reader is
// made known to anyone else.
package docs

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"maps"
	"net/http"
	"strconv"
	"sync"
	"time"

	"carteira/internal/web"
	"carteira/internal/web/page"
	"carteira/openapi"
)

// policy is as tight as Scalar allows: it sets style attributes, which no nonce or hash can authorize.
const policy = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed page.html
var pageSource string

//go:embed static/vendor/scalar.js.gz
var scalarGzip []byte

// llms says to a model what is here and where to read on.
//
//go:embed llms.txt
var llms []byte

// edition is the page in a language.
type edition struct {
	Lang, Title, Menu, Back, Tokens, NoScript string
	Other, OtherName                          string // the other language
	document                                  string // the address of its document
}

var editions = map[page.Lang]edition{
	page.English: {
		Lang: "en", Title: "Carteira API", Menu: "Carteira", Back: "Panel", Tokens: "Make a token",
		NoScript: "This page needs JavaScript. The same document, to read or to import:",
		Other:    "pt-BR", OtherName: "Português", document: "/openapi.json",
	},
	page.Portuguese: {
		Lang: "pt-BR", Title: "API do Carteira", Menu: "Carteira", Back: "Painel", Tokens: "Criar um token",
		NoScript: "Esta página precisa de JavaScript. O mesmo documento, em inglês, para ler ou importar:",
		Other:    "en", OtherName: "English", document: "/openapi.pt-BR.json",
	},
}

// configuration switches off whatever of Scalar would call, or lead to, a service of its makers.
var configuration = map[string]any{
	"withDefaultFonts":             false,
	"telemetry":                    false,
	"agent":                        map[string]bool{"disabled": true},
	"mcp":                          map[string]bool{"disabled": true},
	"showDeveloperTools":           "never",
	"hideClientButton":             true,
	"persistAuth":                  false, // a token is not left behind in the browser
	"documentDownloadType":         "direct",
	"orderSchemaPropertiesBy":      "preserve",
	"orderRequiredPropertiesFirst": false,
	"defaultHttpClient":            map[string]string{"targetKey": "shell", "clientKey": "curl"},
}

// Register adds the documentation's routes to mux. What they send is made when it is first asked for: to turn the
// document into JSON takes longer, and more memory, than all else that the program does until it is ready. The
// collection for Postman is for the installation at address.
func Register(mux *http.ServeMux, address string) {
	version := sync.OnceValue(func() string { return hash(scalarGzip) })
	mux.Handle("GET /docs", lazy(func() http.Handler { return pages(version()) }))
	mux.Handle("GET /docs/{$}", http.RedirectHandler("/docs", http.StatusMovedPermanently))
	mux.Handle("GET /docs/scalar.js", lazy(func() http.Handler { return scalar(version()) }))
	mux.Handle("GET /openapi.yaml", shared(lazy(func() http.Handler { return file("application/yaml", openapi.YAML) })))
	mux.Handle("GET /openapi.json", shared(lazy(func() http.Handler { return file("application/json", openapi.JSON()) })))
	mux.Handle("GET /postman.json", shared(lazy(func() http.Handler { return file("application/json", openapi.Postman(address)) })))
	mux.Handle("GET /llms.txt", shared(file("text/plain; charset=utf-8", llms)))
	mux.Handle("GET "+editions[page.Portuguese].document, shared(lazy(func() http.Handler {
		return file("application/json", openapi.Portuguese())
	})))
}

// lazy is a handler that is made for its first request.
func lazy(makeHandler func() http.Handler) http.Handler {
	handler := sync.OnceValue(makeHandler)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler().ServeHTTP(w, r) })
}

// shared lets the pages of others read: editors and generators in a browser load the document from an installation.
// It holds nothing of the installation. The API itself is for servers: no page should have a token.
func shared(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		next.ServeHTTP(w, r)
	})
}

func render(version string, words edition) []byte {
	settings := maps.Clone(configuration)
	settings["url"] = words.document
	config, err := json.Marshal(settings)
	if err != nil {
		panic(err) // constants only
	}
	var out bytes.Buffer
	err = template.Must(template.New("page").Parse(pageSource)).Execute(&out, struct {
		edition
		Configuration, Script string
	}{words, string(config), "/docs/scalar.js?v=" + version})
	if err != nil {
		panic(err) // embedded template, constant data
	}
	return out.Bytes()
}

// pages serves the page in the language that the address names, else in that of the reader.
func pages(version string) http.Handler {
	rendered := map[page.Lang]http.Handler{}
	for lang, words := range editions {
		rendered[lang] = file("text/html; charset=utf-8", render(version, words))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Vary", "Accept-Language, Cookie")
		serve, ok := rendered[page.Lang(r.URL.Query().Get("lang"))]
		if !ok {
			serve = rendered[page.LangOf(r)]
		}
		serve.ServeHTTP(w, r)
	})
}

// file serves content that changes only with the binary: a browser asks each time, and gets 304.
func file(contentType string, content []byte) http.Handler {
	etag := `"` + hash(content) + `"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Type", contentType)
		header.Set("Cache-Control", "no-cache")
		header.Set("ETag", etag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	})
}

// scalar sends the viewer as it is stored. The page asks for it by version, so that it may be kept for ever.
func scalar(version string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Type", "text/javascript; charset=utf-8")
		header.Set("Vary", "Accept-Encoding")
		header.Set("Cache-Control", "no-cache")
		if r.URL.Query().Get("v") == version {
			header.Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		if !web.AcceptsGzip(r) {
			inflate(w)
			return
		}
		header.Set("Content-Encoding", "gzip")
		header.Set("ETag", `"`+version+`"`)
		header.Set("Content-Length", strconv.Itoa(len(scalarGzip))) // ServeContent leaves it out of an encoded answer
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(scalarGzip))
	})
}

// inflate streams: such clients are rare, and their 4 MiB are not worth keeping in memory.
func inflate(w io.Writer) {
	reader, err := gzip.NewReader(bytes.NewReader(scalarGzip))
	if err != nil {
		panic(fmt.Sprintf("scalar.js.gz: %v", err)) // embedded and tested
	}
	_, _ = io.Copy(w, reader) // #nosec G110 -- our own file; an error is the client's going away
}

func hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:8])
}
