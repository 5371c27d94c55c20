package wire

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"carteira/internal/payment"
)

// Get reads what there is at a path.
func (a *API) Get(ctx context.Context, path string, query url.Values, into any) error {
	return a.Do(ctx, Request{Method: http.MethodGet, Path: path, Query: query}, into)
}

// Send changes what there is at a path; a nil body is none.
func (a *API) Send(ctx context.Context, method, path string, body, into any) error {
	return a.Do(ctx, Request{Method: method, Path: path, Body: body}, into)
}

// Expect is err, or else says that an answer is not what it must be.
func Expect(err error, holds bool, format string, args ...any) error {
	if err == nil && !holds {
		return fmt.Errorf(format, args...)
	}
	return err
}

// Known turns the status of a record that a provider does not have into ErrNoCharge.
func Known(err error) error {
	if Status(err) == http.StatusNotFound {
		return payment.ErrNoCharge
	}
	return err
}

// Unsure hides a status that must not pass for a refusal: something may have been made.
func Unsure(err error) error {
	if Status(err) == 0 {
		return err
	}
	return errors.New(err.Error())
}

// Look finds a record of a provider and describes it.
func Look[K, R, T any](ctx context.Context, ref K, find func(context.Context, K) (R, error), describe func(R) (T, error)) (T, error) {
	found, err := find(ctx, ref)
	if err != nil {
		var none T
		return none, Outcome(err)
	}
	return describe(found)
}

// Make returns the record that was made under a reference before, or makes it.
func Make[R any](find, create func() (R, error)) (R, error) {
	found, err := find()
	if errors.Is(err, payment.ErrNoCharge) {
		return create()
	}
	return found, err
}

// Cancel makes sure that a charge can be paid no more: one that is unknown or over needs
// nothing, and one that was paid is ErrPaid.
func Cancel[C any](
	ctx context.Context, ref payment.Ref,
	find func(context.Context, payment.Ref) (C, payment.State, error), end func(context.Context, C) error,
) error {
	return Twice(func() error {
		found, state, err := find(ctx, ref)
		if live, err := Live(state, err); !live {
			return err
		}
		return end(ctx, found)
	})
}

// End makes sure that nothing more is debited by an authorisation: one that is unknown or
// over needs nothing.
func End[A any](
	ctx context.Context, ref payment.Ref, find func(context.Context, payment.Ref) (A, error),
	live func(A) bool, end func(context.Context, A) error,
) error {
	return Twice(func() error {
		found, err := find(ctx, ref)
		if errors.Is(err, payment.ErrNoCharge) {
			return nil
		}
		if err != nil || !live(found) {
			return err
		}
		return end(ctx, found)
	})
}

// Retry asks for one more attempt of a debit, unless there is one or the debit was paid.
// One that was turned down may be under way: the answer of the call before was lost.
func Retry[D any](find func() (D, error), facts func(D) (tried, paid bool), retry func(D) error) error {
	found, err := find()
	if err != nil {
		return Outcome(err)
	}
	switch tried, paid := facts(found); {
	case tried:
		return nil
	case paid:
		return payment.ErrPaid
	}
	err = retry(found)
	if Changed(err) {
		again, failed := find()
		if failed != nil {
			return Outcome(failed)
		}
		if tried, _ := facts(again); tried {
			return nil
		}
	}
	return Outcome(err)
}

// PerPage is how many records a page of a list has.
const PerPage = 100

// maxPages bounds a search: with more pages it fails, instead of taking what was not seen
// for something that is not there.
const maxPages = 50

// Search goes through the pages of a list for the record of the highest rank; 0 is not
// wanted.
func Search[R any](pages func(page int) (list []R, more bool, err error), rank func(*R) int) (best R, err error) {
	highest := 0
	for page := range maxPages {
		list, more, err := pages(page)
		if err != nil {
			return best, err
		}
		for i := range list {
			if r := rank(&list[i]); r > highest {
				best, highest = list[i], r
			}
		}
		if !more && highest == 0 {
			return best, payment.ErrNoCharge
		}
		if !more {
			return best, nil
		}
	}
	return best, Expect(nil, highest > 0, "there are too many records to search")
}
