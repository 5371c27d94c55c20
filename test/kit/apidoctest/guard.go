package apidoctest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3filter"
)

// Guard is a proxy between a gateway under test and the double of its provider,
// and holds both to the document.
type Guard struct {
	Document *Document
	Double   http.Handler
	// Base is what the paths of the document begin with at the provider.
	Base string
	// Besides are the calls that the provider has and the document has not, each
	// as "METHOD /path" or the beginning of one.
	Besides []string
	// Query are the parameters that the provider has and the document has not.
	Query []string
	// Free are the statuses with answers that the provider words freely.
	Free []int
	// Broken receives everything that breaks the document.
	Broken func(error)
}

// ServeHTTP passes a request on that keeps to the document, and refuses another.
func (g *Guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		g.refuse(w, r, err)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if g.beside(r) {
		g.Double.ServeHTTP(w, r)
		return
	}
	input := g.Document.input(r, g.Base)
	if err := g.checkRequest(r.Context(), input, body); err != nil {
		g.refuse(w, r, err)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	g.Double.ServeHTTP(answer, r)
	if err := g.checkAnswer(r.Context(), input, answer); err != nil {
		g.Broken(fmt.Errorf("the double's answer to %s %s: %w", r.Method, r.URL.Path, err))
	}
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

func (g *Guard) beside(r *http.Request) bool {
	call := r.Method + " " + r.URL.Path
	return slices.ContainsFunc(g.Besides, func(known string) bool { return strings.HasPrefix(call, known) })
}

// refuse answers as a provider would that reads its own document.
func (g *Guard) refuse(w http.ResponseWriter, r *http.Request, err error) {
	g.Broken(fmt.Errorf("%s %s breaks %s %s: %w", r.Method, r.URL.Path, g.Document.Title, g.Document.Version, err))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(map[string]string{"detail": err.Error(), "title": "not as documented"})
}

func (g *Guard) checkRequest(ctx context.Context, input *openapi3filter.RequestValidationInput, body []byte) error {
	if input == nil {
		return errors.New("the document has no such call")
	}
	if err := openapi3filter.ValidateRequest(ctx, input); err != nil {
		return err
	}
	if err := g.knownQuery(input); err != nil {
		return err
	}
	declared := input.Route.Operation.RequestBody
	switch {
	case declared == nil && len(body) > 0:
		return errors.New("the document has no body for it")
	case declared == nil || len(body) == 0:
		return nil
	}
	media := declared.Value.Content.Get(input.Request.Header.Get("Content-Type"))
	if media == nil || media.Schema == nil {
		return nil
	}
	return knownFields(media.Schema, body)
}

// knownQuery refuses parameters that the document does not have.
func (g *Guard) knownQuery(input *openapi3filter.RequestValidationInput) error {
	parameters := slices.Concat(input.Route.PathItem.Parameters, input.Route.Operation.Parameters)
	for name := range input.Request.URL.Query() {
		if parameters.GetByInAndName("query", name) == nil && !slices.Contains(g.Query, name) {
			return fmt.Errorf("the document has no parameter %q", name)
		}
	}
	return nil
}

func (g *Guard) checkAnswer(
	ctx context.Context,
	input *openapi3filter.RequestValidationInput,
	answer *httptest.ResponseRecorder,
) error {
	// The token's own rules decide who may call; the document leaves them out.
	if answer.Code == http.StatusUnauthorized || slices.Contains(g.Free, answer.Code) {
		return nil
	}
	declared := input.Route.Operation.Responses.Status(answer.Code)
	if declared == nil {
		return fmt.Errorf("the document has no status %d", answer.Code)
	}
	if len(declared.Value.Content) == 0 {
		if answer.Body.Len() > 0 {
			return fmt.Errorf("status %d has no body in the document", answer.Code)
		}
		return nil
	}
	return openapi3filter.ValidateResponse(ctx, &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input,
		Status:                 answer.Code,
		Header:                 answer.Header(),
		Body:                   io.NopCloser(bytes.NewReader(answer.Body.Bytes())),
		Options:                options,
	})
}
