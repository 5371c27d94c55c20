package reminder

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
)

// about is what a message is about.
type about struct {
	customer customer.Customer // id 0: deleted
	optedOut bool
	invoice  invoice // of the due date
}

// invoice is what is owed for a due date; id 0: nothing was issued.
type invoice struct {
	id       int64
	dueOn    civil.Date
	status   billing.Status
	amount   money.Cents
	received money.Cents
	discount billing.OwnDiscount

	// As they were when it was paid; zero while it is not.
	charged  money.Cents // late fee and interest
	deducted money.Cents // the discount
}

// payable is what pays the invoice on a day.
func (i invoice) payable(company account.Company, dueOn, on civil.Date) billing.Payable {
	record := billing.Invoice{
		Status:      i.status,
		Amount:      i.amount,
		DueOn:       dueOn,
		Received:    i.received,
		OwnDiscount: i.discount,
	}
	return record.PayableOn(company, on)
}

// candidate is a message that may be sent, with all that decides about it.
type candidate struct {
	about
	message  Message
	step     int
	claim    string
	rule     Rule // id 0: deleted
	template Template
}

// sendDecision is what is decided about a candidate.
type sendDecision struct {
	status  Status    // Sending, Scheduled again, Skipped or Failed
	at      time.Time // when it is scheduled again
	reason  string
	channel Channel // that is to send it
	to      string
}

func skip(reason string) sendDecision {
	return sendDecision{status: Skipped, reason: reason}
}

// companyState is what rulings about a company's messages depend on.
type companyState struct {
	actor    account.Actor
	quiet    Quiet
	channels []Channel
	now      time.Time
}

func (s *Service) companyStateOf(ctx context.Context, tx account.Tx) (state companyState, err error) {
	state = companyState{now: tx.Now()}
	company, err := account.FindCompany(ctx, tx, tx.Company.ID) // its plan may have ended a moment ago
	if err != nil {
		return state, err
	}
	state.actor = account.System(company, "send messages")
	if state.quiet, err = quietOf(ctx, tx, tx.Company.ID); err != nil {
		return state, err
	}
	state.channels, err = channels(ctx, tx, tx.Company.ID)
	return state, err
}

// decideSending decides whether a message goes out now, and how.
func (s *Service) decideSending(state companyState, candidate candidate) sendDecision {
	if reason := candidate.unwanted(state); reason != "" {
		return skip(reason)
	}
	if decision, early := candidate.offHours(state); early {
		return decision
	}
	return s.choose(state, candidate)
}

// unwanted returns why a message is not to be sent at all; "" when it is.
func (c candidate) unwanted(state companyState) string {
	reason := mutedReason(state.actor.Company, state.now)
	switch {
	case reason != "":
		return reason
	case c.rule.ID == 0:
		return "the rule was deleted"
	case !c.rule.Active && !c.message.manual:
		return "the rule is switched off"
	case c.customer.ID == 0:
		return "the customer was deleted"
	case c.settled() != "":
		return c.settled()
	case c.optedOut:
		return "opted out"
	case !c.rule.meets(c.customer):
		return "the rule is not for this customer any more"
	case c.rule.Status != "" && !c.message.manual && !c.owes() && c.customer.Status(state.actor.Today(state.now)) != c.rule.Status:
		return "the customer is not " + string(c.rule.Status)
	}
	return ""
}

// settled returns why there is nothing to remind of, or to confirm; "" when there
// is.
func (c candidate) settled() string {
	if c.rule.On == OnPaid {
		return c.unpaid()
	}
	ofRound := c.message.InvoiceID != 0
	switch {
	case ofRound || c.owes():
	case c.customer.DueOn != c.message.DueOn, c.rule.OffsetDays > 0 && c.invoice.status == billing.Open:
		return "due date moved"
	}
	switch {
	case ofRound && (c.invoice.id == 0 || c.invoice.status == billing.Cancelled):
		return "nothing to pay"
	case c.invoice.status == billing.Paid:
		return "already paid"
	}
	return ""
}

