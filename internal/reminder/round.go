package reminder

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/id"
	"carteira/internal/platform/money"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

// A round is a message that a person sends to many customers at once. It is
// written whole in one transaction, as a rule that plans nothing and a message
// for each customer; the engine sends them like any other, so that one broken
// off goes on where it was. A customer is in a round once, and in no second one
// on the same day.

// MaxRound is how many customers one round can reach.
const MaxRound = 5000

// RoundDraft is which customers a person wants to remind, through which
// channels and in which words. Either Customers or Invoices are given.
type RoundDraft struct {
	Customers  []int64 // each is asked for what it owes first
	Invoices   []int64 // their customers are asked for them
	Channels   []int64 // the first is tried first
	TemplateID int64   // 0: the house's words
	Link       bool    // the house's words lead to the payment page
}

// RoundPlan is what will happen when a round is sent.
type RoundPlan struct {
	Reached  int         // customers who get a message
	Amount   money.Cents // what they owe
	LeftOut  []LeftOut   // the others, by reason
	Names    []string    // of some who are reached
	Sample   Preview     // what the first of them gets
	Template Template
	Channels []Channel
}

// LeftOut is how many customers are not reached for one reason.
type LeftOut struct {
	Reason string
	Count  int
}

// Round is one that was sent, and how far it is.
type Round struct {
	ID     int64
	Name   string
	Counts map[Status]int64
}

// Total is how many messages the round has.
func (r Round) Total() (total int64) {
	for _, count := range r.Counts {
		total += count
	}
	return total
}

// Waiting is how many of them are not sent yet.
func (r Round) Waiting() int64 { return r.Counts[Scheduled] + r.Counts[Sending] }

// shownNames is how many of those reached a plan names.
const shownNames = 5

// PlanRound returns the customers that a round would reach, and sends nothing.
func (s *Service) PlanRound(ctx context.Context, actor account.Actor, draft RoundDraft) (plan RoundPlan, err error) {
	if err := draft.check(); err != nil {
		return plan, err
	}
	if plan.Template, err = s.roundTemplate(ctx, s.db, actor, draft); err != nil {
		return plan, err
	}
	all, err := channels(ctx, s.db, actor.Company.ID)
	if err != nil {
		return plan, err
	}
	plan.Channels = chosenChannels(all, draft.Channels)
	list, err := recipients(ctx, s.db, actor.Company.ID, draft, s.dayBegan(actor))
	if err != nil {
		return plan, err
	}
	plan.count(s.sorted(actor, draft, plan, list))
	if len(plan.Names) > 0 {
		plan.Sample = s.sample(ctx, actor, plan.Template, list, plan.Names[0])
	}
	return plan, nil
}

func (d RoundDraft) check() error {
	switch count := max(len(d.Customers), len(d.Invoices)); {
	case count == 0:
		return fault.New(fault.KindInvalid, "pick at least one customer")
	case count > MaxRound:
		return fault.New(fault.KindInvalid, "pick fewer customers at once")
	case len(d.Channels) == 0:
		return fault.Field("channels", "is required")
	}
	return nil
}

func chosenChannels(all []Channel, ids []int64) (list []Channel) {
	for _, id := range ids {
		if n := slices.IndexFunc(all, func(channel Channel) bool { return channel.ID == id }); n >= 0 {
			list = append(list, all[n])
		}
	}
	return list
}

// dayBegan is when the company's day began.
func (s *Service) dayBegan(actor account.Actor) time.Time {
	return actor.Today(s.db.Now()).Start(actor.Company.Zone)
}

// verdictOn is a recipient with the channel that reaches it, or why none does.
type verdictOn struct {
	recipient
	channelID int64
	reason    string
}

// sorted decides about each recipient.
func (s *Service) sorted(actor account.Actor, draft RoundDraft, plan RoundPlan, list []recipient) []verdictOn {
	verdicts := make([]verdictOn, len(list))
	state := companyState{actor: actor, channels: plan.Channels, now: s.db.Now()}
	for n, person := range list {
		verdicts[n] = verdictOn{recipient: person, reason: person.left()}
		if verdicts[n].reason != "" {
			continue
		}
		choice := s.choose(state, candidate{
			about:    person.about,
			template: plan.Template,
			rule:     Rule{Channels: draft.Channels},
		})
		verdicts[n].channelID, verdicts[n].reason = choice.channel.ID, choice.reason
	}
	return verdicts
}

// left is why a recipient gets no message, whatever the channel.
func (r recipient) left() string {
	switch {
	case r.cancelled:
		return "the customer is cancelled"
	case r.optedOut:
		return "opted out"
	case r.invoice.id == 0:
		return "nothing to pay"
	case r.reminded:
		return "had a message today"
	}
	return ""
}

func (p *RoundPlan) count(verdicts []verdictOn) {
	for _, verdict := range verdicts {
		if verdict.reason == "" {
			p.Reached++
			p.Amount += verdict.invoice.amount - verdict.invoice.received
			if len(p.Names) < shownNames {
				p.Names = append(p.Names, verdict.customer.Name)
			}
			continue
		}
		n := slices.IndexFunc(p.LeftOut, func(out LeftOut) bool { return out.Reason == verdict.reason })
		if n < 0 {
			n, p.LeftOut = len(p.LeftOut), append(p.LeftOut, LeftOut{Reason: verdict.reason})
		}
		p.LeftOut[n].Count++
	}
	slices.SortStableFunc(p.LeftOut, func(a, b LeftOut) int { return b.Count - a.Count })
}

