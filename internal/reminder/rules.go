package reminder

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// Occasion is what a rule sends on.
type Occasion string

// The occasions.
const (
	OnDue  Occasion = "due"  // a due date that comes or has passed
	OnPaid Occasion = "paid" // an invoice becomes paid: the message is a receipt
)

// Rule says which customers are reminded of a due date, when, through which
// channels and in which words. A rule on OnPaid sends receipts: it has neither a
// day nor an hour nor a status.
type Rule struct {
	ID         int64
	Name       string
	Active     bool
	On         Occasion
	OffsetDays int // from the due date to the day of the message: -3 is three days before
	Minute     int // of the company's day
	PlanID     int64
	ProductID  int64
	Status     customer.Status // empty: any
	Channels   []int64         // the first is tried first
	TemplateID int64
	CreatedAt  time.Time
	UpdatedAt  time.Time

	cursorOn civil.Date // the due date that is planned next; of OnPaid, the first day with receipts for its payments
	cursorID int64      // the last customer of it that was planned
	planAt   time.Time
	round    bool // it plans nothing: a person sent it once
}

// maxOffset is how far a message may lie from its due date.
const maxOffset = 60

// MaxChannels is how many channels a rule may try.
const MaxChannels = 5

// When is the day of a rule in words.
func (r Rule) When() string {
	switch {
	case r.On == OnPaid:
		return "when paid"
	case r.OffsetDays < 0:
		return days(-r.OffsetDays) + " before, " + Clock(r.Minute)
	case r.OffsetDays > 0:
		return days(r.OffsetDays) + " after, " + Clock(r.Minute)
	}
	return "on the day, " + Clock(r.Minute)
}

func days(n int) string {
	if n == 1 {
		return "1 day"
	}
	return fmt.Sprintf("%d days", n)
}

// moment is when the message about a due date is to be sent, and when it is
// too late for it: it goes out on its day or not at all.
func (r Rule) moment(dueOn civil.Date, quiet Quiet, zone *time.Location) (at, late time.Time) {
	at = quiet.after(r.own(dueOn, zone), zone)
	return at, civil.Of(at.In(zone)).AddDays(1).Start(zone)
}

// own is the hour that the rule names, quiet or not.
func (r Rule) own(dueOn civil.Date, zone *time.Location) time.Time {
	return dueOn.AddDays(r.OffsetDays).At(time.Duration(r.Minute)*time.Minute, zone)
}

// meets reports whether the rule is for a customer, whatever the day.
func (r Rule) meets(record customer.Customer) bool {
	return (r.PlanID == 0 || r.PlanID == record.Plan.ID) && (r.ProductID == 0 || r.ProductID == record.Product.ID)
}

// statusOnItsDay is the status of a customer on the rule's day.
func (r Rule) statusOnItsDay() customer.Status {
	switch {
	case r.OffsetDays < 0:
		return customer.Active
	case r.OffsetDays == 0:
		return customer.DueToday
	}
	return customer.Expired
}

// Rules lists the rules of the company.
func (s *Service) Rules(ctx context.Context, actor account.Actor) ([]Rule, error) {
	return rules(ctx, s.db, actor.Company.ID)
}

// FindRule returns a rule of the company.
func (s *Service) FindRule(ctx context.Context, actor account.Actor, ruleID int64) (Rule, error) {
	rule, err := ruleByID(ctx, s.db, actor.Company.ID, ruleID)
	if err == nil && rule.round {
		return Rule{}, fault.NotFound("rule")
	}
	return rule, err
}

// CreateRule makes a rule. It is off unless the draft says that it is active.
func (s *Service) CreateRule(ctx context.Context, actor account.Actor, draft RuleDraft) (Rule, error) {
	if err := draft.Problems.Err(); err != nil {
		return Rule{}, err
	}
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (rule Rule, err error) {
		rule = Rule{On: OnDue}
		draft.to(&rule)
		if err := s.checkRule(ctx, tx, rule); err != nil {
			return rule, err
		}
		if err := s.restart(ctx, tx, &rule); err != nil {
			return rule, err
		}
		err = s.applyRule(ctx, tx, change[Rule]{after: &rule})
		return rule, err
	})
}

// UpdateRule changes what is given, and plans again what is not yet sent.
func (s *Service) UpdateRule(ctx context.Context, actor account.Actor, ruleID int64, draft RuleDraft) (Rule, error) {
	if err := draft.Problems.Err(); err != nil {
		return Rule{}, err
	}
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (rule Rule, err error) {
		before, err := lockRule(ctx, tx, ruleID)
		if err != nil {
			return rule, err
		}
		rule = before
		draft.to(&rule)
		if rule.On != before.On {
			return rule, fault.Field("on", "cannot be changed; make another rule instead")
		}
		if err := s.checkRule(ctx, tx, rule); err != nil {
			return rule, err
		}
		if err := s.replan(ctx, tx, change[Rule]{&before, &rule}); err != nil {
			return rule, err
		}
		err = s.applyRule(ctx, tx, change[Rule]{&before, &rule})
		return rule, err
	})
}

