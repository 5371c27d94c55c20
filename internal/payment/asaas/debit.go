package asaas

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
	"carteira/internal/platform/civil"
)

// instruction is an order to the payer's bank: the debit of a charge, or one more
// attempt at it.
type instruction struct {
	ID            string
	DueDate       string
	Status        string
	PaymentID     string
	RefusalReason string
}

const instructionsPath = "/v3/pix/automatic/paymentInstructions"

// pending reports whether it is still to be executed.
func (i instruction) pending() bool { return i.Status == "AWAITING_REQUEST" || i.Status == "SCHEDULED" }

// day is when it is to be executed. Asaas writes dates in two ways.
func (i instruction) day() civil.Date {
	day, _ := civil.ParseBR(i.DueDate) // none when it is none
	return day
}

// debit is a charge that is debited, with its instructions from the oldest to the
// newest.
type debit struct {
	charge
	instructions []instruction
}

func (d *debit) newest() instruction {
	if len(d.instructions) == 0 {
		return instruction{}
	}
	return d.instructions[len(d.instructions)-1]
}

// state is the state of the debit. today is the bank's: an instruction of a day
// that has passed will not be executed any more.
func (d *debit) state(today civil.Date) (payment.DebitState, error) {
	newest := d.newest()
	missed := d.Status == "OVERDUE" && !newest.day().IsZero() && newest.day().Before(today)
	switch state := d.charge.state(); {
	case state == payment.StatePaid:
		return payment.DebitPaid, nil
	case state == payment.StateCancelled:
		return payment.DebitCancelled, nil
	case state == "":
		return "", fmt.Errorf("a charge of Asaas has the unknown status %.40q", d.Status)
	case newest.Status == "REFUSED", newest.Status == "CANCELLED", newest.pending() && missed:
		return payment.DebitFailed, nil
	case newest.pending() && len(d.instructions) > 1:
		return payment.DebitRetrying, nil
	}
	return payment.DebitAnnounced, nil
}

// report describes the debit. ref names its authorisation.
func (d *debitor) report(found *debit, ref payment.Ref) (payment.DebitReport, error) {
	state, err := found.state(civil.Of(d.env.Now().In(wire.Brasilia)))
	if err != nil {
		return payment.DebitReport{}, err
	}
	report := payment.DebitReport{
		DebitRef: payment.DebitRef{
			Ref:           payment.Ref{ID: found.ID, Reference: found.ExternalReference},
			Authorisation: payment.Ref{ID: wire.Pick(found.PixAutomaticAuthorizationID, ref.ID), Reference: ref.Reference},
		},
		State:    state,
		Attempts: len(found.instructions),
		On:       found.newest().day(),
	}
	if report.On.IsZero() {
		report.On, _ = civil.ParseBR(found.DueDate) // none when it is none
	}
	if state == payment.DebitFailed {
		newest := found.newest()
		report.Reason = wire.Cut(wire.Pick(newest.RefusalReason, newest.Status), 300)
	}
	report.Payments, err = found.received(d.env.Now())
	return report, err
}

// findDebit reads a charge with its instructions, which say nothing more once it is
// paid or removed.
func (d *debitor) findDebit(ctx context.Context, ref payment.Ref) (*debit, error) {
	charge, state, err := d.find(ctx, ref)
	found := &debit{charge: charge}
	if err == nil && state == payment.StatePending {
		found.instructions, err = d.instructions(ctx, charge.ID)
	}
	return found, err
}

func (d *debitor) instructions(ctx context.Context, paymentID string) ([]instruction, error) {
	query := url.Values{"paymentId": {paymentID}, "limit": {"100"}}
	list, err := listOf[instruction](ctx, d.gateway, instructionsPath, query)
	list = slices.DeleteFunc(list, func(i instruction) bool { return i.PaymentID != paymentID })
	slices.SortStableFunc(list, func(a, b instruction) int { return a.day().Compare(b.day()) })
	return list, err
}

type debitRequest struct {
	chargeRequest
	AuthorizationID string `json:"pixAutomaticAuthorizationId"`
}

// Announce makes a charge of the authorisation, unless the search finds it. Asaas
// makes the order to the payer's bank by itself.
func (d *debitor) Announce(ctx context.Context, wanted payment.Debit) (payment.DebitReport, error) {
	found, err := wire.Make(
		func() (*debit, error) { return d.findDebit(ctx, payment.Ref{Reference: wanted.Reference}) },
		func() (*debit, error) { return d.announce(ctx, wanted) })
	if err != nil {
		return payment.DebitReport{}, wire.Outcome(err)
	}
	return d.report(found, wanted.Authorisation)
}

