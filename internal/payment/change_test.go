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
		for _, change := range line.Changes {
			changes = append(changes, change.Field+"="+change.After)
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
	settled := func(t *testing.T, world *world, invoiceID int64, code string) {
		t.Helper()
		world.bank.pay(t, code, 3500)
		world.later(t, time.Minute)
	}
	confirmed := func(t *testing.T, world *world, invoiceID int64, _ string) {
		t.Helper()
		_, err := world.ConfirmByHand(t.Context(), world.actor, Confirmation{InvoiceID: invoiceID, Amount: 3500})
		must(t, err)
	}
	decided := func(t *testing.T, world *world, _ int64, code string) {
		t.Helper()
		world.bank.pay(t, code, 3400)
		world.later(t, time.Minute)
		_, err := world.Decide(t.Context(), world.actor, Decision{ReviewID: world.wantReviews(t, ReasonWrongAmount)[0].ID, Resolution: Applied, Difference: billing.DifferenceDiscount})
		must(t, err)
	}
	for name, c := range map[string]struct {
		provider string
		pay      func(t *testing.T, w *world, invoiceID int64, code string)
	}{
		"settled": {"fake", settled}, "confirmed by hand": {"hand", confirmed}, "decided": {"fake", decided},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, world *world) {
				world.gateway(t, "provider", c.provider, "secret", "s3cret-of-the-company")
				invoice := world.invoice(t)
				payable := world.charged(t, invoice.ID)
				var states []string
				world.events.Watch(func(ctx context.Context, tx *sqldb.Tx, recorded event.Event) error {
					if recorded.Name != event.InvoicePaid {
						return nil
					}
					state, err := sqldb.Value[string](ctx, tx, `SELECT state FROM charges WHERE invoice_id = ?`, invoice.ID)
					states = append(states, state)
					return err
				})
				c.pay(t, world, invoice.ID, payable.PixCode)
				if len(states) == 0 || slices.ContainsFunc(states, func(s string) bool { return s != "paid" }) {
					t.Errorf("when the invoice is paid its charge is %v, want paid", states)
				}
				world.wantStates(t, invoice.ID, "paid")
				if world.bank.called("cancel") != 0 {
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
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		world.charged(t, invoice.ID)
		change := changeOf(world.only(t, invoice.ID))
		change.after.enter(refused, world.clock.Now())
		err := world.db.Write(t.Context(), func(tx *sqldb.Tx) error { return world.applyCharge(t.Context(), tx, &change) })
		if err == nil || !strings.Contains(err.Error(), `no step leads from "pending" to "refused"`) {
			t.Errorf("got %v", err)
		}
		world.wantStates(t, invoice.ID, "pending")
	})
}

func TestGatewayChangesAreAuditedWithoutSecrets(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		world.actor = account.Operator(world.actor.Company)
		world.gateway(t, "provider", "fake", "secret", "another-secret-of-it", "color", "red")
		world.gateway(t, "provider", "fake", "color", "")
		must(t, world.ClearGateway(t.Context(), world.actor))
		world.wantAudited(t,
			"gateway.set color=red secret=…f-it", "gateway.set color=", "gateway.cleared active= provider= secret=")
	})
}

// What a gateway reports is no person's act; what a person confirms or decides
// leaves a line.
func TestPaymentsOfPeopleAreAuditedAndThoseOfGatewaysAreNot(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		program := world.actor
		invoice, other, bill := world.invoice(t), world.invoice(t), world.invoice(t)
		world.bank.pay(t, world.charged(t, invoice.ID).PixCode, 3500)
		world.bank.pay(t, world.charged(t, other.ID).PixCode, 3400)
		world.later(t, time.Hour)
		world.wantPaid(t, invoice)
		if lines := world.audited(t); len(lines) != 0 {
			t.Errorf("a settlement leaves %v", lines)
		}
		review := world.wantReviews(t, ReasonWrongAmount)[0]
		world.gateway(t, "provider", "hand", "secret", "x")
		world.charged(t, bill.ID)
		world.actor = account.Actor{Company: program.Company, UserID: 7, Name: "Ana", From: "203.0.113.1"}
		decided, err := world.Decide(t.Context(), world.actor, Decision{ReviewID: review.ID, Resolution: Applied, Difference: billing.DifferenceDiscount, Note: "combinado"})
		must(t, err)
		_, err = world.ConfirmByHand(t.Context(), world.actor, Confirmation{InvoiceID: bill.ID, Amount: 3500, PaymentID: "E1"})
		must(t, err)
		world.wantAudited(t,
			fmt.Sprintf("payment.reviewed amount=34.00 note=combinado payment_id=%s reason=wrong_amount resolution=applied", review.Payment.ID),
			"payment.confirmed amount=35.00 payment_id=E1")
		list, err := world.Payments(t.Context(), world.actor, bill.ID)
		if err != nil || len(list) != 1 || list[0].ConfirmedBy != "user:7" || decided.ResolvedBy != "user:7" {
			t.Errorf("confirmed %+v, decided by %q, %v", list, decided.ResolvedBy, err)
		}
	})
}

func TestDraftOfAGoCallerIsCheckedByTheProvidersOptions(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		for field, draft := range map[string]GatewayDraft{
			"provider": {Provider: "paypal"},
			"secret":   {Provider: "other"},
			"color":    {Provider: "fake", Options: map[string]string{"color": "blue"}},
			"colour":   {Provider: "fake", Options: map[string]string{"colour": "red"}},
		} {
			_, err := world.ConfigureGateway(t.Context(), world.actor, draft)
			wantField(t, err, field)
		}
		setup, err := world.ConfigureGateway(t.Context(), world.actor, GatewayDraft{Provider: "fake", Options: map[string]string{"color": "green"}})
		if err != nil || setup.Options["color"] != "green" || setup.Options["secret"] != "…pany" {
			t.Errorf("got %+v, %v", setup.Options, err)
		}
		_, err = world.Decide(t.Context(), world.actor, Decision{ReviewID: 1})
		wantField(t, err, "resolution")
	})
}

// A transaction may run again: the second run begins from what the first one
// read and has none of its changes.
func TestSettlementThatRunsAgainDecidesAnew(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		payable := world.charged(t, invoice.ID)
		world.bank.pay(t, payable.PixCode, 3500)
		charge := world.only(t, invoice.ID)
		setup, err := world.setupByID(t.Context(), charge.companyID, charge.gatewayID)
		must(t, err)
		report, err := world.report(t.Context(), check{setup, charge})
		must(t, err)
		st := &settlement{service: world.Service, actor: world.actor, setup: setup, report: report}
		gaveUp := errors.New("gave up")
		for _, end := range []error{gaveUp, nil} {
			err := world.db.Write(t.Context(), func(tx *sqldb.Tx) error {
				if err := st.write(t.Context(), tx, charge); err != nil {
					return err
				}
				return end
			})
			if !errors.Is(err, end) {
				t.Fatal(err)
			}
		}
		world.wantPaid(t, invoice)
		world.wantReviews(t)
	})
}
