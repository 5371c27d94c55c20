package payment

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
)

// mandated is an authorisation at the bank, and what the payer does about it.
type mandated struct {
	Authorisation
	mandate Mandate
}

// debited is a debit at the bank.
type debited struct {
	Ref
	by        *mandated
	amount    money.Cents
	on        civil.Date
	first     civil.Date // for which it was announced
	number    int
	attempts  int
	waiting   bool
	cancelled bool
	byUs      bool // we had it cancelled
	payments  []Received
}

// debits is the part of the bank that debits accounts.
type debits struct {
	mandates map[string]*mandated // by reference
	debits   map[string]*debited
	empty    bool // no account has money
	confused bool // it answers about another authorisation
}

// undebiting is the gateway of a company without PIX Automático in its
// contract.
type undebiting struct{ Gateway }

// contract changes whether the company's contract has PIX Automático.
func (w *world) contract(t *testing.T, debited bool) {
	t.Helper()
	color := "red"
	if debited {
		color = ""
	}
	w.gateway(t, "provider", "fake", "color", color)
}

// set changes how the bank behaves.
func (b *bank) set(change func(accounts *debits)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.accounts)
}

// kindOf is what the bank's id names.
func kindOf(id string) HintKind {
	switch {
	case strings.HasPrefix(id, "au_"):
		return HintAuthorisation
	case strings.HasPrefix(id, "de_"):
		return HintDebit
	}
	return HintCharge
}

func (f *fake) mandate(ref Ref) *mandated {
	for _, known := range f.accounts.mandates {
		if ref.ID != "" && known.ID == ref.ID || ref.Reference != "" && known.Reference == ref.Reference {
			return known
		}
	}
	return nil
}

func (f *fake) debit(ref Ref) *debited {
	for _, known := range f.accounts.debits {
		if ref.ID != "" && known.ID == ref.ID || ref.Reference != "" && known.Reference == ref.Reference {
			return known
		}
	}
	return nil
}

