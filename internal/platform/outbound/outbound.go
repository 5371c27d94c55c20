// Package outbound owns how the program calls addresses that customers gave
// us: which addresses may be reached, and what a call may cost. A Gate decides
// the first and a Client keeps to both.
//
// It knows nothing of webhooks: what is sent, when it is sent again and what an
// answer means are for the caller.
package outbound

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// The kinds of failure that callers treat differently. Any other failure is
// the receiver's, and may go away by itself.
var (
	// ErrRefused says that the gate does not allow the address. Nothing was sent.
	ErrRefused = errors.New("address refused")
	// ErrTimeout says that the exchange did not end in time. The receiver may
	// have taken what was sent.
	ErrTimeout = errors.New("timeout")
	// ErrLocal says that this machine could not make the call, because it has
	// no free files or ports, so that the receiver is not blamed.
	ErrLocal = errors.New("local failure")
)

// Error is why an address was refused or a call has no answer. Reason may be
// shown to the owner of the address; the cause stays inside.
type Error struct {
	Reason string
	kind   error
	cause  error
}

// Error has the whole cause, for logs; owners of addresses are shown Public.
func (e *Error) Error() string {
	if e.cause == nil {
		return e.Reason
	}
	return e.Reason + ": " + e.cause.Error()
}

// Unwrap returns the kind of the failure and its private cause.
func (e *Error) Unwrap() []error {
	var all []error
	for _, err := range []error{e.kind, e.cause} {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}

// Public is what the owner of an address may read of err: no address, no name
// of ours, nothing that another system said.
func Public(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	return reasonFailed
}

func refuse(reason string) error {
	return &Error{Reason: reason, kind: ErrRefused}
}

// maxRetryAfter keeps what a receiver asks for within reason.
const maxRetryAfter = 24 * time.Hour

// Result is an answer.
type Result struct {
	Status     int
	Body       []byte        // UTF-8 text without NUL, whatever was received
	Truncated  bool          // Body is not all that the receiver had to say
	RetryAfter time.Duration // how long the receiver asked to be left alone, at most a day
	Duration   time.Duration // of the exchange, from the name lookup to the end of the body
}

// readResult reads at most maxBody bytes. If more was to come, closing the
// body also closes the connection.
func readResult(ctx context.Context, response *http.Response, maxBody int) Result {
	result := Result{Status: response.StatusCode, RetryAfter: retryAfter(response.Header)}
	if response.StatusCode == http.StatusSwitchingProtocols {
		return result // the body would be the bare connection, which no deadline holds
	}
	raw, err := io.ReadAll(io.LimitReader(response.Body, int64(maxBody)+1))
	var short bool
	result.Body, short = safeText(raw, maxBody)
	// A receiver that hangs up because we do, at the end of the time, makes
	// what came so far look whole.
	result.Truncated = short || err != nil || ctx.Err() != nil
	return result
}

// safeText makes text of at most limit bytes that any database and page can
// take, and reports whether that made it shorter.
func safeText(raw []byte, limit int) (text []byte, short bool) {
	whole := bytes.ReplaceAll(bytes.ToValidUTF8(cut(raw, limit), []byte("\uFFFD")), []byte{0}, nil)
	text = cut(whole, limit)
	return text, len(raw) > limit || len(text) < len(whole)
}

// cut shortens b to at most n bytes and does not split a character.
func cut(buf []byte, n int) []byte {
	if len(buf) <= n {
		return buf
	}
	for back := range min(utf8.UTFMax, n) {
		if utf8.RuneStart(buf[n-back]) {
			return buf[:n-back]
		}
	}
	return buf[:n]
}

func retryAfter(header http.Header) time.Duration {
	text := header.Get("Retry-After")
	if text == "" {
		return 0
	}
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(time.Until(at), 0), maxRetryAfter)
}

// What the owner of an address reads about a call without an answer.
const (
	reasonCancelled   = "the call was interrupted"
	reasonTimeout     = "no answer in time"
	reasonLocal       = "the call could not be made; not the receiver's fault"
	reasonFailed      = "the call failed"
	reasonNoName      = "name does not resolve"
	reasonRefused     = "connection refused"
	reasonReset       = "connection reset"
	reasonUnreachable = "host unreachable"
	reasonClosed      = "connection closed without an answer"
	reasonBigHeaders  = "the headers of the answer are too large"
	reasonNotHTTP     = "the answer is not valid HTTP"
	reasonUntrusted   = "TLS: certificate is not trusted"
	reasonOtherName   = "TLS: certificate is for another name"
	reasonExpired     = "TLS: certificate is expired or not yet valid"
	reasonTLS         = "TLS: handshake failed"
)

var errnoReasons = []struct {
	errno  syscall.Errno
	reason string
}{
	{syscall.ECONNREFUSED, reasonRefused},
	{syscall.ECONNRESET, reasonReset},
	{syscall.ECONNABORTED, reasonReset},
	{syscall.EPIPE, reasonReset},
	{syscall.EHOSTUNREACH, reasonUnreachable},
	{syscall.ENETUNREACH, reasonUnreachable},
	{syscall.EACCES, reasonUnreachable}, // a firewall of this machine
	{syscall.EPERM, reasonUnreachable},
}

var localErrnos = []syscall.Errno{
	syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOBUFS, syscall.EADDRNOTAVAIL,
}

// wordReasons knows the errors of net/http, which have no types.
var wordReasons = []struct{ word, reason string }{
	{"response headers exceeded", reasonBigHeaders},
	{"malformed", reasonNotHTTP},
	{"transfer encoding", reasonNotHTTP},
	{"Content-Length", reasonNotHTTP},
}

// explain turns the failure of a call into an *Error. given is the caller's
// context and limited the one with the time limit of the call.
func explain(given, limited context.Context, err error) error {
	if refusal, ok := errors.AsType[*Error](err); ok {
		return refusal
	}
	switch {
	case given.Err() != nil:
		return &Error{Reason: reasonCancelled, cause: given.Err()}
	case limited.Err() != nil, isTimeout(err):
		return &Error{Reason: reasonTimeout, kind: ErrTimeout, cause: err}
	case isLocal(err):
		return &Error{Reason: reasonLocal, kind: ErrLocal, cause: err}
	}
	return &Error{Reason: reasonOf(err), cause: err}
}

func isTimeout(err error) bool {
	timed, ok := errors.AsType[net.Error](err)
	return ok && timed.Timeout() && !errors.Is(err, errNoAddress)
}

func isLocal(err error) bool {
	errno, ok := errors.AsType[syscall.Errno](err)
	return ok && slices.Contains(localErrnos, errno)
}

func reasonOf(err error) string {
	if errors.Is(err, errNoAddress) {
		return reasonNoName
	}
	for _, reason := range errnoReasons {
		if errors.Is(err, reason.errno) {
			return reason.reason
		}
	}
	if _, ok := errors.AsType[*handshakeError](err); ok {
		return tlsReason(err)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return reasonClosed
	}
	for _, reason := range wordReasons {
		if strings.Contains(err.Error(), reason.word) {
			return reason.reason
		}
	}
	return reasonFailed
}

func tlsReason(err error) string {
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return reasonOtherName
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return reasonExpired
	}
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	if unknown || invalid {
		return reasonUntrusted
	}
	return reasonTLS
}