// owes reports whether the message is about a debt: a rule after the due date goes
// by what is open of that day, so that a debt is not forgotten when its customer is
// renewed on trust.
func (c candidate) owes() bool {
	return c.rule.OffsetDays > 0 && c.message.InvoiceID == 0 &&
		c.invoice.status == billing.Open && c.invoice.dueOn == c.message.DueOn
}

// offHours decides about a message outside its hours. A person who asks for
// it does not mind the hour.
func (c candidate) offHours(state companyState) (sendDecision, bool) {
	if c.message.manual {
		return sendDecision{}, false
	}
	at, late := c.moment(state)
	at = state.quiet.after(maxTime(at, state.now), state.actor.Company.Zone)
	switch {
	case !state.now.Before(late) || !at.Before(late):
		return c.late(), true
	case at.After(state.now):
		return sendDecision{
			status:  Scheduled,
			at:      at,
			reason:  c.message.Reason,
			channel: Channel{ID: c.message.ChannelID},
		}, true
	}
	return sendDecision{}, false
}

// moment is when the message is due, and when it is too late: later than its rule
// has it where it waited while the hours changed. A receipt is claimed only when
// its time has come, which its row does not know any more then.
func (c candidate) moment(state companyState) (at, late time.Time) {
	if c.rule.On == OnPaid {
		return time.Time{}, c.message.lateAt
	}
	at, late = c.rule.moment(c.message.DueOn, state.quiet, state.actor.Company.Zone)
	if !c.message.lateAt.IsZero() {
		late = c.message.lateAt
	}
	return at, late
}

