// Package outbound owns how the program calls addresses that customers gave
// us: which addresses may be reached, and what a call may cost. A Gate decides
// the first and a Client keeps to both.
//
// It knows nothing of webhooks: what is sent, when it is sent again and what an
// answer means are for the caller.
package outbound

import "errors"

// The kinds of failure that callers treat differently. Any other failure is
// the receiver's, and may go away by itself.
var (
	// ErrRefused says that the gate does not allow the address. Nothing was sent.
	ErrRefused = errors.New("address refused")
	// ErrTimeout says that the exchange did not end in time. The receiver may
	// have taken what was sent.
	ErrTimeout = errors.New("timeout")
	// ErrLocal says that this machine could not make the call, for want of
	// files or ports, so that nobody blames the receiver.
	ErrLocal = errors.New("local failure")
)

// Error is why an address was refused or a call has no answer. Reason may be
// shown to the owner of the address; the cause stays inside.
type Error struct {
	Reason string
	kind   error
	cause  error
}

// Error tells everything, for logs; owners of addresses are shown Public.
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
