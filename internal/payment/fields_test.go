package payment

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"carteira/internal/billing"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
)

// fill sets every exported field of a struct to something that is not its zero
// value.
func fill(v reflect.Value) {
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			set(v.Field(i), i+1)
		}
	}
}

func set(v reflect.Value, n int) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(noon.Add(time.Duration(n) * time.Minute)))
		return
	case map[string]string:
		v.Set(reflect.ValueOf(map[string]string{"secret": "text"}))
		return
	case Provider:
		v.Set(reflect.ValueOf(Provider{Name: "fake", Title: "Fake"}))
		return
	case Payment:
		fill(v)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text%d", n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(n))
	case reflect.Bool:
		v.SetBool(true)
	default:
		panic(fmt.Sprintf("no filling for a %s", v.Type()))
	}
}

// eachField calls check with a T that has only one exported field filled.
func eachField[T any](t *testing.T, exceptions map[string]string, check func(T) bool, complaint string) {
	t.Helper()
	var full T
	source := reflect.ValueOf(&full).Elem()
	fill(source)
	for i := range source.NumField() {
		field := source.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		var one T
		reflect.ValueOf(&one).Elem().Field(i).Set(source.Field(i))
		if _, excepted := exceptions[field.Name]; check(one) == excepted {
			t.Errorf("%T.%s: %s (excepted: %v)", one, field.Name, complaint, excepted)
		}
	}
}

// notAuditedPayment are the fields of Payment that no line of the audit log has.
var notAuditedPayment = map[string]string{
	"Number":      "the line is the invoice's",
	"Provider":    "the invoice's own line has it as paid_via",
	"CustomerID":  "the line has the customer's name",
	"Currency":    "a person confirms reais, and decides about others by their reason",
	"PaidAt":      "the invoice's own line has the day",
	"Via":         "the invoice's own line has it as paid_via",
	"Refund":      "a gateway reports it, which is no person's act",
	"Status":      "the resolution says so",
	"ConfirmedBy": "the line says who",
	"ReviewID":    "a query fills it in",
}

var notAuditedReview = map[string]string{
	"ID":         "the line is the invoice's",
	"Payment":    "audited by its own fields",
	"CreatedAt":  "the gateway's, and no decision",
	"ResolvedAt": "the line's own time",
	"ResolvedBy": "the line says who",
}

func TestEveryFieldThatAPersonDecidesIsAudited(t *testing.T) {
	shown := func(c paymentChange) string { return fmt.Sprint(c.audit()) }
	none := shown(paymentChange{})
	eachField(t, notAuditedPayment, func(p Payment) bool { return shown(paymentChange{after: p}) != none }, "is missing in auditedFields (payment_change.go)")
	eachField(t, notAuditedReview, func(r Review) bool { return shown(paymentChange{review: r}) != none }, "is missing in auditedFields (payment_change.go)")
}

// notAuditedSetup are the fields of Setup that no person changes.
var notAuditedSetup = map[string]string{
	"ID":          "the line's own",
	"CompanyID":   "the line's own",
	"Options":     "made of the options in the clear, which TestEveryOptionOfAGatewayIsAudited is about",
	"CallbackURL": "made once, never changed",
	"Failures":    "the engine counts them",
	"Problem":     "the engine writes it",
	"PausedUntil": "the engine writes it",
	"UpdatedAt":   "the line's own time",
}

func TestEveryFieldOfAGatewayIsAudited(t *testing.T) {
	shown := func(u Setup) string {
		u.name = u.Provider.Name
		return fmt.Sprint(auditSetup(u))
	}
	eachField(t, notAuditedSetup, func(u Setup) bool { return shown(u) != shown(Setup{}) }, "is missing in setupFields (gateway_change.go)")
}

func TestEveryOptionOfAGatewayIsAudited(t *testing.T) {
	for _, p := range newBank(nil).providers() {
		for _, option := range p.Options {
			shown := auditSetup(Setup{Provider: p, plain: map[string]string{option.Name: "a-long-text-of-an-option"}})
			if text := fmt.Sprint(shown[option.Name]); shown[option.Name] == nil || option.Secret == (text == "a-long-text-of-an-option") {
				t.Errorf("%s: the audit log shows %q", option.Name, text)
			}
		}
	}
}