// DeleteRule removes a rule and what it has scheduled. What it has sent stays
// in the log.
func (s *Service) DeleteRule(ctx context.Context, actor account.Actor, ruleID int64) error {
	return actor.Write(ctx, s.db, func(tx account.Tx) error {
		before, err := lockRule(ctx, tx, ruleID)
		if err != nil {
			return err
		}
		if err := unscheduleRule(ctx, tx.Tx, actor.Company.ID, ruleID); err != nil {
			return err
		}
		return s.applyRule(ctx, tx, change[Rule]{before: &before})
	})
}

// checkRule holds a rule against what the company has, and refuses all that
// does not fit.
func (s *Service) checkRule(ctx context.Context, tx account.Tx, rule Rule) error {
	var refused fault.Fields
	if rule.Name == "" {
		refused.Add("name", "is required")
	}
	if len(rule.Channels) == 0 {
		refused.Add("channels", "is required")
	}
	if rule.Status != "" && rule.Status != rule.statusOnItsDay() {
		refused.Add("status",
			fmt.Sprintf("can never be: on the day of this rule a customer is %s", rule.statusOnItsDay()))
	}
	plan, product, err := catalogHas(ctx, tx, tx.Company.ID, rule.PlanID, rule.ProductID)
	if err != nil {
		return err
	}
	if rule.PlanID != 0 && !plan {
		refused.Add("plan_id", "is not a plan of the company")
	}
	if rule.ProductID != 0 && !product {
		refused.Add("product_id", "is not a product of the company")
	}
	template, err := lockTemplate(ctx, tx, rule.TemplateID)
	if fault.KindOf(err) == fault.KindNotFound {
		refused.Add("template_id", "is not a template of the company")
	} else if err != nil {
		return err
	}
	parts := ruleParts{rule, template, &refused}
	parts.checkWords()
	if err := s.checkRuleChannels(ctx, tx, parts); err != nil {
		return err
	}
	return refused.Err()
}

// ruleParts is a rule with its template, and what is refused of it so far.
type ruleParts struct {
	rule     Rule
	template Template
	refused  *fault.Fields
}

// checkWords refuses a receipt that asks to pay.
func (p ruleParts) checkWords() {
	if _, pix := asks(p.template.texts()...); pix && p.rule.On == OnPaid {
		p.refused.Add("template_id", "asks for a PIX code, and a receipt is for what was paid")
	}
}

func (s *Service) checkRuleChannels(ctx context.Context, tx account.Tx, parts ruleParts) error {
	for _, id := range parts.rule.Channels {
		if _, err := lockChannel(ctx, tx, id); fault.KindOf(err) == fault.KindNotFound {
			parts.refused.Add("channels", fmt.Sprintf("%d is not a channel of the company", id))
		} else if err != nil {
			return err
		}
	}
	name, err := s.wantsApproved(ctx, tx, tx.Actor, parts.rule.Channels)
	if err != nil {
		return err
	}
	if name != "" && parts.template.ID != 0 && parts.template.Approved.Name == "" {
		parts.refused.Add("template_id",
			fmt.Sprintf("has no whatsapp_name, and %s sends only templates that Meta has approved", name))
	}
	return nil
}

// wantsApproved names a channel among some that sends approved templates only.
func (s *Service) wantsApproved(
	ctx context.Context, querier sqldb.Querier, actor account.Actor, ids []int64,
) (string, error) {
	list, err := channels(ctx, querier, actor.Company.ID)
	if err != nil {
		return "", err
	}
	for _, channel := range list {
		if kind, _ := s.kind(channel.Kind); kind.Approved && slices.Contains(ids, channel.ID) {
			return channel.Name, nil
		}
	}
	return "", nil
}

// joinIDs and splitIDs turn ids into the text that is stored: ,3,5,
func joinIDs(ids []int64) string {
	var out strings.Builder
	out.WriteByte(',')
	for _, id := range ids {
		out.WriteString(strconv.FormatInt(id, 10))
		out.WriteByte(',')
	}
	return out.String()
}

func splitIDs(text string) []int64 {
	var ids []int64
	for part := range strings.SplitSeq(strings.Trim(text, ","), ",") {
		if id, err := strconv.ParseInt(part, 10, 64); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}
