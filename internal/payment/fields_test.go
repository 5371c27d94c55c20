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
func fill(value reflect.Value) {
	for i := range value.NumField() {
		if value.Type().Field(i).IsExported() {
			set(value.Field(i), i+1)
		}
	}
}

func set(value reflect.Value, count int) {
	switch value.Interface().(type) {
	case time.Time:
		value.Set(reflect.ValueOf(noon.Add(time.Duration(count) * time.Minute)))
		return
	case map[string]string:
		value.Set(reflect.ValueOf(map[string]string{"secret": "text"}))
		return
	case Provider:
		value.Set(reflect.ValueOf(Provider{Name: "fake", Title: "Fake"}))
		return
	case Payment:
		fill(value)
		return
	}
	switch value.Kind() {
	case reflect.String:
		value.SetString(fmt.Sprintf("text%d", count))
	case reflect.Int, reflect.Int64:
		value.SetInt(int64(count))
	case reflect.Bool:
		value.SetBool(true)
	default:
		panic(fmt.Sprintf("no filling for a %s", value.Type()))
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
	"Orphan":      "List fills it in",
}

var notAuditedReview = map[string]string{
	"ID":         "the line is the invoice's",
	"Payment":    "audited by its own fields",
	"CreatedAt":  "the gateway's, and no decision",
	"ResolvedAt": "the line's own time",
	"ResolvedBy": "the line says who",
}

func TestEveryFieldThatAPersonDecidesIsAudited(t *testing.T) {
	shown := func(change paymentChange) string { return fmt.Sprint(change.audit()) }
	none := shown(paymentChange{})
	eachField(t, notAuditedPayment, func(payment Payment) bool { return shown(paymentChange{after: payment}) != none }, "is missing in auditedFields (payment_change.go)")
	eachField(t, notAuditedReview, func(review Review) bool { return shown(paymentChange{review: review}) != none }, "is missing in auditedFields (payment_change.go)")
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
	shown := func(setup Setup) string {
		setup.name = setup.Provider.Name
		return fmt.Sprint(auditSetup(setup))
	}
	eachField(t, notAuditedSetup, func(setup Setup) bool { return shown(setup) != shown(Setup{}) }, "is missing in setupFields (gateway_change.go)")
}

func TestEveryOptionOfAGatewayIsAudited(t *testing.T) {
	for _, provider := range newBank(nil).providers() {
		for _, option := range provider.Options {
			shown := auditSetup(Setup{Provider: provider, plain: map[string]string{option.Name: "a-long-text-of-an-option"}})
			if text := fmt.Sprint(shown[option.Name]); shown[option.Name] == nil || option.Secret == (text == "a-long-text-of-an-option") {
				t.Errorf("%s: the audit log shows %q", option.Name, text)
			}
		}
	}
}

func TestEveryFieldOfAPaymentIsStored(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		world.charged(t, invoice.ID)
		var want Payment
		fill(reflect.ValueOf(&want).Elem())
		want.Number, want.ReviewID, want.InvoiceID, want.chargeID = 0, 0, invoice.ID, world.only(t, invoice.ID).id
		want.Orphan = false // of an invoice that is there
		want.Amount, want.Refund, want.Status = 3500, 7, billing.PaymentReview
		change := paymentChange{action: paymentReceived, after: want, reason: ReasonDouble}
		apply := func() {
			t.Helper()
			must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) error { return world.applyPayment(t.Context(), world.actor.In(tx), &change) }))
			list, err := world.Payments(t.Context(), world.actor, invoice.ID)
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
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		world.bank.pay(t, world.charged(t, invoice.ID).PixCode, 3400)
		world.later(t, time.Minute)
		want, err := world.Decide(t.Context(), world.actor, Decision{ReviewID: world.wantReviews(t, ReasonWrongAmount)[0].ID, Resolution: Dismissed, Note: "combinado"})
		must(t, err)
		got, err := world.Review(t.Context(), world.actor, want.ID)
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

// notStoredOrder are the fields of a charge's order that are made again
// whenever it is sent.
var notStoredOrder = map[string]string{
	"Description": "the invoice's", "ExpiresAt": "the charge's", "Payer": "the customer's", "PayURL": "made of the page's code",
	"Due": "made of invoice and terms",
}