func (f *fake) Authorise(ctx context.Context, mandate Mandate) (Authorisation, error) {
	if err := f.begin(ctx, "authorise"); err != nil {
		return Authorisation{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.mandate(Ref{Reference: mandate.Reference})
	if known == nil {
		known = &mandated{mandate: mandate}
		known.Ref = Ref{Reference: mandate.Reference, ID: fmt.Sprintf("au_%d", len(f.accounts.mandates)+1)}
		known.State, known.PixCode = AuthorisationAsked, "rec-"+mandate.Reference
		f.accounts.mandates[mandate.Reference] = known
	}
	if mandate.Charge != nil {
		first := f.charge(*mandate.Charge)
		known.Charge, known.PixCode = &first, first.PixCode
	}
	return known.Authorisation, f.end("authorise")
}

func (f *fake) FetchAuthorisation(ctx context.Context, ref Ref) (Authorisation, error) {
	if err := f.begin(ctx, "look at authorisation"); err != nil {
		return Authorisation{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.mandate(ref)
	if known == nil {
		return Authorisation{}, ErrNoCharge
	}
	if f.accounts.confused {
		for _, other := range f.accounts.mandates {
			if other != known {
				known = other
			}
		}
	}
	return known.Authorisation, f.end("look at authorisation")
}

func (f *fake) EndAuthorisation(ctx context.Context, ref Ref) error {
	if err := f.begin(ctx, "end authorisation"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if known := f.mandate(ref); known != nil {
		known.finish(f.bank, AuthorisationEnded, ByCompany)
	}
	return f.end("end authorisation")
}

// authorisePaid has those payers authorised who have paid a code that authorises.
func (b *bank) authorisePaid() {
	for _, known := range b.accounts.mandates {
		first := known.mandate.Charge
		if first != nil && known.State == AuthorisationAsked && b.charges[first.Reference].state == StatePaid {
			known.State, known.ActiveAt = AuthorisationActive, b.clock.Now()
		}
	}
}

// finish ends an authorisation with the debits of later days.
func (m *mandated) finish(b *bank, state AuthorisationState, by EndedBy) {
	if m.State == AuthorisationEnded || m.State == AuthorisationRefused {
		return
	}
	m.State, m.EndedBy, m.EndedAt = state, by, b.clock.Now()
	for _, debit := range b.accounts.debits {
		if debit.by == m && debit.waiting && !debit.started(b.clock.Now()) {
			debit.cancelled, debit.waiting, debit.byUs = true, false, by == ByCompany
		}
	}
}

func (f *fake) Announce(ctx context.Context, order Debit) (DebitReport, error) {
	if err := f.begin(ctx, "announce"); err != nil {
		return DebitReport{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.debit(Ref{Reference: order.Reference})
	if known == nil {
		by := f.mandate(order.Authorisation)
		if by == nil || by.State != AuthorisationActive {
			return DebitReport{}, &Refusal{Reason: "the payer has not authorised"}
		}
		known = &debited{by: by, amount: order.Amount, on: order.On, first: order.On, number: len(f.accounts.debits) + 1, waiting: true}
		known.Ref = Ref{Reference: order.Reference, ID: fmt.Sprintf("de_%d", len(f.accounts.debits)+1)}
		f.accounts.debits[order.Reference] = known
	}
	return known.report(f.bank), f.end("announce")
}

func (d *debited) started(now time.Time) bool { return !now.Before(d.on.Start(bankZone)) }

// report attempts what is due and says what came of it.
func (d *debited) report(b *bank) DebitReport {
	if d.waiting && !b.clock.Now().Before(d.on.At(debitsBegin, bankZone)) {
		d.waiting = false
		d.attempts++
		if !b.accounts.empty {
			d.payments = append(d.payments, Received{
				ID: fmt.Sprintf("E2E-%s-%d", d.Reference, d.attempts), Amount: d.amount, Currency: "BRL", At: b.clock.Now(),
			})
		}
	}
	report := DebitReport{
		DebitRef: DebitRef{Ref: d.Ref, Authorisation: d.by.Ref}, State: DebitFailed, On: d.on, Attempts: d.attempts,
		Payments: append([]Received(nil), d.payments...),
	}
	if d.waiting {
		report.Attempts++
	}
	switch {
	case len(d.payments) > 0:
		report.State = DebitPaid
	case d.cancelled:
		report.State = DebitCancelled
	case d.waiting && d.attempts > 0:
		report.State = DebitRetrying
	case d.waiting:
		report.State = DebitAnnounced
	default:
		report.Reason = "no money"
	}
	return report
}

func (f *fake) FetchDebit(ctx context.Context, ref DebitRef) (DebitReport, error) {
	if err := f.begin(ctx, "look at debit"); err != nil {
		return DebitReport{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.debit(ref.Ref)
	if known == nil {
		return DebitReport{}, ErrNoCharge
	}
	return known.report(f.bank), f.end("look at debit")
}

func (f *fake) CancelDebit(ctx context.Context, ref DebitRef) error {
	if err := f.begin(ctx, "cancel debit"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.debit(ref.Ref)
	switch {
	case known == nil, known.cancelled:
	case len(known.payments) > 0, known.waiting && known.started(f.clock.Now()):
		return ErrPaid
	default:
		known.cancelled, known.waiting, known.byUs = true, false, true
	}
	return f.end("cancel debit")
}

func (f *fake) RetryDebit(ctx context.Context, ref DebitRef, on civil.Date) error {
	if err := f.begin(ctx, "retry debit"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.debit(ref.Ref)
	switch {
	case known.waiting && known.on == on:
	case known.waiting, known.cancelled, len(known.payments) > 0, known.attempts > 3, known.started(f.clock.Now()) && on == known.on:
		return &Refusal{Reason: "no attempt is left"}
	default:
		known.on, known.waiting = on, true
	}
	return f.end("retry debit")
}

// authorises has every payer who was asked authorise; refuses has them refuse, and
// endsThem has those who did end it.
func (b *bank) authorises() {
	b.mandatesIn(AuthorisationAsked, func(known *mandated) {
		known.State, known.ActiveAt = AuthorisationActive, b.clock.Now()
	})
}

func (b *bank) refuses() {
	b.mandatesIn(AuthorisationAsked, func(known *mandated) { known.finish(b, AuthorisationRefused, ByPayer) })
}

func (b *bank) endsThem(by EndedBy) {
	b.mandatesIn(AuthorisationActive, func(known *mandated) { known.finish(b, AuthorisationEnded, by) })
}

func (b *bank) mandatesIn(state AuthorisationState, change func(known *mandated)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, known := range b.accounts.mandates {
		if known.State == state {
			change(known)
		}
	}
}

func (b *bank) withoutMoney(empty bool) { b.set(func(accounts *debits) { accounts.empty = empty }) }

// strikesOut has a payer cancel what is announced, in the app of their bank.
func (b *bank) strikesOut() {
	b.set(func(accounts *debits) {
		for _, debit := range accounts.debits {
			if debit.waiting && !debit.started(b.clock.Now()) {
				debit.cancelled, debit.waiting = true, false
			}
		}
	})
}

// paidDebits counts the payments that debits have brought.
func (b *bank) paidDebits() (count int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, known := range b.accounts.debits {
		count += len(known.payments)
	}
	return count
}

// subscriber makes a customer with an invoice of 35.00 that is due on a day.
func (w *world) subscriber(t *testing.T, due string) billing.Invoice {
	t.Helper()
	first := w.invoice(t) // makes the plan, and a customer who is not looked at
	record, err := w.customers.Create(t.Context(), w.actor, customer.ReadNew(values("name", "Bia Reis", "cpf_cnpj", "12345678909",
		"plan_id", fmt.Sprint(first.Plan.ID), "data_de_vencimento", due)))
	must(t, err)
	list, _, err := w.invoices.List(t.Context(), w.actor, billing.Filter{CustomerID: record.ID}, input.Page{Number: 1, Size: 1})
	must(t, err)
	return list[0]
}

func (w *world) asks(t *testing.T, customerID int64) Autopay {
	t.Helper()
	known, err := w.AskAutopay(t.Context(), w.actor, customerID, AutopayRequestDraft{Journey: JourneyCode})
	must(t, err)
	return known
}

// authorised is a subscriber who has authorised, with the invoice's debit
// announced.
func (w *world) authorised(t *testing.T, due string) billing.Invoice {
	t.Helper()
	invoice := w.subscriber(t, due)
	w.asks(t, invoice.Customer.ID)
	w.bank.authorises()
	w.later(t, time.Hour)
	w.wantAutopay(t, invoice.Customer.ID, customer.AutopayActive)
	return invoice
}

func (w *world) wantAutopay(t *testing.T, customerID int64, want customer.Autopay) Autopay {
	t.Helper()
	known, err := w.Autopay(t.Context(), w.actor, customerID)
	must(t, err)
	if known.State != want {
		t.Errorf("autopay is %s, want %s", known.State, want)
	}
	return known
}

// toward moves the clock to noon of a day, hour by hour, with the engine at work.
func (w *world) toward(t *testing.T, date string) {
	t.Helper()
	until := civil.MustParse(date).At(12*time.Hour, w.actor.Company.Zone)
	for w.clock.Now().Before(until) {
		w.later(t, min(6*time.Hour, until.Sub(w.clock.Now())))
	}
}
