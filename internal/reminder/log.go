package reminder

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/input"
	"carteira/internal/platform/listing"
)

// Filter chooses messages of the log.
type Filter struct {
	Status     Status
	Arrival    Arrival
	CustomerID int64
	RuleID     int64
	ChannelID  int64
	DueFrom    civil.Date
	DueTo      civil.Date
}

// ReadFilter reads a Filter from a query.
func ReadFilter(in *input.Form) Filter {
	return Filter{
		Status:     input.OneOf(in, "status", Statuses...).Value,
		Arrival:    input.OneOf(in, "arrival", Arrivals...).Value,
		CustomerID: in.ID("customer_id").Value,
		RuleID:     in.ID("rule_id").Value,
		ChannelID:  in.ID("channel_id").Value,
		DueFrom:    in.Date("due_from").Value,
		DueTo:      in.Date("due_to").Value,
	}
}

// query is what the log is asked for.
func (f Filter) query(companyID int64, sort input.Sort) listing.Query {
	query := listing.Query{CompanyID: companyID, Sort: sort}
	where := &query.Where
	where.If(f.Status != "", "m.status = ?", string(f.Status))
	if f.Arrival != "" { // by the index of those that have one
		where.And("m.arrival = ? AND m.arrival <> ''", string(f.Arrival))
	}
	where.If(f.CustomerID != 0, "m.customer_id = ?", f.CustomerID)
	where.If(f.RuleID != 0, "m.rule_id = ?", f.RuleID)
	where.If(f.ChannelID != 0, "m.channel_id = ?", f.ChannelID)
	where.If(!f.DueFrom.IsZero(), "m.due_on >= ?", f.DueFrom.String())
	where.If(!f.DueTo.IsZero(), "m.due_on <= ?", f.DueTo.String())
	return query
}

// Messages returns a page of the log, and how many messages there are: newest
// first, or by due date where the page asks for it.
func (s *Service) Messages(ctx context.Context, actor account.Actor, filter Filter, page input.Page) ([]Message, int64, error) {
	return messageTable.Page(ctx, s.db, filter.query(actor.Company.ID, page.Sort), page)
}

// WalkMessages calls visit for every message of a filter, newest first. It has no
// transaction open while visit runs.
func (s *Service) WalkMessages(ctx context.Context, actor account.Actor, filter Filter, visit func(Message) error) error {
	if err := actor.NotAttendant(); err != nil {
		return err
	}
	return messageTable.Each(ctx, s.db, filter.query(actor.Company.ID, ""), visit)
}

// FindMessage returns a message and the attempts to send it.
func (s *Service) FindMessage(ctx context.Context, actor account.Actor, messageID int64) (Message, []Attempt, error) {
	message, err := messageByID(ctx, s.db, actor.Company.ID, messageID)
	if err != nil {
		return message, nil, err
	}
	list, err := attempts(ctx, s.db, actor.Company.ID, messageID)
	return message, list, err
}

// Upcoming is the text of a scheduled message as it would be sent now; empty where
// the message is not scheduled, or its rule or customer is gone.
func (s *Service) Upcoming(ctx context.Context, actor account.Actor, messageID int64) (Preview, error) {
	list, err := candidates(ctx, s.db, actor.Company.ID, []int64{messageID})
	if err != nil || len(list) == 0 {
		return Preview{}, err
	}
	next := list[0]
	if next.message.Status != Scheduled || next.template.ID == 0 || next.customer.ID == 0 {
		return Preview{}, nil
	}
	next.customer.DueOn = next.message.DueOn
	return s.shown(ctx, actor, next.template, next.about), nil
}

// shown is a message as it would be sent now, with a sample of a code.
func (s *Service) shown(ctx context.Context, actor account.Actor, template Template, about about) (preview Preview) {
	filling := fillingOf(actor, about, actor.Today(s.db.Now()))
	problem := s.fillShown(ctx, actor, template, about, &filling)
	if debited, is := errors.AsType[*debited](problem); is {
		preview.Subject, preview.Text = debitLetter(debited.on, filling)
		return preview
	}
	if problem != nil {
		preview.Problem = problemText(problem)
	}
	var approved ApprovedTemplate
	preview.Subject, preview.Text, approved = fill(template, filling)
	preview.Subject, preview.Params = cmp.Or(preview.Subject, actor.Company.Name), approved.shown()
	return preview
}

