package payment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/event"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// audited are the actions in the company's audit log, oldest first, each with
// the fields that it shows.
func (w *world) audited(t *testing.T) []string {
	t.Helper()
	lines, _, err := w.accounts.Audit(t.Context(), w.actor, account.AuditFilter{}, input.Page{Number: 1, Size: 50})
	must(t, err)
	slices.Reverse(lines)
	var list []string
	for _, line := range lines {
		if line.Record == "company" {
			continue // it was there before
		}
		var changes []string
		for _, c := range line.Changes {
			changes = append(changes, c.Field+"="+c.After)
		}
		slices.Sort(changes)
		list = append(list, line.Action+" "+strings.Join(changes, " "))
	}
	return list
}

func (w *world) wantAudited(t *testing.T, want ...string) {
	t.Helper()
	got := slices.DeleteFunc(w.audited(t), func(line string) bool {
		return strings.HasPrefix(line, "invoice.") || strings.HasPrefix(line, "customer.")
	})
	if !slices.Equal(got, want) {
		t.Errorf("the audit log has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The knot of the rooms: payment pays an invoice, billing calls its watchers, and
// payment, one of them, cancels every charge of the invoice that is still
// unpaid. The charge that brought the money must be paid by then.
func TestChargeIsPaidBeforeItsInvoiceIs(t *testing.T) {
	settled := func(t *testing.T, w *world, invoiceID int64, code string) {
		t.Helper()
		w.bank.pay(t, code, 3500)
		w.later(t, time.Minute)
	}
	confirmed := func(t *testing.T, w *world, invoiceID int64, _ string) {
		t.Helper()
		_, err := w.ConfirmByHand(t.Context(), w.actor, Confirmation{InvoiceID: invoiceID, Amount: 3500})
		must(t, err)
	}
	decided := func(t *testing.T, w *world, _ int64, code string) {
		t.Helper()
		w.bank.pay(t, code, 3400)
		w.later(t, time.Minute)
		_, err := w.Decide(t.Context(), w.actor, Decision{ReviewID: w.wantReviews(t, ReasonWrongAmount)[0].ID, Resolution: Applied, Difference: billing.DifferenceDiscount})
		must(t, err)
	}
	for name, c := range map[string]struct {
		provider string
		pay      func(t *testing.T, w *world, invoiceID int64, code string)
	}{
		"settled": {"fake", settled}, "confirmed by hand": {"hand", confirmed}, "decided": {"fake", decided},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				w.gateway(t, "provider", c.provider, "secret", "s3cret-of-the-company")
				i := w.invoice(t)
				p := w.charged(t, i.ID)
				var states []string
				w.events.Watch(func(ctx context.Context, tx *sqldb.Tx, e event.Event) error {
					if e.Name != event.InvoicePaid {
						return nil
					}
					state, err := sqldb.Value[string](ctx, tx, `SELECT state FROM charges WHERE invoice_id = ?`, i.ID)
					states = append(states, state)
					return err
				})
				c.pay(t, w, i.ID, p.PixCode)
				if len(states) == 0 || slices.ContainsFunc(states, func(s string) bool { return s != "paid" }) {
					t.Errorf("when the invoice is paid its charge is %v, want paid", states)
				}
				w.wantStates(t, i.ID, "paid")
				if w.bank.called("cancel") != 0 {
					t.Error("the charge that was paid is cancelled")
				}
			})
		})
	}
}

// A charge takes no step that the table does not have, and every state but paid
// leads to paid: money may come at any time.
func TestChargeTakesNoStepThatTheTableLacks(t *testing.T) {
	all := []chargeState{reserved, pending, cancelling, paid, cancelled, expired, refused}
	for _, from := range all {
		if !from.leadsTo(paid) {
			t.Errorf("%s does not lead to paid", from)
		}
		if from.leadsTo(reserved) && from != reserved {
			t.Errorf("%s leads back to reserved", from)
		}
		if !from.closed() && !from.leadsTo(cancelling) {
			t.Errorf("%s cannot be cancelled", from)
		}
	}
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		w.charged(t, i.ID)
		change := changeOf(w.only(t, i.ID))
		change.after.enter(refused, w.clock.Now())
		err := w.db.Write(t.Context(), func(tx *sqldb.Tx) error { return w.applyCharge(t.Context(), tx, &change) })
		if err == nil || !strings.Contains(err.Error(), `no step leads from "pending" to "refused"`) {
			t.Errorf("got %v", err)
		}
		w.wantStates(t, i.ID, "pending")
	})
}