// late ends a message after its day.
func (c candidate) late() sendDecision {
	if c.message.Attempts > 0 {
		return sendDecision{status: Failed, reason: "not sent in time: " + c.message.Reason}
	}
	return skip(reasonLate)
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// choose finds the first channel, from the one that is next, that can send the
// message. Where it is another one, the message waits for that one's turn.
func (s *Service) choose(state companyState, candidate candidate) sendDecision {
	order := candidate.rule.Channels
	from := max(0, slices.Index(order, candidate.message.ChannelID))
	var reasons []string
	for _, id := range order[from:] {
		ch, to, reason := s.usable(state, candidate, id)
		if reason == "" {
			return sendDecision{status: Sending, channel: ch, to: to}
		}
		if !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	if candidate.message.Attempts > 0 { // an earlier channel has tried
		return sendDecision{
			status: Failed,
			reason: strings.Join(append([]string{candidate.message.Reason}, reasons...), "; "),
		}
	}
	return skip(strings.Join(reasons, "; "))
}

// usable returns whether a channel can send a message, or why not.
func (s *Service) usable(state companyState, candidate candidate, channelID int64) (ch Channel, to, reason string) {
	i := slices.IndexFunc(state.channels, func(ch Channel) bool { return ch.ID == channelID })
	if i < 0 {
		return ch, "", "the channel was deleted"
	}
	ch = state.channels[i]
	kind, known := s.kind(ch.Kind)
	switch {
	case !ch.Active:
		return ch, "", ch.Name + " is switched off"
	case !known:
		return ch, "", "this installation does not know channels of the kind " + ch.Kind
	case kind.Approved && candidate.template.Approved.Name == "":
		return ch, "", "the template has no name that Meta approved"
	}
	to, reason = kind.Reach.address(candidate.customer.Whatsapp, candidate.customer.Email)
	return ch, to, reason
}

// channelAfter is the channel that comes after another in a rule's order.
func (r Rule) channelAfter(channelID int64) (int64, bool) {
	i := slices.Index(r.Channels, channelID)
	if i+1 >= len(r.Channels) || i < 0 {
		return 0, false
	}
	return r.Channels[i+1], true
}

// fillingOf is what is known of a customer on a day without asking anybody. Of an
// open invoice the amount is what pays it on that day, of a paid one what came.
func fillingOf(actor account.Actor, about about, on civil.Date) filling {
	f := filling{customer: about.customer, company: actor.Company.Name, dueOn: about.customer.DueOn}
	f.amount = about.customer.Price()
	f.face = f.amount
	if about.invoice.id != 0 {
		f.amount, f.face = about.invoice.amount, about.invoice.amount
	}
	if about.invoice.status == billing.Open {
		due := about.invoice.payable(actor.Company, f.dueOn, on)
		f.amount, f.charges, f.discount = due.Rest, due.Fee+due.Interest, due.Discount
	}
	if paid := about.invoice; paid.status == billing.Paid && paid.received > 0 {
		f.amount, f.charges, f.discount = paid.received, paid.charged, paid.deducted
	}
	return f
}

// filling is what a message is filled with on a day: the due date is its own.
func (c candidate) filling(actor account.Actor, on civil.Date) filling {
	about := c.about
	about.customer.DueOn = c.message.DueOn
	return fillingOf(actor, about, on)
}

// errNoInvoice says that there is nothing to pay with a link.
var errNoInvoice = errors.New("no open invoice for this due date")

// wants is what a template asks for to pay with, or why that cannot be had; the
// page of a paid invoice is its receipt.
func (s *Service) wants(ctx context.Context, actor account.Actor, template Template, about about) (link, pix bool, err error) {
	if err := s.refuseDebited(ctx, actor, about); err != nil {
		return false, false, err
	}
	link, pix = asks(template.texts()...)
	switch {
	case !link && !pix:
	case s.options.Links == nil:
		err = fault.Conflict("this installation has no payments")
	case about.invoice.id == 0 || about.invoice.status != billing.Open && (pix || about.invoice.status != billing.Paid):
		err = errNoInvoice
	}
	return link, pix, err
}

// fillPayment asks for the link and the code that a template wants. It may call a
// gateway, and so is never called in a transaction. Where customers cannot open
// links, the code takes their place; what is paid has neither then.
func (s *Service) fillPayment(
	ctx context.Context, actor account.Actor, template Template, about about, filling *filling,
) error {
	link, pix, err := s.wants(ctx, actor, template, about)
	if err != nil || !link && !pix {
		return err
	}
	unreachable := s.options.Unreachable
	if link && !unreachable {
		if filling.link, err = s.options.Links.PaymentLink(ctx, actor, about.invoice.id); err != nil {
			return fmt.Errorf("payment link: %w", err)
		}
	}
	if pix || unreachable && about.invoice.status == billing.Open {
		if filling.pix, err = s.options.Links.PixCode(ctx, actor, about.invoice.id); err != nil {
			return fmt.Errorf("PIX code: %w", err)
		}
	}
	if link && unreachable {
		filling.link = filling.pix
	}
	return nil
}

// fillShown is fillPayment for a text that is only looked at: the link is the real
// one, but no gateway is asked for a code, of which there is a sample.
func (s *Service) fillShown(ctx context.Context, actor account.Actor, template Template, about about, filling *filling) error {
	link, _, err := s.wants(ctx, actor, template, about)
	if err != nil {
		return err
	}
	filling.pix = sampleOf(pixCode)
	switch {
	case !link:
	case !s.options.Unreachable:
		if filling.link, err = s.options.Links.PaymentLink(ctx, actor, about.invoice.id); err != nil {
			return fmt.Errorf("payment link: %w", err)
		}
	case about.invoice.status == billing.Open:
		filling.link = filling.pix
	}
	return nil
}

// problemText is what a person may read of a failure to fill a template.
func problemText(err error) string {
	if errors.Is(err, errNoInvoice) {
		return errNoInvoice.Error()
	}
	if debited, is := errors.AsType[*debited](err); is {
		return debited.Error()
	}
	what, _, _ := strings.Cut(err.Error(), ":")
	return what + ": " + fault.Public(err)
}

// forGood reports whether asking again for a link is of no use: the company
// has no gateway, or the invoice is not to be paid.
func forGood(err error) bool {
	switch fault.KindOf(err) {
	case fault.KindUpstream, fault.KindUnavailable, fault.KindInternal, fault.KindRateLimited:
		return errors.Is(err, errNoInvoice)
	default:
		return true
	}
}
