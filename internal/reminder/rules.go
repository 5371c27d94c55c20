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
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// Rule says who is reminded of a due date, when, how and in which words.
type Rule struct {
	ID         int64
	Name       string
	Active     bool
	OffsetDays int // from the due date to the day of the message: -3 is three days before
	Minute     int // of the company's day
	PlanID     int64
	ProductID  int64
	Status     customer.Status // empty: any
	Channels   []int64         // the first is tried first
	TemplateID int64
	CreatedAt  time.Time
	UpdatedAt  time.Time

	cursorOn civil.Date // the due date that is planned next
	cursorID int64      // the last customer of it that was planned
	planAt   time.Time
}

// maxOffset is how far a message may lie from its due date.
const maxOffset = 60

// MaxChannels is how many channels a rule may try.
const MaxChannels = 5

// When tells the day of a rule in words.
func (r Rule) When() string {
	switch {
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
func (r Rule) moment(dueOn civil.Date, q Quiet, zone *time.Location) (at, late time.Time) {
	at = q.after(dueOn.AddDays(r.OffsetDays).At(time.Duration(r.Minute)*time.Minute, zone), zone)
	return at, civil.Of(at.In(zone)).AddDays(1).Start(zone)
}

// meets tells whether the rule is for a customer, whatever the day.
func (r Rule) meets(c customer.Customer) bool {
	return (r.PlanID == 0 || r.PlanID == c.Plan.ID) && (r.ProductID == 0 || r.ProductID == c.Product.ID)
}

// standing is the status of a customer on the rule's day.
func (r Rule) standing() customer.Status {
	switch {
	case r.OffsetDays < 0:
		return customer.Active
	case r.OffsetDays == 0:
		return customer.DueToday
	}
	return customer.Expired
}

// Rules lists the company's.
func (s *Service) Rules(ctx context.Context, a account.Actor) ([]Rule, error) {
	return rules(ctx, s.db, a.Company.ID)
}

// FindRule returns one of them.
func (s *Service) FindRule(ctx context.Context, a account.Actor, ruleID int64) (Rule, error) {
	return ruleByID(ctx, s.db, a.Company.ID, ruleID)
}

// CreateRule makes a rule from the fields name, active, offset_days, hour,
// plan_id, product_id, status, channels and template_id. It is off unless it
// is said to be active.
func (s *Service) CreateRule(ctx context.Context, a account.Actor, in *input.Form) (Rule, error) {
	for _, name := range []string{"name", "offset_days", "hour", "channels", "template_id"} {
		in.Require(name)
	}
	var r Rule
	change := readRule(in)
	if err := in.Err(); err != nil {
		return r, err
	}
	change(&r)
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
		if err := s.checkRule(ctx, tx, a, r, in); err != nil {
			return err
		}
		if err := s.restart(ctx, tx, a, &r); err != nil {
			return err
		}
		r.CreatedAt, r.UpdatedAt = tx.Now(), tx.Now()
		if r.ID, err = insertRule(ctx, tx, a.Company.ID, r); err != nil {
			return err
		}
		return account.WriteAudit(ctx, tx, a, r.deed("created", nil, r.fields()))
	})
	return r, err
}

// UpdateRule changes what is given, and plans anew what is not yet sent.
func (s *Service) UpdateRule(ctx context.Context, a account.Actor, ruleID int64, in *input.Form) (Rule, error) {
	for _, name := range []string{"name", "offset_days", "hour", "channels", "template_id"} {
		in.MustNotClear(name)
	}
	change := readRule(in)
	if err := in.Err(); err != nil {
		return Rule{}, err
	}
	var r Rule
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
		if r, err = lockRule(ctx, tx, a.Company.ID, ruleID); err != nil {
			return err
		}
		before := r.fields()
		change(&r)
		if err := s.checkRule(ctx, tx, a, r, in); err != nil {
			return err
		}
		if err := s.replan(ctx, tx, a, &r); err != nil {
			return err
		}
		return account.WriteAudit(ctx, tx, a, r.deed("updated", before, r.fields()))
	})
	return r, err
}

// DeleteRule removes a rule and what it has scheduled. What it has sent stays
// in the log.
func (s *Service) DeleteRule(ctx context.Context, a account.Actor, ruleID int64) error {
	return a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		r, err := lockRule(ctx, tx, a.Company.ID, ruleID)
		if err != nil {
			return err
		}
		if err := unscheduleRule(ctx, tx, a.Company.ID, ruleID); err != nil {
			return err
		}
		if err := removeRule(ctx, tx, a.Company.ID, ruleID); err != nil {
			return err
		}
		return account.WriteAudit(ctx, tx, a, r.deed("deleted", r.fields(), nil))
	})
}