func TestGatewayChangesAreAuditedWithoutSecrets(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.actor = account.Operator(w.actor.Company)
		w.gateway(t, "provider", "fake", "secret", "another-secret-of-it", "color", "red")
		w.gateway(t, "provider", "fake", "color", "")
		must(t, w.ClearGateway(t.Context(), w.actor))
		w.wantAudited(t,
			"gateway.set color=red secret=…f-it", "gateway.set color=", "gateway.cleared active= provider= secret=")
	})
}

// What a gateway reports is no person's act; what a person confirms or decides
// leaves a line.
func TestPaymentsOfPeopleAreAuditedAndThoseOfGatewaysAreNot(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		program := w.actor
		i, j, k := w.invoice(t), w.invoice(t), w.invoice(t)
		w.bank.pay(t, w.charged(t, i.ID).PixCode, 3500)
		w.bank.pay(t, w.charged(t, j.ID).PixCode, 3400)
		w.later(t, time.Hour)
		w.wantPaid(t, i)
		if lines := w.audited(t); len(lines) != 0 {
			t.Errorf("a settlement leaves %v", lines)
		}
		review := w.wantReviews(t, ReasonWrongAmount)[0]
		w.gateway(t, "provider", "hand", "secret", "x")
		w.charged(t, k.ID)
		w.actor = account.Actor{Company: program.Company, UserID: 7, Name: "Ana", From: "203.0.113.1"}
		decided, err := w.Decide(t.Context(), w.actor, Decision{ReviewID: review.ID, Resolution: Applied, Difference: billing.DifferenceDiscount, Note: "combinado"})
		must(t, err)
		_, err = w.ConfirmByHand(t.Context(), w.actor, Confirmation{InvoiceID: k.ID, Amount: 3500, PaymentID: "E1"})
		must(t, err)
		w.wantAudited(t,
			fmt.Sprintf("payment.reviewed amount=34.00 note=combinado payment_id=%s reason=wrong_amount resolution=applied", review.Payment.ID),
			"payment.confirmed amount=35.00 payment_id=E1")
		list, err := w.Payments(t.Context(), w.actor, k.ID)
		if err != nil || len(list) != 1 || list[0].ConfirmedBy != "user:7" || decided.ResolvedBy != "user:7" {
			t.Errorf("confirmed %+v, decided by %q, %v", list, decided.ResolvedBy, err)
		}
	})
}

func TestDraftOfAGoCallerIsCheckedByTheProvidersOptions(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for field, draft := range map[string]GatewayDraft{
			"provider": {Provider: "paypal"},
			"secret":   {Provider: "other"},
			"color":    {Provider: "fake", Options: map[string]string{"color": "blue"}},
			"colour":   {Provider: "fake", Options: map[string]string{"colour": "red"}},
		} {
			_, err := w.ConfigureGateway(t.Context(), w.actor, draft)
			wantField(t, err, field)
		}
		u, err := w.ConfigureGateway(t.Context(), w.actor, GatewayDraft{Provider: "fake", Options: map[string]string{"color": "green"}})
		if err != nil || u.Options["color"] != "green" || u.Options["secret"] != "…pany" {
			t.Errorf("got %+v, %v", u.Options, err)
		}
		_, err = w.Decide(t.Context(), w.actor, Decision{ReviewID: 1})
		wantField(t, err, "resolution")
	})
}

// A transaction may run again: the second run begins from what the first one
// read and has none of its changes.
func TestSettlementThatRunsAgainDecidesAnew(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		p := w.charged(t, i.ID)
		w.bank.pay(t, p.PixCode, 3500)
		c := w.only(t, i.ID)
		setup, err := w.setupByID(t.Context(), c.companyID, c.gatewayID)
		must(t, err)
		report, err := w.report(t.Context(), check{setup, c})
		must(t, err)
		st := &settlement{service: w.Service, actor: w.actor, setup: setup, report: report}
		gaveUp := errors.New("gave up")
		for _, end := range []error{gaveUp, nil} {
			err := w.db.Write(t.Context(), func(tx *sqldb.Tx) error {
				if err := st.write(t.Context(), tx, c); err != nil {
					return err
				}
				return end
			})
			if !errors.Is(err, end) {
				t.Fatal(err)
			}
		}
		w.wantPaid(t, i)
		w.wantReviews(t)
	})
}