func TestEveryFieldOfAPaymentIsStored(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		w.charged(t, i.ID)
		var want Payment
		fill(reflect.ValueOf(&want).Elem())
		want.Number, want.ReviewID, want.InvoiceID, want.chargeID = 0, 0, i.ID, w.only(t, i.ID).id
		want.Amount, want.Refund, want.Status = 3500, 7, billing.PaymentReview
		change := paymentChange{action: paymentReceived, after: want, reason: ReasonDouble}
		apply := func() {
			t.Helper()
			must(t, w.db.Write(t.Context(), func(tx *sqldb.Tx) error { return w.applyPayment(t.Context(), tx, w.actor, &change) }))
			list, err := w.Payments(t.Context(), w.actor, i.ID)
			must(t, err)
			got := list[0]
			want.Number, want.ReviewID = got.Number, got.ReviewID
			if got.PaidAt = got.PaidAt.UTC(); len(list) != 1 || got != want || got.ReviewID == 0 {
				t.Errorf("wrote %+v, read %+v", want, list)
			}
		}
		apply()
		want.Refund = 3500
		change = paymentChange{action: paymentRefunded, before: change.after, after: change.after}
		change.after.Refund = 3500
		apply()
	})
}

func TestEveryFieldOfAReviewIsStored(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		w.bank.pay(t, w.charged(t, i.ID).PixCode, 3400)
		w.later(t, time.Minute)
		want, err := w.Decide(t.Context(), w.actor, Decision{ReviewID: w.wantReviews(t, ReasonWrongAmount)[0].ID, Resolution: Dismissed, Note: "combinado"})
		must(t, err)
		got, err := w.Review(t.Context(), w.actor, want.ID)
		must(t, err)
		want.Payment.ReviewID = 0 // it is no longer open
		if got.ResolvedAt = got.ResolvedAt.UTC(); !want.ResolvedAt.Equal(got.ResolvedAt) {
			t.Errorf("resolved at %s, read %s", want.ResolvedAt, got.ResolvedAt)
		}
		want.ResolvedAt = got.ResolvedAt
		if got != want || reflect.ValueOf(got).IsZero() {
			t.Errorf("wrote %+v, read %+v", want, got)
		}
	})
}

// notStoredOrder are the fields of a charge's order that are made anew whenever
// it is sent.
var notStoredOrder = map[string]string{
	"Description": "the invoice's", "ExpiresAt": "the charge's", "Payer": "the customer's", "PayURL": "made of the page's code",
}

func TestEveryFieldOfAChargeIsStored(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.invoice(t)
		want := charge{
			Charge: Charge{"id", "code", "https://other.example", noon.Add(time.Hour)}, companyID: w.actor.Company.ID, gatewayID: w.setup(t).ID,
			provider: "fake", invoiceID: i.ID, customerID: i.Customer.ID, customerName: "Ana", order: Order{Reference: "r1", Amount: money.Cents(3500)},
			state: reserved, problem: "problem", closedAt: noon.Add(time.Minute), nextCheck: noon.Add(2 * time.Minute), checks: 3,
			hintedAt: noon.Add(3 * time.Minute), claim: "claim", createdAt: noon, id: 1, payableOn: civil.MustParse("2026-01-31"),
		}
		v := reflect.ValueOf(want)
		for n := range v.NumField() {
			if v.Field(n).IsZero() {
				t.Errorf("charge.%s is not filled: this test does not see whether it is stored", v.Type().Field(n).Name)
			}
		}
		order := reflect.TypeFor[Order]()
		for n := range order.NumField() {
			if _, excepted := notStoredOrder[order.Field(n).Name]; reflect.ValueOf(want.order).Field(n).IsZero() != excepted {
				t.Errorf("Order.%s is neither stored nor excepted", order.Field(n).Name)
			}
		}
		made := chargeChange{after: want}
		must(t, w.db.Write(t.Context(), func(tx *sqldb.Tx) error { return w.applyCharge(t.Context(), tx, &made) }))
		if got := w.only(t, i.ID); got.claim != want.claim || !got.nextCheck.Equal(want.nextCheck) || !got.ExpiresAt.Equal(want.ExpiresAt) {
			t.Errorf("reserved %+v, read %+v", want, got)
		}
		changed := chargeChange{before: made.after, after: want}
		changed.after.id, changed.after.state, changed.after.claim, changed.after.checks = made.after.id, pending, "other", 4
		changed.after.nextCheck, changed.after.ExpiresAt = noon.Add(4*time.Minute), noon.Add(5*time.Minute)
		must(t, w.db.Write(t.Context(), func(tx *sqldb.Tx) error { return w.applyCharge(t.Context(), tx, &changed) }))
		got := w.only(t, i.ID)
		for _, at := range []*time.Time{&got.ExpiresAt, &got.closedAt, &got.nextCheck, &got.hintedAt, &got.createdAt} {
			*at = at.UTC()
		}
		if got != changed.after {
			t.Errorf("wrote %+v, read %+v", changed.after, got)
		}
	})
}