// readRule reads what a form says of a rule and returns how it changes one.
func readRule(in *input.Form) func(*Rule) {
	in.Ignore("id", "created_at", "updated_at")
	name, hasName := in.Line("name", 100).Get()
	active, hasActive := in.Bool("active").Get()
	offset, hasOffset := in.Int("offset_days", -maxOffset, maxOffset).Get()
	minute, hasMinute := readClock(in, "hour")
	planID, hasPlan := in.ID("plan_id").Get()
	productID, hasProduct := in.ID("product_id").Get()
	status, hasStatus := in.Choice("status", string(customer.Active), string(customer.DueToday), string(customer.Expired)).Get()
	list, hasChannels := readIDs(in, "channels")
	templateID, hasTemplate := in.ID("template_id").Get()
	hasActive = hasActive && in.Sent("active")
	return func(r *Rule) {
		set(hasName, &r.Name, name)
		set(hasActive, &r.Active, active)
		set(hasOffset, &r.OffsetDays, int(offset))
		set(hasMinute, &r.Minute, minute)
		set(hasPlan, &r.PlanID, planID)
		set(hasProduct, &r.ProductID, productID)
		set(hasStatus, &r.Status, customer.Status(status))
		set(hasChannels, &r.Channels, list)
		set(hasTemplate, &r.TemplateID, templateID)
	}
}

func set[T any](given bool, field *T, value T) {
	if given {
		*field = value
	}
}

// readIDs reads a list of ids, also as 3,5.
func readIDs(in *input.Form, name string) ([]int64, bool) {
	texts, ok := in.List(name).Get()
	if ok && texts != nil && len(texts) == 0 { // a list, with nothing in it
		in.Refuse(name, "is required")
	}
	if len(texts) == 0 {
		return nil, false
	}
	var ids []int64
	for _, text := range texts {
		for part := range strings.SplitSeq(text, ",") {
			id, err := strconv.ParseInt(strings.TrimSpace(part), 10, 64)
			switch {
			case err != nil || id <= 0:
				in.Refuse(name, "must be ids of channels such as 3,5, the one to try first in front")
				return nil, false
			case !slices.Contains(ids, id):
				ids = append(ids, id)
			}
		}
	}
	if len(ids) > MaxChannels {
		in.Refuse(name, fmt.Sprintf("must be at most %d", MaxChannels))
	}
	return ids, true
}

// checkRule holds a rule against what the company has.
func (s *Service) checkRule(ctx context.Context, tx *sqldb.Tx, a account.Actor, r Rule, in *input.Form) error {
	if r.Status != "" && r.Status != r.standing() {
		in.Refuse("status", fmt.Sprintf("can never be: on the day of this rule a customer is %s", r.standing()))
	}
	plan, product, err := catalogHas(ctx, tx, a.Company.ID, r.PlanID, r.ProductID)
	if err != nil {
		return err
	}
	if r.PlanID != 0 && !plan {
		in.Refuse("plan_id", "is not a plan of the company")
	}
	if r.ProductID != 0 && !product {
		in.Refuse("product_id", "is not a product of the company")
	}
	t, err := lockTemplate(ctx, tx, a.Company.ID, r.TemplateID)
	if fault.KindOf(err) == fault.KindNotFound {
		in.Refuse("template_id", "is not a template of the company")
	} else if err != nil {
		return err
	}
	return s.checkRuleChannels(ctx, tx, a, r, t, in)
}

func (s *Service) checkRuleChannels(ctx context.Context, tx *sqldb.Tx, a account.Actor, r Rule, t Template, in *input.Form) error {
	for _, id := range r.Channels {
		if _, err := lockChannel(ctx, tx, a.Company.ID, id); fault.KindOf(err) == fault.KindNotFound {
			in.Refuse("channels", fmt.Sprintf("%d is not a channel of the company", id))
		} else if err != nil {
			return err
		}
	}
	name, err := s.wantsApproved(ctx, tx, a, r.Channels)
	if err != nil {
		return err
	}
	if name != "" && t.ID != 0 && t.Approved.Name == "" {
		in.Refuse("template_id", fmt.Sprintf("has no whatsapp_name, and %s sends only templates that Meta has approved", name))
	}
	return in.Err()
}

// wantsApproved names a channel among some that sends approved templates only.
func (s *Service) wantsApproved(ctx context.Context, q sqldb.Querier, a account.Actor, ids []int64) (string, error) {
	list, err := channels(ctx, q, a.Company.ID)
	if err != nil {
		return "", err
	}
	for _, c := range list {
		if kind, _ := s.kind(c.Kind); kind.Approved && slices.Contains(ids, c.ID) {
			return c.Name, nil
		}
	}
	return "", nil
}

// joinIDs and splitIDs turn ids into the text that is stored: ,3,5,
func joinIDs(ids []int64) string {
	var b strings.Builder
	b.WriteByte(',')
	for _, id := range ids {
		b.WriteString(strconv.FormatInt(id, 10))
		b.WriteByte(',')
	}
	return b.String()
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
