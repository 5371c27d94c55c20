package reminder

import (
	"context"
	"slices"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// Filter chooses messages of the log.
type Filter struct {
	Status     Status
	CustomerID int64
	RuleID     int64
	ChannelID  int64
	DueFrom    civil.Date
	DueTo      civil.Date
}

// ReadFilter reads a Filter from a query.
func ReadFilter(in *input.Form) Filter {
	var f Filter
	names := make([]string, len(Statuses))
	for i, s := range Statuses {
		names[i] = string(s)
	}
	status, _ := in.Choice("status", names...).Get()
	f.Status = Status(status)
	f.CustomerID, _ = in.ID("customer_id").Get()
	f.RuleID, _ = in.ID("rule_id").Get()
	f.ChannelID, _ = in.ID("channel_id").Get()
	f.DueFrom, _ = in.Date("due_from").Get()
	f.DueTo, _ = in.Date("due_to").Get()
	return f
}

func chosen(companyID int64, f Filter) (w sqldb.Where) {
	w.And(`m.company_id = ?`, companyID)
	if f.Status != "" {
		w.And(`m.status = ?`, string(f.Status))
	}
	for column, id := range map[string]int64{"customer_id": f.CustomerID, "rule_id": f.RuleID, "channel_id": f.ChannelID} {
		if id != 0 {
			w.And(`m.`+column+` = ?`, id)
		}
	}
	if !f.DueFrom.IsZero() {
		w.And(`m.due_on >= ?`, f.DueFrom)
	}
	if !f.DueTo.IsZero() {
		w.And(`m.due_on <= ?`, f.DueTo)
	}
	return w
}

// Countable is how many messages a list counts and leads to: a log of years is
// looked through with a filter, not page by page.
const Countable = 10_000

// Messages returns a page of the log, newest first, and how many there are, at
// most Countable.
func (s *Service) Messages(ctx context.Context, a account.Actor, f Filter, page input.Page) ([]Message, int64, error) {
	n, err := countMessages(ctx, s.db, a.Company.ID, f)
	if err != nil || page.Offset() >= n {
		return []Message{}, n, err
	}
	list, err := messages(ctx, s.db, a.Company.ID, f, page)
	return list, n, err
}

// FindMessage returns a message and the attempts to send it.
func (s *Service) FindMessage(ctx context.Context, a account.Actor, messageID int64) (Message, []Attempt, error) {
	m, err := messageByID(ctx, s.db, a.Company.ID, messageID)
	if err != nil {
		return m, nil, err
	}
	list, err := attempts(ctx, s.db, a.Company.ID, messageID)
	return m, list, err
}

// Counts tells how many messages of the company have each status.
func (s *Service) Counts(ctx context.Context, a account.Actor) (map[Status]int64, error) {
	return countByStatus(ctx, s.db, a.Company.ID)
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
func (s *Service) Decide(ctx context.Context, a account.Actor, messageID int64, d Decision) (Message, error) {
	var m Message
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
		if m, err = lockMessage(ctx, tx, a.Company.ID, messageID); err != nil {
			return err
		}
		if !slices.Contains(m.Decisions(), d) {
			return fault.Conflict("a message that is " + string(m.Status) + " cannot be decided so: " + string(d))
		}
		before := m
		switch d {
		case Resend:
			err = s.reschedule(ctx, tx, a, &m)
		case MarkSent:
			m.Status, m.Reason, m.SentAt = Sent, "marked as sent by a person", tx.Now()
		case Dismiss:
			m.Status, m.Reason = Dismissed, "dismissed by a person"
		}
		if err != nil {
			return err
		}
		return s.applyDecision(ctx, tx, a, change[Message]{&before, &m})
	})
	return m, err
}

// reschedule puts a message back at the first channel of its rule.
func (s *Service) reschedule(ctx context.Context, tx *sqldb.Tx, a account.Actor, m *Message) error {
	r, err := ruleByID(ctx, tx, a.Company.ID, m.RuleID)
	if fault.KindOf(err) == fault.KindNotFound {
		return fault.Conflict("the rule of this message was deleted")
	}
	if err != nil {
		return err
	}
	m.Status, m.Reason, m.RunAt, m.ChannelID = Scheduled, "", tx.Now(), r.Channels[0]
	tx.OnCommit(s.wake.Hint)
	return nil
}