func TestEveryFieldOfAChargeIsStored(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		want := charge{
			Charge: Charge{"id", "code", "https://other.example", noon.Add(time.Hour)}, companyID: world.actor.Company.ID, gatewayID: world.setup(t).ID,
			provider: "fake", invoiceID: invoice.ID, customerID: invoice.Customer.ID, customerName: "Ana", order: Order{Reference: "r1", Amount: money.Cents(3500)},
			state: reserved, problem: "problem", closedAt: noon.Add(time.Minute), nextCheck: noon.Add(2 * time.Minute), checks: 3,
			hintedAt: noon.Add(3 * time.Minute), claim: "claim", createdAt: noon, id: 1, payableOn: civil.MustParse("2026-01-31"),
			dueTerms: "terms", debit: debit{authorisationID: 7, on: civil.MustParse("2026-02-02")},
		}
		value := reflect.ValueOf(want)
		for n := range value.NumField() {
			if value.Field(n).IsZero() {
				t.Errorf("charge.%s is not filled: this test does not see whether it is stored", value.Type().Field(n).Name)
			}
		}
		order := reflect.TypeFor[Order]()
		for n := range order.NumField() {
			if _, excepted := notStoredOrder[order.Field(n).Name]; reflect.ValueOf(want.order).Field(n).IsZero() != excepted {
				t.Errorf("Order.%s is neither stored nor excepted", order.Field(n).Name)
			}
		}
		made := chargeChange{after: want}
		must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) error { return world.applyCharge(t.Context(), tx, &made) }))
		if got := world.only(t, invoice.ID); got.claim != want.claim || !got.nextCheck.Equal(want.nextCheck) || !got.ExpiresAt.Equal(want.ExpiresAt) {
			t.Errorf("reserved %+v, read %+v", want, got)
		}
		changed := chargeChange{before: made.after, after: want}
		changed.after.id, changed.after.state, changed.after.claim, changed.after.checks = made.after.id, pending, "other", 4
		changed.after.debit = debit{7, civil.MustParse("2026-02-03"), 2, "no money"}
		changed.after.nextCheck, changed.after.ExpiresAt = noon.Add(4*time.Minute), noon.Add(5*time.Minute)
		must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) error { return world.applyCharge(t.Context(), tx, &changed) }))
		got := world.only(t, invoice.ID)
		for _, at := range []*time.Time{&got.ExpiresAt, &got.closedAt, &got.nextCheck, &got.hintedAt, &got.createdAt} {
			*at = at.UTC()
		}
		if got != changed.after {
			t.Errorf("wrote %+v, read %+v", changed.after, got)
		}
	})
}

func TestEveryFieldOfAnAuthorisationIsStored(t *testing.T) {
	each(t, func(t *testing.T, world *world) {
		invoice := world.invoice(t)
		want := authorisation{
			Ref: Ref{"r1", "id"}, id: 1, companyID: world.actor.Company.ID, gatewayID: world.setup(t).ID, provider: "fake",
			customerID: invoice.Customer.ID, journey: JourneyRequest, account: &PayerAccount{"12345678", "1", "23"}, every: EveryMonth,
			from: civil.MustParse("2026-02-01"), minimum: 3500, description: "Mensal", state: authReserved,
			pixCode: "code", endedBy: ByBank, reason: "reason", problem: "problem", expiresAt: noon.Add(time.Hour).UTC(),
			activeAt: noon.UTC(), endedAt: noon.Add(time.Minute).UTC(), nextCheck: noon.Add(2 * time.Minute).UTC(), checks: 3,
			hintedAt: noon.Add(3 * time.Minute).UTC(), claim: "claim", createdAt: noon.UTC(),
		}
		value := reflect.ValueOf(want)
		for n := range value.NumField() {
			if value.Field(n).IsZero() {
				t.Errorf("authorisation.%s is not filled: this test does not see whether it is stored", value.Type().Field(n).Name)
			}
		}
		change := authorisationChange{after: want}
		apply := func(tx *sqldb.Tx) error { return world.applyAuthorisation(t.Context(), world.actor.In(tx), &change) }
		must(t, world.db.Write(t.Context(), apply))
		change = authorisationChange{change.after, want}
		change.after.state = authActive
		must(t, world.db.Write(t.Context(), apply))
		got, err := authorisationByID(t.Context(), world.db, want.companyID, 1)
		must(t, err)
		for _, at := range []*time.Time{&got.expiresAt, &got.activeAt, &got.endedAt, &got.nextCheck, &got.hintedAt, &got.createdAt} {
			*at = at.UTC()
		}
		if *got.account != *want.account {
			t.Errorf("wrote %+v, read %+v", want.account, got.account)
		}
		got.account = change.after.account
		if got != change.after {
			t.Errorf("wrote %+v, read %+v", change.after, got)
		}
	})
}
