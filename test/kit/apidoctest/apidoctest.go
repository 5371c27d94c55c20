// Package apidoctest owns the documents that providers publish of their APIs, as
// test/kit/apidoctest/apiextract extracts them, and compares the exchanges of a test with
// them: a request that breaks the document is refused, and an answer of the
// double that breaks it is reported. It does not know what any call means. Only
// tests import it.
package apidoctest

import (
	"embed"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// extracts are made anew, when a provider publishes another document, with
//
//	apiextract -title … -version … -date … -source … -without UrlAccessToken -slips  (API Pix, openapi.yaml)
//	apiextract … -only '^/api/v1/(charge|transaction|webhook|subscriptions|installments)' -several CustomerPayload  (woovi.json)
//	apiextract … -only '^/(v1/payments|v1/payment_methods$|v1/orders(/\{(id|order_id)\}(/cancel|/refund)?)?$)' -as 3.0.3
//	  -also 'Order.status=…;Order.status_detail=…;OrderTransactionPayment.status=…;…'  (by-site/MLB/spec3.yaml)
//
//go:embed *.json
var extracts embed.FS

// Document is an extract of a published document.
type Document struct {
	Title, Version string
	Date           string // of the version
	Source         string // where it is published

	doc *openapi3.T
	mux *http.ServeMux // finds the *operation of a request
}

// operation is a route of the document. It is a handler only so that a ServeMux
// can find it.
type operation struct{ routers.Route }

func (*operation) ServeHTTP(http.ResponseWriter, *http.Request) {}

// Bacen is the central bank's API Pix, which banks speak.
var Bacen = sync.OnceValue(func() *Document { return open("bacen-pix.json") })

// Woovi is the API of Woovi (OpenPix).
var Woovi = sync.OnceValue(func() *Document { return open("woovi.json") })

// MercadoPago is the API of Mercado Pago in Brazil.
var MercadoPago = sync.OnceValue(func() *Document { return open("mercadopago.json") })

// open reads an extract. One that cannot be read is a fault of the program.
func open(name string) *Document {
	defineFormats()
	data, err := extracts.ReadFile(name)
	if err != nil {
		panic(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		panic(fmt.Errorf("%s: %w", name, err))
	}
	document := &Document{Title: doc.Info.Title, Version: doc.Info.Version, doc: doc, mux: http.NewServeMux()}
	document.Date, _ = doc.Info.Extensions["x-date"].(string)
	document.Source, _ = doc.Info.Extensions["x-source"].(string)
	for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		item := doc.Paths.Map()[path]
		for method, op := range item.Operations() {
			document.mux.Handle(method+" "+path, &operation{routers.Route{
				Spec: doc, Path: path, PathItem: item, Method: method, Operation: op,
			}})
		}
	}
	return document
}

// defineFormats adds the formats that the library leaves open.
var defineFormats = sync.OnceFunc(func() {
	openapi3.DefineStringFormatValidator("uri", openapi3.NewCallbackValidator(func(text string) error {
		address, err := url.Parse(text)
		if err == nil && (text == "" || address.Host == "" && address.Path == "") {
			err = fmt.Errorf("%q is no address", text)
		}
		return err
	}))
})

// options hold bodies, headers and queries to the document. Who may call is not
// its matter.
var options = &openapi3filter.Options{
	MultiError:            true,
	IncludeResponseStatus: true,
	SkipSettingDefaults:   true,
	AuthenticationFunc:    openapi3filter.NoopAuthenticationFunc,
}

// input is a request as the validator wants it; nil when the document has no
// such call.
func (d *Document) input(r *http.Request, base string) *openapi3filter.RequestValidationInput {
	path, under := strings.CutPrefix(r.URL.EscapedPath(), base)
	plain, err := url.PathUnescape(path)
	if !under || err != nil {
		return nil
	}
	address := &url.URL{Path: plain, RawPath: path}
	handler, _ := d.mux.Handler(&http.Request{Method: r.Method, URL: address, Host: r.Host})
	found, ok := handler.(*operation)
	if !ok {
		return nil
	}
	return &openapi3filter.RequestValidationInput{
		Request:    r,
		Route:      &found.Route,
		PathParams: pathValues(found.Path, path),
		Options:    options,
	}
}

// pathValues are the values of a template's names in an escaped path.
func pathValues(template, path string) map[string]string {
	values := map[string]string{}
	parts := strings.Split(path, "/")
	for i, part := range strings.Split(template, "/") {
		if name, named := strings.CutPrefix(part, "{"); named && i < len(parts) {
			value, _ := url.PathUnescape(parts[i]) // the whole of it could be
			values[strings.TrimSuffix(name, "}")] = value
		}
	}
	return values
}

// CheckSchema holds a value against a schema of the document: what a callback
// says, which no call of ours answers.
func (d *Document) CheckSchema(name string, value any) error {
	schema := d.doc.Components.Schemas[name]
	if schema == nil {
		return fmt.Errorf("%s has no schema %s", d.Title, name)
	}
	return schema.Value.VisitJSON(value, openapi3.VisitAsResponse(), openapi3.MultiErrors())
}

// Enum are the values that the document has for a text field of a schema.
func (d *Document) Enum(schema, field string) []string {
	var values []string
	for _, value := range d.doc.Components.Schemas[schema].Value.Properties[field].Value.Enum {
		values = append(values, fmt.Sprint(value))
	}
	return values
}