// Decision is what a person says of a message.
type Decision string

// The decisions. Resend is for what failed, was skipped or is unknown; the
// others are for what is unknown.
const (
	Resend   Decision = "resend"
	MarkSent Decision = "sent"
	Dismiss  Decision = "dismiss"
)

// decisions is what a person may decide about messages of a status.
var decisions = map[Status][]Decision{
	Unknown: {Resend, MarkSent, Dismiss},
	Failed:  {Resend},
	Skipped: {Resend},
}

// Decisions lists what may be decided about a message.
func (m Message) Decisions() []Decision { return decisions[m.Status] }

// Decide carries out what a person says of a message. One that is sent again
// goes out at once, whatever the hour, unless the customer has paid, has opted
// out or has another due date by now.
func (s *Service) Decide(ctx context.Context, actor account.Actor, messageID int64, decision Decision) (Message, error) {
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (message Message, err error) {
		if message, err = lockMessage(ctx, tx, messageID); err != nil {
			return message, err
		}
		if !slices.Contains(message.Decisions(), decision) {
			return message, fault.Conflict("a message that is " + string(message.Status) + " cannot be decided so: " + string(decision))
		}
		before := message
		switch decision {
		case Resend:
			err = s.reschedule(ctx, tx, &message)
		case MarkSent:
			message.Status, message.Reason, message.SentAt = Sent, "marked as sent by a person", tx.Now()
		case Dismiss:
			message.Status, message.Reason = Dismissed, "dismissed by a person"
		}
		if err != nil {
			return message, err
		}
		err = s.applyDecision(ctx, tx, change[Message]{&before, &message})
		return message, err
	})
}

// reschedule puts a message back at the first channel of its rule.
func (s *Service) reschedule(ctx context.Context, tx account.Tx, message *Message) error {
	rule, err := ruleByID(ctx, tx, tx.Company.ID, message.RuleID)
	if fault.KindOf(err) == fault.KindNotFound {
		return fault.Conflict("the rule of this message was deleted")
	}
	if err != nil {
		return err
	}
	message.Status, message.Reason, message.RunAt, message.ChannelID = Scheduled, "", tx.Now(), rule.Channels[0]
	tx.OnCommit(s.wake.Hint)
	return nil
}

// OptedOut reports whether a customer wants no messages.
func (s *Service) OptedOut(ctx context.Context, actor account.Actor, customerID int64) (bool, error) {
	about, err := customerAbout(ctx, s.db, actor.Company.ID, customerID)
	return about.optedOut, err
}

// SetOptOut notes whether a customer wants no messages.
func (s *Service) SetOptOut(ctx context.Context, actor account.Actor, customerID int64, out bool) error {
	return actor.Write(ctx, s.db, func(tx account.Tx) error {
		b, err := customerAbout(ctx, tx, actor.Company.ID, customerID)
		if err != nil || b.optedOut == out {
			return err
		}
		after := b
		after.optedOut = out
		return s.applyOptOut(ctx, tx, change[about]{&b, &after})
	})
}

// TestResult is what came of a test.
type TestResult struct {
	Sent     bool
	Receipt  string
	Problem  string
	Duration time.Duration
}

// TestRequest is where a test message goes and what it says.
type TestRequest struct {
	To         string
	TemplateID int64 // 0: a plain sentence
	CustomerID int64 // 0: samples
}

// ReadTest reads the fields to, template_id and customer_id, as the channel
// wants them.
func (s *Service) ReadTest(
	ctx context.Context, actor account.Actor, channelID int64, in *input.Form,
) (TestRequest, error) {
	channel, err := s.FindChannel(ctx, actor, channelID)
	if err != nil {
		return TestRequest{}, err
	}
	kind, _ := s.kind(channel.Kind)
	request := TestRequest{
		TemplateID: in.ID("template_id").Value,
		CustomerID: in.ID("customer_id").Value,
		To:         readTo(in, kind),
	}
	return request, in.Err()
}