// OptedOut tells whether a customer wants no messages.
func (s *Service) OptedOut(ctx context.Context, a account.Actor, customerID int64) (bool, error) {
	b, err := customerAbout(ctx, s.db, a.Company.ID, customerID)
	return b.optedOut, err
}

// SetOptOut notes whether a customer wants no messages.
func (s *Service) SetOptOut(ctx context.Context, a account.Actor, customerID int64, out bool) error {
	return a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		b, err := customerAbout(ctx, tx, a.Company.ID, customerID)
		if err != nil || b.optedOut == out {
			return err
		}
		after := b
		after.optedOut = out
		return s.applyOptOut(ctx, tx, a, change[about]{&b, &after})
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
func (s *Service) ReadTest(ctx context.Context, a account.Actor, channelID int64, in *input.Form) (TestRequest, error) {
	c, err := s.FindChannel(ctx, a, channelID)
	if err != nil {
		return TestRequest{}, err
	}
	kind, _ := s.kind(c.Kind)
	r := TestRequest{TemplateID: in.ID("template_id").Value, CustomerID: in.ID("customer_id").Value, To: readTo(in, kind)}
	return r, in.Err()
}

// Test sends a message through a channel at once. It works on a channel that is
// switched off, and counts for nothing.
func (s *Service) Test(ctx context.Context, a account.Actor, channelID int64, r TestRequest) (TestResult, error) {
	c, err := s.FindChannel(ctx, a, channelID)
	if err != nil {
		return TestResult{}, err
	}
	if reason := mutedReason(a.Company, s.db.Now()); reason != "" {
		return TestResult{}, fault.Conflict(reason)
	}
	kind, _ := s.kind(c.Kind)
	l, err := s.testLetter(ctx, a, kind, r)
	if err != nil {
		return TestResult{}, err
	}
	out := s.send(context.WithoutCancel(ctx), begun{Letter: l, channel: c, kind: kind})
	if out.verdict == accepted { // whatever was wrong is right again
		err = a.Write(ctx, s.db, func(tx *sqldb.Tx) error { return clearProblem(ctx, tx, a.Company.ID, c.ID) })
	}
	return TestResult{Sent: out.verdict == accepted, Receipt: out.receipt, Problem: out.problem, Duration: out.duration}, err
}

func (s *Service) testLetter(ctx context.Context, a account.Actor, kind Kind, r TestRequest) (l Letter, err error) {
	l = Letter{
		ID: "msg_test_" + id.NewCode(19), CompanyID: a.Company.ID, Company: a.Company.Name, Test: true, At: s.db.Now().In(a.Company.Zone),
		Subject: "Teste de " + a.Company.Name, Text: "Esta é uma mensagem de teste de " + a.Company.Name + ".",
		Template: ApprovedTemplate{Name: "hello_world", Language: "en_US"}, // Meta gives it to every account
	}
	l.To, l.Whatsapp, l.Email = r.To, r.To, r.To
	if r.TemplateID == 0 {
		return l, nil
	}
	t, err := s.FindTemplate(ctx, a, r.TemplateID)
	if err != nil {
		return l, err
	}
	f := sampleFilling(a)
	f.dueOn = a.Today(s.db.Now())
	if r.CustomerID != 0 {
		b, err := customerAbout(ctx, s.db, a.Company.ID, r.CustomerID)
		if err != nil {
			return l, err
		}
		f = fillingOf(a, b, a.Today(s.db.Now()))
		if problem := s.fillPayment(ctx, a, t, b, &f); problem != nil {
			return l, fault.Field("customer_id", problemText(problem))
		}
	}
	l.Name = f.customer.Name
	l.Subject, l.Text, l.Template.Params = fill(t, f)
	l.Template.Name, l.Template.Language = t.Approved.Name, t.Approved.Language
	if kind.Approved && t.Approved.Name == "" {
		return l, fault.Field("template_id", "has no whatsapp_name, and this channel sends only templates that Meta has approved")
	}
	return l, nil
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
