package outbound

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
)

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
