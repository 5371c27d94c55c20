package woovi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
	"carteira/internal/platform/civil"
)

// debitStates are by what Woovi calls them: its pages say CONCLUDED in one place
// and COMPLETED in another. An attempt that failed is not the last word of the day.
var debitStates = map[string]payment.DebitState{
	"CREATED":    payment.DebitAnnounced,
	"ACTIVE":     payment.DebitAnnounced,
	"CONCLUDED":  payment.DebitPaid,
	"COMPLETED":  payment.DebitPaid,
	"FAILED_TRY": payment.DebitRetrying,
	"REJECTED":   payment.DebitFailed,
	"EXPIRED":    payment.DebitFailed,
	"CANCELED":   payment.DebitCancelled,
}

// state is the state of the debit.
func (c *cobr) state() payment.DebitState {
	state := debitStates[c.Status]
	if state == payment.DebitAnnounced && len(c.Tries) > 1 {
		return payment.DebitRetrying
	}
	return state
}

// day is when the instalment is debited, in its first attempt.
func (i *instalment) day() civil.Date { return dayOf(i.Day) }

// dayOf is the day of a text; Woovi writes the noon of it in UTC, or its midnight.
func dayOf(text string) civil.Date {
	at := wire.Time(text)
	if at.IsZero() {
		return civil.Date{}
	}
	return civil.Of(at.UTC())
}

func (d *debitor) report(found *instalment, ref payment.DebitRef) (payment.DebitReport, error) {
	debit := found.Debit
	report := payment.DebitReport{
		DebitRef: payment.DebitRef{
			Ref: payment.Ref{ID: found.GlobalID, Reference: ref.Reference}, Due: found.day(),
			Authorisation: payment.Ref{ID: wire.Pick(found.Parent, ref.Authorisation.ID), Reference: ref.Authorisation.Reference},
		},
		State:    debit.state(),
		On:       found.day(),
		Attempts: len(debit.Tries),
	}
	if day := dayOf(debit.newest().Day); !day.IsZero() {
		report.On = day
	}
	var err error
	switch report.State {
	case "":
		err = fmt.Errorf("a debit of Woovi has the unknown status %.40q", debit.Status)
	case payment.DebitPaid:
		report.Payments, err = debit.received(d.env.Now())
	case payment.DebitFailed:
		report.Reason = wire.Cut(wire.Pick(debit.newest().RejectCode, debit.RejectCode, debit.Status), 300)
	case payment.DebitAnnounced, payment.DebitRetrying, payment.DebitCancelled:
	}
	return report, err
}

const instalmentsPath = "/api/v1/installments/"

// readInstalment reads one by its id. The document has it inside an object, Woovi's
// pages show it bare.
func (d *debitor) readInstalment(ctx context.Context, id string) (*instalment, error) {
	var answer struct {
		instalment
		Inside *instalment `json:"installment"`
	}
	path := instalmentsPath + url.PathEscape(id)
	err := d.api.Get(ctx, path, nil, &answer)
	if wire.Changed(err) {
		return nil, d.unknown(ctx)
	}
	found := answer.Inside
	if found == nil {
		found = &answer.instalment
	}
	return found, wire.Expect(err, found.GlobalID == id, "GET %s: the answer is about %.60q", path, found.GlobalID)
}

// maxShift is how many days a debit's day may differ from Woovi's: it was moved to
// a working day, and Woovi's was not.
const maxShift = 5

// instalmentFor finds the instalment of a day: the nearest one.
func (d *debitor) instalmentFor(ctx context.Context, authorisation payment.Ref, on civil.Date) (*instalment, error) {
	if authorisation.ID == "" {
		found, err := d.findSubscription(ctx, authorisation)
		if err != nil {
			return nil, err
		}
		authorisation.ID = found.GlobalID
	}
	path := subscriptionsPath + "/" + url.PathEscape(authorisation.ID) + "/installments"
	var list struct {
		Instalments []instalment `json:"installments"`
	}
	err := d.api.Get(ctx, path, nil, &list)
	if wire.Changed(err) {
		return nil, d.unknown(ctx)
	}
	if err = wire.Expect(err, list.Instalments != nil, "GET %s: answered without instalments", path); err != nil {
		return nil, err
	}
	var nearest *instalment
	for i := range list.Instalments {
		one := &list.Instalments[i]
		if apart(one.day(), on) <= maxShift && (nearest == nil || apart(one.day(), on) < apart(nearest.day(), on)) {
			nearest = one
		}
	}
	if nearest == nil {
		return nil, payment.ErrNoCharge
	}
	return nearest, nil
}

