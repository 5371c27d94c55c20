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
	"carteira/internal/platform/sqldb"
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
	status   billing.Status
	amount   money.Cents
	received money.Cents
	discount billing.OwnDiscount
}

// payable is what pays the invoice on a day.
func (i invoice) payable(company account.Company, dueOn, on civil.Date) billing.Payable {
	record := billing.Invoice{
		Status: i.status, Amount: i.amount, DueOn: dueOn, Received: i.received, OwnDiscount: i.discount,
	}
	return record.PayableOn(company, on)
}

// candidate is a message that may be sent, with all that decides about it.
type candidate struct {
	about
	message  Message
	manual   bool
	step     int
	claim    string
	lateAt   time.Time // when it is too late to send it; zero: by its rule
	rule     Rule      // id 0: deleted
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

func skip(reason string) sendDecision { return sendDecision{status: Skipped, reason: reason} }

// companyState is what rulings about a company's messages depend on.
type companyState struct {
	actor    account.Actor
	quiet    Quiet
	channels []Channel
	now      time.Time
}

func (s *Service) companyStateOf(ctx context.Context, tx *sqldb.Tx, a account.Actor) (w companyState, err error) {
	w = companyState{now: tx.Now()}
	company, err := account.FindCompany(ctx, tx, a.Company.ID) // whose plan may have ended a moment ago
	if err != nil {
		return w, err
	}
	w.actor = account.System(company, "send messages")
	if w.quiet, err = quietOf(ctx, tx, a.Company.ID); err != nil {
		return w, err
	}
	w.channels, err = channels(ctx, tx, a.Company.ID)
	return w, err
}

// decideSending decides whether a message goes out now, and how.
func (s *Service) decideSending(w companyState, c candidate) sendDecision {
	if reason := c.unwanted(w); reason != "" {
		return skip(reason)
	}
	if r, early := c.offHours(w); early {
		return r
	}
	return s.choose(w, c)
}

// unwanted tells why a message is not to be sent at all; "" when it is.
func (c candidate) unwanted(w companyState) string {
	reason := mutedReason(w.actor.Company, w.now)
	switch {
	case reason != "":
		return reason
	case c.rule.ID == 0:
		return "the rule was deleted"
	case !c.rule.Active && !c.manual:
		return "the rule is switched off"
	case c.customer.ID == 0:
		return "the customer was deleted"
	case c.customer.DueOn != c.message.DueOn:
		return "due date moved"
	case c.invoice.status == billing.Paid:
		return "already paid"
	case c.optedOut:
		return "opted out"
	case !c.rule.meets(c.customer):
		return "the rule is not for this customer any more"
	case c.rule.Status != "" && !c.manual && c.customer.Status(w.actor.Today(w.now)) != c.rule.Status:
		return "the customer is not " + string(c.rule.Status)
	}
	return ""
}

// offHours tells what becomes of a message whose hour it is not. A person who
// asks for it does not mind the hour.
func (c candidate) offHours(w companyState) (sendDecision, bool) {
	if c.manual {
		return sendDecision{}, false
	}
	at, late := c.moment(w)
	at = w.quiet.after(maxTime(at, w.now), w.actor.Company.Zone)
	switch {
	case !w.now.Before(late) || !at.Before(late):
		return c.late(), true
	case at.After(w.now):
		return sendDecision{status: Scheduled, at: at, reason: c.message.Reason, channel: Channel{ID: c.message.ChannelID}}, true
	}
	return sendDecision{}, false
}

// moment is when the message is due, and when it is too late: later than its rule
// has it where it waited while the hours changed.
func (c candidate) moment(w companyState) (at, late time.Time) {
	at, late = c.rule.moment(c.message.DueOn, w.quiet, w.actor.Company.Zone)
	if !c.lateAt.IsZero() {
		late = c.lateAt
	}
	return at, late
}

// late ends a message whose day is over.
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

// choose finds the first channel, from the one whose turn it is, that can send
// the message. Where it is another one, the message waits for that one's turn.
func (s *Service) choose(w companyState, c candidate) sendDecision {
	order := c.rule.Channels
	from := max(0, slices.Index(order, c.message.ChannelID))
	var reasons []string
	for _, id := range order[from:] {
		ch, to, reason := s.usable(w, c, id)
		if reason == "" {
			return sendDecision{status: Sending, channel: ch, to: to}
		}
		if !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	if c.message.Attempts > 0 { // an earlier channel has tried
		return sendDecision{status: Failed, reason: strings.Join(append([]string{c.message.Reason}, reasons...), "; ")}
	}
	return skip(strings.Join(reasons, "; "))
}

// usable tells whether a channel can send a message, or why not.
func (s *Service) usable(w companyState, c candidate, channelID int64) (ch Channel, to, reason string) {
	i := slices.IndexFunc(w.channels, func(ch Channel) bool { return ch.ID == channelID })
	if i < 0 {
		return ch, "", "the channel was deleted"
	}
	ch = w.channels[i]
	kind, known := s.kind(ch.Kind)
	switch {
	case !ch.Active:
		return ch, "", ch.Name + " is switched off"
	case !known:
		return ch, "", "this installation does not know channels of the kind " + ch.Kind
	case kind.Approved && c.template.Approved.Name == "":
		return ch, "", "the template has no name that Meta approved"
	}
	to, reason = kind.Reach.address(c.customer.Whatsapp, c.customer.Email)
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
// open invoice the amount is what pays it on that day.
func fillingOf(a account.Actor, b about, on civil.Date) filling {
	f := filling{customer: b.customer, company: a.Company.Name, dueOn: b.customer.DueOn}
	f.amount = b.customer.Price()
	f.face = f.amount
	if b.invoice.id != 0 {
		f.amount, f.face = b.invoice.amount, b.invoice.amount
	}
	if b.invoice.status == billing.Open {
		due := b.invoice.payable(a.Company, f.dueOn, on)
		f.amount, f.charges, f.discount = due.Rest, due.Fee+due.Interest, due.Discount
	}
	return f
}

// errNoInvoice says that there is nothing to pay with a link.
var errNoInvoice = errors.New("no open invoice for this due date")

// fillPayment asks for the link and the code that a template wants. It may call
// a gateway, and so is never called in a transaction.
func (s *Service) fillPayment(ctx context.Context, a account.Actor, t Template, b about, f *filling) error {
	link, pix := asks(t.texts()...)
	switch {
	case !link && !pix:
		return nil
	case s.options.Links == nil:
		return fault.Conflict("this installation has no payments")
	case b.invoice.id == 0 || b.invoice.status != billing.Open:
		return errNoInvoice
	}
	var err error
	if link {
		if f.link, err = s.options.Links.PaymentLink(ctx, a, b.invoice.id); err != nil {
			return fmt.Errorf("payment link: %w", err)
		}
	}
	if pix {
		if f.pix, err = s.options.Links.PixCode(ctx, a, b.invoice.id); err != nil {
			return fmt.Errorf("PIX code: %w", err)
		}
	}
	return nil
}

// problemText is what a person may read of a failure to fill a template.
func problemText(err error) string {
	if errors.Is(err, errNoInvoice) {
		return errNoInvoice.Error()
	}
	what, _, _ := strings.Cut(err.Error(), ":")
	return what + ": " + fault.Public(err)
}

// forGood tells whether asking again for a link is of no use: the company has
// no gateway, or the invoice is not to be paid.
func forGood(err error) bool {
	switch fault.KindOf(err) {
	case fault.KindUpstream, fault.KindUnavailable, fault.KindInternal, fault.KindRateLimited:
		return errors.Is(err, errNoInvoice)
	default:
		return true
	}
}
