// Package wire owns how gateways speak to their providers: JSON over HTTP with
// bounded answers, no redirects, amounts that are never floating point, and
// errors that say what happened and no credential. It also has the skeleton of a
// gateway (look up, make once, cancel, end, retry, search), for which a gateway
// brings its provider's calls. It does not know any provider's API.
package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"carteira/internal/payment"
)

// maxAnswer is how much of an answer is read.
const maxAnswer = 1 << 20

// API is a provider as one company reaches it.
type API struct {
	Base    string            // scheme and host, and what every path begins with
	Client  *http.Client      // its redirects are switched off here
	Header  map[string]string // sent with every call: the credentials
	Secrets []string          // what no error may tell
	// Reason finds what the provider said in the body of a refusal.
	Reason func(body []byte) string
	// Now is the clock by which a provider is left alone that says how long to wait
	// (status 429); nil: it is called all the same.
	Now func() time.Time
	// Account distinguishes accounts if their credentials are in none of these
	// headers.
	Account string
}

// Request is one call.
type Request struct {
	Method string
	Path   string // begins with /
	Query  url.Values
	Header map[string]string
	Body   any        // sent as JSON; nil for none
	Form   url.Values // sent as a form instead; nil for none
	// Secrets are what no error may tell, besides those of the API.
	Secrets []string
}

// Do makes a call and decodes the answer into a value; nil wants none, so that an
// empty answer is one too. An answer that is not a success is a *StatusError.
func (a *API) Do(ctx context.Context, request Request, into any) error {
	status, body, err := a.exchange(ctx, request)
	if err != nil {
		return &callError{a.clean(request, request.name()+": "+plain(err).Error()), err}
	}
	if status < 200 || status > 299 {
		return &StatusError{Status: status, Reason: a.reason(request, body), call: request.name()}
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(body, into); err != nil {
		told := fmt.Sprintf("%s: answered %d with something else than expected: %v", request.name(), status, err)
		return &callError{a.clean(request, told), err}
	}
	return nil
}

// name is the call without its query, which may hold what is not for logs.
func (r Request) name() string { return r.Method + " " + r.Path }

func (a *API) exchange(ctx context.Context, r Request) (int, []byte, error) {
	if err := a.paused(); err != nil {
		return 0, nil, err
	}
	request, err := a.request(ctx, r)
	if err != nil {
		return 0, nil, err
	}
	client := *a.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	a.heed(response)
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return 0, nil, err
	}
	if len(body) > maxAnswer {
		return 0, nil, errors.New("the answer is too long")
	}
	return response.StatusCode, body, nil
}

func (a *API) request(ctx context.Context, r Request) (*http.Request, error) {
	body, kind, err := r.body()
	if err != nil {
		return nil, err
	}
	address := a.Base + r.Path
	if len(r.Query) > 0 {
		address += "?" + r.Query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, address, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "carteira")
	request.Header.Set("Accept", "application/json")
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	for _, headers := range []map[string]string{a.Header, r.Header} {
		for name, value := range headers {
			request.Header.Set(name, value)
		}
	}
	return request, nil
}

// body is what is sent, and its media type.
func (r Request) body() (io.Reader, string, error) {
	switch {
	case r.Form != nil:
		return strings.NewReader(r.Form.Encode()), "application/x-www-form-urlencoded", nil
	case r.Body == nil:
		return nil, "", nil
	}
	encoded, err := json.Marshal(r.Body)
	return bytes.NewReader(encoded), "application/json", err
}

// plain takes off the address that net/http puts before its errors.
func plain(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// callError is a call without an answer that could be used. What it wraps says
// why, for errors.Is; its text is clean.
type callError struct {
	text  string
	cause error
}

func (e *callError) Error() string { return e.text }

func (e *callError) Unwrap() error { return e.cause }

// StatusError is an answer that is not a success.
type StatusError struct {
	Status int
	Reason string // the provider's words, cleaned; may be empty
	call   string
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("%s: answered %d", e.call, e.Status)
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	return text
}

// Status is the status that err is about; 0 when there was no answer.
func Status(err error) int {
	if statusError, ok := errors.AsType[*StatusError](err); ok {
		return statusError.Status
	}
	return 0
}

// Twice makes a change of a charge, and once more when the charge changed under
// it, and returns the outcome.
func Twice(change func() error) error {
	err := change()
	if Changed(err) {
		err = change()
	}
	return Outcome(err)
}

// Live reports whether a charge that was looked up can still be cancelled.
// One that is unknown or cancelled need not be; one that was paid is ErrPaid.
func Live(state payment.State, err error) (bool, error) {
	switch {
	case errors.Is(err, payment.ErrNoCharge):
		return false, nil
	case err != nil:
		return false, err
	case state == payment.StatePaid:
		return false, payment.ErrPaid
	}
	return state != payment.StateCancelled, nil
}

// Outcome turns what the provider understood and turned down into a
// payment.Refusal. Everything else leaves open what happened, and stays as it
// is: no answer, a failure of the provider, too many calls, a conflict, a charge
// that another call is working on.
func Outcome(err error) error {
	statusError, ok := errors.AsType[*StatusError](err)
	if !ok {
		return err
	}
	switch {
	case statusError.Status == http.StatusUnauthorized, statusError.Status == http.StatusForbidden:
		return refusal("the credentials were not accepted", statusError.Reason)
	case statusError.Status == http.StatusRequestTimeout, statusError.Status == http.StatusConflict,
		statusError.Status == http.StatusLocked, statusError.Status == http.StatusTooEarly,
		statusError.Status == http.StatusTooManyRequests:
		return err
	case statusError.Status >= 400 && statusError.Status < 500:
		return refusal(fmt.Sprintf("the answer was: %d", statusError.Status), statusError.Reason)
	}
	return err
}

func refusal(reason, said string) error {
	if said != "" {
		reason += ": " + said
	}
	return &payment.Refusal{Reason: reason}
}

func (a *API) reason(request Request, body []byte) string {
	if a.Reason == nil {
		return ""
	}
	return a.clean(request, a.Reason(body))
}

// maxReason keeps an error on a line that people read.
const maxReason = 300

// clean takes out secrets, and whatever would not fit on a line.
func (a *API) clean(request Request, text string) string {
	for _, secret := range slices.Concat(a.Secrets, request.Secrets) {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "…")
		}
	}
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	if runes := []rune(text); len(runes) > maxReason {
		text = string(runes[:maxReason]) + "…"
	}
	return strings.ToValidUTF8(text, "")
}
