// Package openapitest keeps the API and its document equal. A test wraps its client's transport, and every exchange
// under /api/v1 is held against openapi.yaml: an answer that the document does not describe, or describes otherwise,
// fails the test. Unseen returns what the document describes and no test has seen.
//
// It is imported by tests only and knows nothing of the service: it sees HTTP and the document.
package openapitest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// basePath is the path of the document's server; other paths are not the API's.
const basePath = "/api/v1"

// Validator reports to one test what does not agree with the document.
type Validator struct {
	tb   testing.TB
	spec *spec
}

// New gives a validator for tb. The document is loaded once per process.
func New(tb testing.TB) *Validator {
	tb.Helper()
	spec, err := load()
	if err != nil {
		tb.Fatalf("openapi.yaml: %v", err)
	}
	return &Validator{tb: tb, spec: spec}
}

// Transport gives base with every exchange under /api/v1 validated.
func (v *Validator) Transport(base http.RoundTripper) http.RoundTripper {
	return &transport{Validator: v, base: base}
}

// Event holds the body of a webhook delivery against the document's webhook of that name.
func (v *Validator) Event(body []byte) {
	v.tb.Helper()
	if err := v.spec.checkEvent(body); err != nil {
		v.tb.Errorf("openapi: event: %v\n%s", err, body)
	}
}

// Unseen lists what is documented and was never answered in this process, as "operationId status". Entries of allow
// are left out; one may be a whole entry, or a status ("500") for every operation.
func Unseen(allow ...string) []string {
	spec, err := load()
	if err != nil {
		panic(fmt.Sprintf("openapi.yaml: %v", err))
	}
	return slices.DeleteFunc(spec.unseen(), func(pair string) bool {
		_, status, _ := strings.Cut(pair, " ")
		return slices.Contains(allow, pair) || slices.Contains(allow, status)
	})
}

type transport struct {
	*Validator
	base http.RoundTripper
}

func (tr *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if !strings.HasPrefix(req.URL.Path, basePath+"/") {
		return tr.base.RoundTrip(req)
	}
	sent, err := drain(req.Body)
	if err != nil {
		return nil, err
	}
	if req.Body != nil {
		req = req.Clone(req.Context()) // a transport may not change its caller's request
		req.Body = io.NopCloser(bytes.NewReader(sent))
	}
	resp, err := tr.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	got, err := drain(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(got))

	x := exchange{request: req, sent: sent, status: resp.StatusCode, header: resp.Header, got: got}
	if err := tr.spec.check(req.Context(), x); err != nil {
		tr.tb.Errorf("openapi: %s %s: %d: %v\n%s", req.Method, req.URL.RequestURI(), x.status, err, got)
	}
	return resp, nil
}

func drain(body io.ReadCloser) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	b, err := io.ReadAll(body)
	return b, errors.Join(err, body.Close())
}

// exchange is one request with its answer.
type exchange struct {
	request *http.Request
	sent    []byte
	status  int
	header  http.Header
	got     []byte
}

func (s *spec) check(ctx context.Context, exchange exchange) error {
	op := s.find(exchange.request)
	if op == nil {
		return s.checkUndocumented(exchange)
	}
	if err := s.checkAnswer(ctx, op, exchange); err != nil {
		return fmt.Errorf("%s: %w", op.ID(), err)
	}
	if exchange.status >= 300 {
		return nil // what the service refuses need not be documented
	}
	if err := s.checkRequest(ctx, op, exchange); err != nil {
		return fmt.Errorf("%s accepted what is not documented: %w", op.ID(), err)
	}
	return nil
}

// checkUndocumented allows only what the API's rules say to a path or method that it does not have.
func (s *spec) checkUndocumented(exchange exchange) error {
	switch exchange.status {
	case http.StatusUnauthorized, http.StatusNotFound, http.StatusTooManyRequests, http.StatusServiceUnavailable:
	case http.StatusMethodNotAllowed:
		if exchange.header.Get("Allow") == "" {
			return errors.New("no Allow header")
		}
	default:
		return errors.New("the operation is not documented")
	}
	if exchange.header.Get("X-Request-Id") == "" {
		return errors.New("no X-Request-Id header")
	}
	return s.checkBody(exchange, s.schemas[errorSchema])
}

func (s *spec) checkAnswer(ctx context.Context, op *operation, exchange exchange) error {
	answer := op.Operation.Responses.Status(exchange.status)
	if answer == nil {
		return errors.New("the status is not documented")
	}
	err := openapi3filter.ValidateResponse(ctx, &openapi3filter.ResponseValidationInput{
		RequestValidationInput: op.input(exchange),
		Status:                 exchange.status,
		Header:                 exchange.header,
		Options:                headersOnly,
	})
	if err != nil {
		return err
	}
	if exchange.request.Method != http.MethodHead { // an answer without its body has not been seen
		s.see(op, exchange.status)
	}
	if exchange.status == http.StatusNotModified {
		return checkNoBody(exchange)
	}
	return s.checkBody(exchange, s.schemas[bodyRef(answer.Value.Content)])
}

func checkNoBody(exchange exchange) error {
	if len(exchange.got) > 0 || exchange.header.Get("Content-Type") != "" {
		return errors.New("the answer has a body, and its status allows none")
	}
	return nil
}

func (s *spec) checkBody(exchange exchange, schema *jsonschema.Schema) error {
	contentType := exchange.header.Get("Content-Type")
	if media, _, err := mime.ParseMediaType(contentType); err != nil || media != mediaJSON {
		return fmt.Errorf("the answer's Content-Type is %q", contentType)
	}
	if exchange.request.Method == http.MethodHead {
		return nil
	}
	return validate(schema, exchange.got)
}

func (s *spec) checkRequest(ctx context.Context, op *operation, exchange exchange) error {
	if err := openapi3filter.ValidateRequest(ctx, op.input(exchange)); err != nil {
		return err
	}
	body := op.Operation.RequestBody
	if body == nil || len(exchange.sent) == 0 && !body.Value.Required {
		return nil
	}
	return validate(s.schemas[bodyRef(body.Value.Content)], exchange.sent)
}

func validate(schema *jsonschema.Schema, body []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	return schema.Validate(value)
}