// sample is the message of the first who is reached.
func (s *Service) sample(ctx context.Context, actor account.Actor, template Template, list []recipient, name string) (preview Preview) {
	n := slices.IndexFunc(list, func(person recipient) bool {
		return person.customer.Name == name && person.left() == ""
	})
	if n < 0 {
		return preview
	}
	about := list[n].about
	if due, err := civil.Parse(list[n].dueOn); err == nil {
		about.customer.DueOn = due
	}
	return s.shown(ctx, actor, template, about)
}

func sampleOf(name string) string {
	n := slices.IndexFunc(Variables, func(variable Variable) bool { return variable.Name == name })
	return Variables[n].Sample
}

// roundTemplate is the words of a round: those that were chosen, or the house's.
func (s *Service) roundTemplate(
	ctx context.Context, querier sqldb.Querier, actor account.Actor, draft RoundDraft,
) (Template, error) {
	if draft.TemplateID == 0 {
		return s.ownDunning(ctx, querier, actor, draft.Link)
	}
	template, err := templateByID(ctx, querier, actor.Company.ID, draft.TemplateID)
	if fault.KindOf(err) == fault.KindNotFound {
		return template, fault.Field("template_id", "is not a template of the company")
	}
	return template, err
}

// ownDunning is the house's words, as the company has changed them since it first
// used them.
func (s *Service) ownDunning(
	ctx context.Context, querier sqldb.Querier, actor account.Actor, link bool,
) (Template, error) {
	list, err := templates(ctx, querier, actor.Company.ID)
	n := slices.IndexFunc(list, func(template Template) bool { return template.Name == dunning.name })
	if err != nil || n < 0 {
		return s.houseTemplate(dunning, link), err
	}
	return list[n], nil
}

// SendRound writes a round, which the engine then sends.
func (s *Service) SendRound(ctx context.Context, actor account.Actor, draft RoundDraft) (round Round, err error) {
	if err := draft.check(); err != nil {
		return round, err
	}
	if reason := mutedReason(actor.Company, s.db.Now()); reason != "" {
		return round, fault.Conflict(reason)
	}
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (Round, error) {
		return s.writeRound(ctx, tx, draft)
	})
}

func (s *Service) writeRound(ctx context.Context, tx account.Tx, draft RoundDraft) (round Round, err error) {
	var plan RoundPlan
	if plan.Template, err = s.roundTemplate(ctx, tx, tx.Actor, draft); err != nil {
		return round, err
	}
	for _, id := range draft.Channels { // no second round begins before this one is written
		channel, err := lockChannel(ctx, tx, id)
		if err != nil {
			return round, err
		}
		plan.Channels = append(plan.Channels, channel)
	}
	list, err := recipients(ctx, tx, tx.Company.ID, draft, tx.Today(tx.Now()).Start(tx.Company.Zone))
	if err != nil {
		return round, err
	}
	verdicts := slices.DeleteFunc(s.sorted(tx.Actor, draft, plan, list), func(verdict verdictOn) bool {
		return verdict.reason != ""
	})
	if len(verdicts) == 0 {
		return round, fault.Conflict("nobody of them would get a message")
	}
	rule, err := s.roundRule(ctx, tx, draft, plan.Template)
	if err != nil {
		return round, err
	}
	messages, err := roundMessages(tx.Tx, rule, verdicts)
	if err != nil {
		return round, err
	}
	if _, err := insertMessages(ctx, tx, onceADate, messages); err != nil {
		return round, err
	}
	tx.OnCommit(s.wake.Hint)
	round = Round{ID: rule.ID, Name: rule.Name, Counts: map[Status]int64{Scheduled: int64(len(messages))}}
	return round, nil
}

// roundRule writes the rule that a round is, and its words where they are the
// house's.
func (s *Service) roundRule(ctx context.Context, tx account.Tx, draft RoundDraft, template Template) (Rule, error) {
	if template.ID == 0 {
		if err := s.applyTemplate(ctx, tx, change[Template]{after: &template}); err != nil {
			return Rule{}, err
		}
	}
	rule := Rule{
		Name:       fmt.Sprintf("%s · %s", template.Name, tx.Now().In(tx.Company.Zone).Format("02/01/2006 15:04")),
		Channels:   draft.Channels,
		TemplateID: template.ID,
		On:         OnDue,
		cursorOn:   tx.Today(tx.Now()),
		planAt:     tx.Now(),
		round:      true,
	}
	err := s.applyRule(ctx, tx, change[Rule]{after: &rule})
	return rule, err
}

func roundMessages(tx *sqldb.Tx, rule Rule, verdicts []verdictOn) ([]Message, error) {
	messages := make([]Message, len(verdicts))
	for n, verdict := range verdicts {
		due, err := civil.Parse(verdict.dueOn)
		if err != nil {
			return nil, fmt.Errorf("invoice %d: %w", verdict.invoice.id, err)
		}
		messages[n] = Message{
			Key:        "msg_" + id.NewCode(24),
			RuleID:     rule.ID,
			CustomerID: verdict.customer.ID,
			DueOn:      due,
			InvoiceID:  verdict.invoice.id,
			Status:     Scheduled,
			ChannelID:  verdict.channelID,
			RunAt:      tx.Now(),
			manual:     true,
		}
	}
	return messages, nil
}

// FindRound returns a round and how far it is.
func (s *Service) FindRound(ctx context.Context, actor account.Actor, roundID int64) (round Round, err error) {
	rule, err := ruleByID(ctx, s.db, actor.Company.ID, roundID)
	if err != nil || !rule.round {
		return round, sqldb.Found(sqldb.ErrNotFound, "round")
	}
	round = Round{ID: rule.ID, Name: strings.TrimSpace(rule.Name)}
	round.Counts, err = rows.Map[Status, int64](ctx, s.db, `SELECT status, count(*) FROM reminder_messages
		WHERE company_id = ? AND rule_id = ? AND invoice_id <> 0 GROUP BY status`, actor.Company.ID, roundID)
	return round, err
}
