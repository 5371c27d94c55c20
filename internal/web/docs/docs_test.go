package docs

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"carteira/openapi"
)

func get(t *testing.T, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	mux := http.NewServeMux()
	Register(mux, "https://carteira.example.com")
	req := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, req)
	return w
}

func wantHeader(t *testing.T, recorder *httptest.ResponseRecorder, name, want string) {
	t.Helper()
	if got := recorder.Header().Get(name); got != want {
		t.Errorf("%s: got %q, want %q", name, got, want)
	}
}

func TestPageNeedsNothingFromOutside(t *testing.T) {
	recorder := get(t, "/docs")
	wantHeader(t, recorder, "Content-Type", "text/html; charset=utf-8")

	csp := recorder.Header().Get("Content-Security-Policy")
	if !strings.HasPrefix(csp, "default-src 'none'; script-src 'self'; ") || strings.Contains(csp, "http") || strings.Contains(csp, "*") {
		t.Errorf("the policy lets strangers in: %s", csp)
	}
	page := recorder.Body.String()
	if regexp.MustCompile(`(?i)https?://|(src|href)="//`).MatchString(page) {
		t.Errorf("the page names another host:\n%s", page)
	}
	// script-src has neither hash nor nonce, so a script in the page itself would not run.
	if inline := regexp.MustCompile(`<script[^>]*>[^<]`).FindString(page); inline != "" {
		t.Errorf("an inline script: %s", inline)
	}
}

func TestPostmanGetsACollectionOfEveryOperation(t *testing.T) {
	var collection struct {
		Item []struct {
			Item []struct{ Request struct{ Method string } }
		}
		Variable []struct{ Key, Value string }
	}
	if err := json.Unmarshal(get(t, "/postman.json").Body.Bytes(), &collection); err != nil {
		t.Fatal(err)
	}
	requests := 0
	for _, folder := range collection.Item {
		requests += len(folder.Item)
	}
	paths, _, _ := strings.Cut(string(openapi.YAML), "\nwebhooks:\n")
	if want := strings.Count(paths, "\n      operationId: "); requests != want || collection.Variable[0].Value != "https://carteira.example.com/api/v1" {
		t.Errorf("%d requests of %d operations, variables %v", requests, want, collection.Variable)
	}
}

func TestModelsAreSaidWhereToRead(t *testing.T) {
	recorder := get(t, "/llms.txt")
	wantHeader(t, recorder, "Content-Type", "text/plain; charset=utf-8")
	for _, want := range []string{"# Carteira", "/openapi.yaml", "/mcp", "/docs"} {
		if !strings.Contains(recorder.Body.String(), want) {
			t.Errorf("llms.txt has no %s", want)
		}
	}
}

func TestPageIsInTheReadersLanguage(t *testing.T) {
	for _, want := range []struct{ path, accepts, lang, document, text string }{
		{"/docs", "pt-BR,pt;q=0.9", "pt-BR", "/openapi.pt-BR.json", "← Painel"},
		{"/docs", "en-US,en;q=0.9", "en", "/openapi.json", "← Panel"},
		{"/docs?lang=en", "pt-BR", "en", "/openapi.json", "Make a token"},
		{"/docs?lang=pt-BR", "en", "pt-BR", "/openapi.pt-BR.json", "Criar um token"},
		{"/docs?lang=xx", "en", "en", "/openapi.json", "Português"},
	} {
		answer := get(t, want.path, "Accept-Language", want.accepts)
		body := html.UnescapeString(answer.Body.String())
		for _, text := range []string{`lang="` + want.lang + `"`, `"url":"` + want.document + `"`, want.text, `href="/"`, `href="/api"`} {
			if !strings.Contains(body, text) {
				t.Errorf("%s for %s lacks %s", want.path, want.accepts, text)
			}
		}
		wantHeader(t, answer, "Vary", "Accept-Language, Cookie")
	}
}

func TestPageConfiguresTheViewer(t *testing.T) {
	page := get(t, "/docs?lang=en").Body.String()
	match := regexp.MustCompile(`data-configuration="([^"]*)"`).FindStringSubmatch(page)
	if match == nil {
		t.Fatalf("no configuration in\n%s", page)
	}
	var c struct {
		URL              string
		WithDefaultFonts *bool
		Telemetry        *bool
		ProxyURL         *string
		Agent, MCP       struct{ Disabled bool }
	}
	if err := json.Unmarshal([]byte(html.UnescapeString(match[1])), &c); err != nil {
		t.Fatal(err)
	}
	if c.URL != "/openapi.json" || c.ProxyURL != nil || !c.Agent.Disabled || !c.MCP.Disabled ||
		c.WithDefaultFonts == nil || *c.WithDefaultFonts || c.Telemetry == nil || *c.Telemetry {
		t.Errorf("got %+v", c)
	}
}

