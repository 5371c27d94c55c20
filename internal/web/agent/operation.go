package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"carteira/openapi"
)

// basePath is where the API is served.
const basePath = "/api/v1"

// idempotencyKey is the argument that becomes the header of that name.
const idempotencyKey = "idempotency_key"

// operation is one of the document, with its parameters resolved.
type operation struct {
	method, path string
	name         string
	title, about string
	inPath       []string
	inQuery      []string
	inBody       []string
	hasBody      bool // a body is required
	keyed        bool // takes an idempotency key
	schema       map[string]any
}

func (op *operation) writes() bool { return op.method != http.MethodGet }

// forReading reports whether a token for reading may use it. It reads no secret: with
// that it could sign as we do.
func (op *operation) forReading() bool { return !op.writes() && op.name != "getCallbackSecret" }

// operations are those of the document, in the order of their names.
var operations = sync.OnceValue(func() []*operation {
	var doc document
	if err := json.Unmarshal(openapi.JSON(), &doc); err != nil {
		panic(fmt.Sprintf("openapi.yaml: %v", err)) // embedded and tested
	}
	var list []*operation
	for path, methods := range doc.Paths {
		for method, source := range methods {
			if method != "parameters" {
				list = append(list, doc.operation(strings.ToUpper(method), path, source))
			}
		}
	}
	slices.SortFunc(list, func(a, b *operation) int { return strings.Compare(a.name, b.name) })
	return list
})

// tool is the operation as clients see it.
func (op *operation) tool() *mcp.Tool {
	about := op.title + ". " + op.about
	if op.writes() {
		about = "Changes data (" + op.method + " " + op.path + "): " + about
	}
	yes, no := true, false
	hints := &mcp.ToolAnnotations{ReadOnlyHint: !op.writes(), OpenWorldHint: &no}
	if op.writes() {
		hints.IdempotentHint = op.method != http.MethodPost
		hints.DestructiveHint = &yes
	}
	return &mcp.Tool{Name: op.name, Title: op.title, Description: about, InputSchema: op.schema, Annotations: hints}
}

func (op *operation) handler(call api) mcp.ToolHandler {
	return func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r, err := op.request(ctx, request.Params.Arguments)
		if err != nil {
			refused := new(mcp.CallToolResult)
			refused.SetError(err)
			return refused, nil
		}
		var header http.Header
		if request.Extra != nil {
			header = request.Extra.Header
		}
		resp, err := call(ctx, header, r)
		if err != nil {
			return nil, fmt.Errorf("call %s %s: %w", op.method, op.path, err)
		}
		return result(resp)
	}
}

// request makes the call of a tool's arguments. Without a field of the body none is
// sent, unless the operation requires one.
func (op *operation) request(ctx context.Context, arguments json.RawMessage) (*http.Request, error) {
	given := map[string]any{}
	if text := bytes.TrimSpace(arguments); len(text) > 0 && !bytes.Equal(text, []byte("null")) {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&given); err != nil {
			return nil, fmt.Errorf("the arguments must be a JSON object: %w", err)
		}
	}
	if unknown := op.unknown(given); len(unknown) > 0 {
		return nil, fmt.Errorf("%s: unknown argument", strings.Join(unknown, ", "))
	}
	address, err := op.address(given)
	if err != nil {
		return nil, err
	}
	body, err := op.body(given)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, op.method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	if len(body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	if key, ok := given[idempotencyKey]; ok && key != nil {
		if strings.ContainsFunc(plain(key), unicode.IsControl) { // no header has them, and PostgreSQL does not store all
			return nil, errors.New(idempotencyKey + ": must not contain control characters")
		}
		r.Header.Set("Idempotency-Key", plain(key))
	}
	return r, nil
}

func (op *operation) unknown(given map[string]any) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(given)) {
		known := slices.Contains(op.inPath, name) || slices.Contains(op.inQuery, name) ||
			slices.Contains(op.inBody, name) || op.keyed && name == idempotencyKey
		if !known {
			list = append(list, name)
		}
	}
	return list
}

// address is the path with its query.
func (op *operation) address(given map[string]any) (string, error) {
	path := op.path
	for _, name := range op.inPath {
		value := plain(given[name])
		if value == "" {
			return "", fmt.Errorf("%s: is required", name)
		}
		path = strings.Replace(path, "{"+name+"}", url.PathEscape(value), 1)
	}
	query := url.Values{}
	for _, name := range op.inQuery {
		if value, ok := given[name]; ok && value != nil {
			query.Set(name, plain(value))
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return basePath + path, nil
}

// body is what the call sends; nil for none.
func (op *operation) body(given map[string]any) ([]byte, error) {
	fields := map[string]any{}
	for _, name := range op.inBody {
		if value, ok := given[name]; ok {
			fields[name] = value
		}
	}
	if len(fields) == 0 && !op.hasBody {
		return nil, nil
	}
	return json.Marshal(fields)
}

// plain is a value as addresses and headers have it: a list with commas.
func plain(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		return value
	case []any:
		parts := make([]string, len(value))
		for i, part := range value {
			parts[i] = plain(part)
		}
		return strings.Join(parts, ",")
	default:
		return fmt.Sprint(value)
	}
}