func (d *debitor) announce(ctx context.Context, wanted payment.Debit) (*debit, error) {
	by, err := d.findAuthorisation(ctx, wanted.Authorisation)
	switch {
	case errors.Is(err, payment.ErrNoCharge):
		return nil, &payment.Refusal{Reason: "Asaas does not know the authorisation"}
	case err != nil:
		return nil, err
	case by.Status != "ACTIVE":
		return nil, &payment.Refusal{Reason: "the authorisation is not active"}
	}
	made, err := d.post(ctx, debitRequest{chargeRequest{
		Customer:          by.CustomerID,
		BillingType:       "PIX",
		Value:             wire.Number(wanted.Amount),
		DueDate:           wanted.On.String(),
		Description:       wire.Cut(wanted.Description, 500),
		ExternalReference: wanted.Reference,
	}, by.ID}, wanted.Reference)
	return &debit{charge: made}, err
}

// FetchDebit reads a debit back.
func (d *debitor) FetchDebit(ctx context.Context, ref payment.DebitRef) (payment.DebitReport, error) {
	return wire.Look(ctx, ref.Ref, d.findDebit, func(found *debit) (payment.DebitReport, error) {
		return d.report(found, ref.Authorisation)
	})
}

// CancelDebit removes the charge: one that failed could still be paid by its code.
func (d *debitor) CancelDebit(ctx context.Context, ref payment.DebitRef) error {
	return wire.Cancel(ctx, ref.Ref, d.find, func(ctx context.Context, c charge) error {
		err := d.remove(ctx, c)
		if !wire.Changed(err) {
			return err
		}
		_, state, err := d.find(ctx, ref.Ref)
		if live, err := wire.Live(state, err); !live {
			return err
		}
		return payment.ErrPaid // the payer's bank has it already
	})
}

// RetryDebit asks for one more attempt.
func (d *debitor) RetryDebit(ctx context.Context, ref payment.DebitRef, on civil.Date) error {
	return wire.Retry(func() (*debit, error) { return d.findDebit(ctx, ref.Ref) }, func(found *debit) (tried, paid bool) {
		tried = slices.ContainsFunc(found.instructions, func(i instruction) bool { return i.day() == on })
		return tried, found.charge.state() == payment.StatePaid
	}, func(found *debit) error {
		newest := found.newest()
		if newest.ID == "" {
			return &payment.Refusal{Reason: "no attempt was made yet"}
		}
		var made instruction
		path := instructionsPath + "/" + url.PathEscape(newest.ID) + "/retries"
		err := d.api.Send(ctx, http.MethodPost, path, map[string]string{"dueDate": on.String()}, &made)
		return wire.Expect(err, made.ID != "", "POST %s: the answer lacks an id", path)
	})
}

// Fetch also reads the charge that an authorisation's code pays: the payments that
// came by that code.
func (d *debitor) Fetch(ctx context.Context, ref payment.Ref) (payment.Report, error) {
	code, ok := strings.CutPrefix(ref.ID, qrCharge)
	if !ok {
		return d.gateway.Fetch(ctx, ref)
	}
	report := payment.Report{Charge: payment.Charge{ID: ref.ID}, Reference: ref.Reference, State: payment.StatePending}
	list, err := listOf[charge](ctx, d.gateway, chargesPath, url.Values{"pixQrCodeId": {code}, "limit": {"20"}})
	for i := range list {
		if list[i].PixQrCodeID != code || list[i].state() != payment.StatePaid {
			continue
		}
		received, err := list[i].received(d.env.Now())
		if err != nil {
			return report, err
		}
		report.State, report.Payments = payment.StatePaid, append(report.Payments, received...)
	}
	return report, wire.Outcome(err)
}

// Cancel of a charge that an authorisation's code pays ends that authorisation, as
// long as the payer has not agreed to it.
func (d *debitor) Cancel(ctx context.Context, ref payment.Ref) error {
	code, ok := strings.CutPrefix(ref.ID, qrCharge)
	if !ok {
		return d.gateway.Cancel(ctx, ref)
	}
	report, err := d.Fetch(ctx, ref)
	if live, err := wire.Live(report.State, err); !live {
		return err
	}
	found, err := d.searchAuthorisation(ctx, "", func(a *authorisation) bool { return a.QR.ConciliationID == code })
	if errors.Is(err, payment.ErrNoCharge) || err == nil && found.Status != "CREATED" {
		return nil
	}
	if err != nil {
		return wire.Outcome(err)
	}
	return d.EndAuthorisation(ctx, payment.Ref{ID: found.ID})
}