// apart is how many days lie between two.
func apart(one, other civil.Date) int {
	if one.Before(other) {
		return other.Sub(one)
	}
	return one.Sub(other)
}

// Announce has the instalment of the day debited. Woovi may have announced it by
// itself; then its amount is returned, and money of another amount is a person's
// matter.
func (d *debitor) Announce(ctx context.Context, wanted payment.Debit) (payment.DebitReport, error) {
	ref := payment.DebitRef{Ref: payment.Ref{Reference: wanted.Reference}, Authorisation: wanted.Authorisation, Due: wanted.On}
	return wire.Look(ctx, wanted, d.announce, func(found *instalment) (payment.DebitReport, error) { return d.report(found, ref) })
}

func (d *debitor) announce(ctx context.Context, wanted payment.Debit) (*instalment, error) {
	found, err := d.instalmentFor(ctx, wanted.Authorisation, wanted.On)
	if errors.Is(err, payment.ErrNoCharge) {
		return nil, &payment.Refusal{Reason: "Woovi has no instalment for that day"}
	}
	if err != nil || found.Debit != nil {
		return found, err
	}
	return d.have(ctx, found.GlobalID, wanted)
}

// have has an instalment debited, and reads it back: the document does not say
// what is answered.
func (d *debitor) have(ctx context.Context, id string, wanted payment.Debit) (*instalment, error) {
	path := instalmentsPath + url.PathEscape(id) + "/cobr"
	err := d.api.Send(ctx, http.MethodPost, path, map[string]int64{"value": int64(wanted.Amount)}, nil)
	if err != nil && !wire.Changed(err) {
		return nil, err
	}
	refused := err
	after, err := d.readInstalment(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case after.Debit != nil:
		return after, nil
	case refused != nil:
		return nil, refused
	}
	return nil, fmt.Errorf("POST %s: no debit was made", path)
}

// findDebit reads a debit by its id, or else by the day that it was announced for.
func (d *debitor) findDebit(ctx context.Context, ref payment.DebitRef) (*instalment, error) {
	var found *instalment
	var err error
	switch {
	case ref.ID != "":
		found, err = d.readInstalment(ctx, ref.ID)
	case ref.Due.IsZero():
		err = errors.New("a debit is found by its id or its day, and neither is known")
	default:
		found, err = d.instalmentFor(ctx, ref.Authorisation, ref.Due)
	}
	if err == nil && found.Debit == nil {
		err = payment.ErrNoCharge
	}
	return found, err
}

// FetchDebit reads a debit back.
func (d *debitor) FetchDebit(ctx context.Context, ref payment.DebitRef) (payment.DebitReport, error) {
	return wire.Look(ctx, ref, d.findDebit, func(found *instalment) (payment.DebitReport, error) { return d.report(found, ref) })
}

// CancelDebit cannot stop a debit: Woovi has no call for it.
func (d *debitor) CancelDebit(ctx context.Context, ref payment.DebitRef) error {
	found, err := d.findDebit(ctx, ref)
	if errors.Is(err, payment.ErrNoCharge) {
		return nil
	}
	if err != nil {
		return wire.Outcome(err)
	}
	switch found.Debit.state() {
	case payment.DebitFailed, payment.DebitCancelled:
		return nil
	case payment.DebitAnnounced, payment.DebitRetrying, payment.DebitPaid:
	}
	return payment.ErrPaid
}

// RetryDebit is refused: Woovi has one more attempt at once, and none on a day.
func (d *debitor) RetryDebit(ctx context.Context, ref payment.DebitRef, _ civil.Date) error {
	found, err := d.findDebit(ctx, ref)
	switch {
	case err != nil:
		return wire.Outcome(err)
	case found.Debit.state() == payment.DebitPaid:
		return payment.ErrPaid
	}
	return &payment.Refusal{Reason: "Woovi makes no attempt on another day"}
}