// Test sends a message through a channel at once. It works on a channel that is
// switched off, and counts for nothing.
func (s *Service) Test(
	ctx context.Context, actor account.Actor, channelID int64, request TestRequest,
) (TestResult, error) {
	channel, err := s.FindChannel(ctx, actor, channelID)
	if err != nil {
		return TestResult{}, err
	}
	if reason := mutedReason(actor.Company, s.db.Now()); reason != "" {
		return TestResult{}, fault.Conflict(reason)
	}
	kind, _ := s.kind(channel.Kind)
	letter, err := s.testLetter(ctx, actor, kind, request)
	if err != nil {
		return TestResult{}, err
	}
	out := s.send(context.WithoutCancel(ctx), begun{Letter: letter, channel: channel, kind: kind})
	if out.verdict == accepted { // whatever was wrong is right again
		err = actor.Write(ctx, s.db, func(tx account.Tx) error {
			return clearProblem(ctx, tx.Tx, actor.Company.ID, channel.ID)
		})
	}
	return TestResult{
		Sent:     out.verdict == accepted,
		Receipt:  out.receipt,
		Problem:  out.problem,
		Duration: out.duration,
	}, err
}

func (s *Service) testLetter(
	ctx context.Context, actor account.Actor, kind Kind, request TestRequest,
) (letter Letter, err error) {
	letter = Letter{
		ID:        "msg_test_" + id.NewCode(19),
		CompanyID: actor.Company.ID,
		Company:   actor.Company.Name,
		Test:      true,
		At:        s.db.Now().In(actor.Company.Zone),
		Subject:   "Teste de " + actor.Company.Name,
		Text:      "Esta é uma mensagem de teste de " + actor.Company.Name + ".",
		Template:  ApprovedTemplate{Name: "hello_world", Language: "en_US"}, // Meta gives it to every account
	}
	letter.To, letter.Whatsapp, letter.Email = request.To, request.To, request.To
	if kind.Reach == ByEmail {
		letter.Look = s.brandLook(ctx, actor.Company)
	}
	if request.TemplateID == 0 {
		return letter, nil
	}
	template, err := s.FindTemplate(ctx, actor, request.TemplateID)
	if err != nil {
		return letter, err
	}
	filling := filling{
		customer: customer.Customer{Name: "Ana Souza", Usuario: "ana.souza", Plan: customer.Plan{Name: "Mensal"}},
		company:  actor.Company.Name,
		amount:   3500,
		face:     3500,
		charges:  82,
		discount: 175,
		link:     "https://example.com/pay/abc",
		pix:      "00020126…6304ABCD",
	}
	filling.dueOn = actor.Today(s.db.Now())
	if request.CustomerID != 0 {
		about, err := customerAbout(ctx, s.db, actor.Company.ID, request.CustomerID)
		if err != nil {
			return letter, err
		}
		filling = fillingOf(actor, about, actor.Today(s.db.Now()))
		if problem := s.fillPayment(ctx, actor, template, about, &filling); problem != nil {
			return letter, fault.Field("customer_id", problemText(problem))
		}
	}
	if letter.Look != nil {
		letter.Look.QR = s.draw(ctx, filling.pix)
		if !s.options.Unreachable {
			letter.Look.PayURL = filling.link
		}
	}
	letter.Name = filling.customer.Name
	letter.Subject, letter.Text, letter.Template = fill(template, filling)
	if kind.Approved && template.Approved.Name == "" {
		return letter, fault.Field("template_id",
			"has no whatsapp_name, and this channel sends only templates that Meta has approved")
	}
	return letter, nil
}

// readTo reads where a test goes.
func readTo(in *input.Form, kind Kind) string {
	switch kind.Reach {
	case ByEmail:
		in.Require("to")
		return in.Email("to").Value
	case ByWhatsapp:
		in.Require("to")
		return in.Phone("to").Value
	case ByAny:
	}
	return in.Line("to", 255).Value
}