func TestSlashAfterDocsIsForgiven(t *testing.T) {
	recorder := get(t, "/docs/")
	if recorder.Code != http.StatusMovedPermanently {
		t.Errorf("got %d", recorder.Code)
	}
	wantHeader(t, recorder, "Location", "/docs")
}

func TestDocumentIsServedAsItIs(t *testing.T) {
	for path, want := range map[string]struct {
		contentType string
		content     []byte
	}{
		"/openapi.yaml":       {"application/yaml", openapi.YAML},
		"/openapi.json":       {"application/json", openapi.JSON()},
		"/openapi.pt-BR.json": {"application/json", openapi.Portuguese()},
	} {
		recorder := get(t, path)
		wantHeader(t, recorder, "Content-Type", want.contentType)
		wantHeader(t, recorder, "Cache-Control", "no-cache")
		wantHeader(t, recorder, "Access-Control-Allow-Origin", "*") // editors in a browser read it
		if !bytes.Equal(recorder.Body.Bytes(), want.content) {
			t.Errorf("%s: other bytes", path)
		}
	}
}

func TestOnlyTheDocumentIsForPagesOfOthers(t *testing.T) {
	for _, path := range []string{"/docs", "/docs/scalar.js"} {
		wantHeader(t, get(t, path), "Access-Control-Allow-Origin", "")
	}
}

func TestWhatHasNotChangedIsNotSentAgain(t *testing.T) {
	for _, path := range []string{"/docs", "/openapi.yaml", "/openapi.json", "/docs/scalar.js"} {
		etag := get(t, path, "Accept-Encoding", "gzip").Header().Get("ETag")
		if etag == "" {
			t.Errorf("%s: no ETag", path)
		}
		again := get(t, path, "Accept-Encoding", "gzip", "If-None-Match", etag)
		if again.Code != http.StatusNotModified || again.Body.Len() != 0 {
			t.Errorf("%s: got %d", path, again.Code)
		}
		if recorder := get(t, path, "Accept-Encoding", "gzip", "If-None-Match", `"old"`); recorder.Code != http.StatusOK {
			t.Errorf("%s: an old ETag got %d", path, recorder.Code)
		}
	}
}

func TestViewerIsOneScriptInTwoEncodings(t *testing.T) {
	packed := get(t, "/docs/scalar.js", "Accept-Encoding", "br, gzip")
	wantHeader(t, packed, "Content-Encoding", "gzip")
	wantHeader(t, packed, "Content-Type", "text/javascript; charset=utf-8")
	wantHeader(t, packed, "Vary", "Accept-Encoding")
	reader, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	want, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}

	plain := get(t, "/docs/scalar.js")
	wantHeader(t, plain, "Content-Encoding", "")
	wantHeader(t, plain, "Vary", "Accept-Encoding")
	if !bytes.Equal(plain.Body.Bytes(), want) {
		t.Error("the two differ")
	}
}

func TestViewerIsKeptForEverByItsVersionOnly(t *testing.T) {
	src := regexp.MustCompile(`src="([^"]+)"`).FindSubmatch(get(t, "/docs").Body.Bytes())
	if src == nil {
		t.Fatal("the page has no script")
	}
	recorder := get(t, string(src[1]), "Accept-Encoding", "gzip")
	wantHeader(t, recorder, "Cache-Control", "public, max-age=31536000, immutable")
	wantHeader(t, get(t, "/docs/scalar.js?v=old", "Accept-Encoding", "gzip"), "Cache-Control", "no-cache")
}

func TestVendoredFilesAreTheOnesNamed(t *testing.T) {
	const folder = "static/vendor/"
	notes, err := os.ReadFile(folder + "VENDOR.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` .*\\(`([^`]+)`\\) \\| `([0-9a-f]{64})` \\|$").FindAllStringSubmatch(string(notes), -1)
	named := map[string]bool{"VENDOR.md": true}
	for _, row := range rows {
		file, licence, want := row[1], row[2], row[3]
		named[file], named[licence] = true, true
		content, err := os.ReadFile(folder + file)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s is another file than VENDOR.md names", file)
		}
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range files {
		if !named[entry.Name()] {
			t.Errorf("%s is not in VENDOR.md", entry.Name())
		}
	}
	if len(named) != len(files) {
		t.Errorf("VENDOR.md names %d files, there are %d", len(named), len(files))
	}
}
