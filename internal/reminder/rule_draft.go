package reminder

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"carteira/internal/customer"
	"carteira/internal/platform/input"
)

// RuleDraft is what a caller wants a rule to be; a change leaves alone what is
// not given.
type RuleDraft struct {
	Name       input.Opt[string]
	Active     input.Opt[bool]
	On         input.Opt[Occasion]
	OffsetDays input.Opt[int64]
	Minute     input.Opt[int]
	PlanID     input.Opt[int64]
	ProductID  input.Opt[int64]
	Status     input.Opt[customer.Status]
	Channels   input.Opt[[]int64]
	TemplateID input.Opt[int64]

	Problems input.Problems
}

var (
	neededOfRule = []string{"name", "channels", "template_id"}
	neededOfDue  = []string{"offset_days", "hour"} // of a rule on OnDue
)

// ReadNewRule reads a new rule from the fields name, active, on, offset_days, hour,
// plan_id, product_id, status, channels and template_id.
func ReadNewRule(in *input.Form) RuleDraft {
	for _, name := range neededOfRule {
		in.Require(name)
	}
	draft := readRule(in)
	if draft.On.Value != OnPaid {
		for _, name := range neededOfDue {
			in.Require(name)
		}
	}
	draft.Problems = in.Problems()
	return draft
}

// ReadRuleChanges reads changes of a rule.
func ReadRuleChanges(in *input.Form) RuleDraft {
	for _, name := range slices.Concat(neededOfRule, neededOfDue) {
		in.MustNotClear(name)
	}
	return readRule(in)
}

func readRule(in *input.Form) RuleDraft {
	in.Ignore("id", "created_at", "updated_at")
	draft := RuleDraft{
		Name:       in.Line("name", 100),
		Active:     in.Bool("active"),
		On:         readOccasion(in),
		OffsetDays: in.Int("offset_days", -maxOffset, maxOffset),
		Minute:     readClock(in, "hour"),
		PlanID:     in.ID("plan_id"),
		ProductID:  in.ID("product_id"),
		Status:     readStatus(in),
		Channels:   readIDs(in, "channels"),
		TemplateID: in.ID("template_id"),
	}
	draft.Problems = in.Problems()
	return draft
}

func readOccasion(in *input.Form) input.Opt[Occasion] {
	on := in.Choice("on", string(OnDue), string(OnPaid))
	if !on.HasValue() {
		return input.Opt[Occasion]{}
	}
	return input.Some(Occasion(on.Value))
}

func readStatus(in *input.Form) input.Opt[customer.Status] {
	status := in.Choice("status", string(customer.Active), string(customer.DueToday), string(customer.Expired))
	switch {
	case status.HasValue():
		return input.Some(customer.Status(status.Value))
	case status.IsNull():
		return input.Null[customer.Status]()
	}
	return input.Opt[customer.Status]{}
}

// readIDs reads a list of ids, also as 3,5.
func readIDs(in *input.Form, name string) input.Opt[[]int64] {
	texts := in.List(name)
	if texts.HasValue() && len(texts.Value) == 0 { // a list, with nothing in it
		in.Refuse(name, "is required")
	}
	var ids []int64
	for _, text := range texts.Value {
		for part := range strings.SplitSeq(text, ",") {
			id, err := strconv.ParseInt(strings.TrimSpace(part), 10, 64)
			switch {
			case err != nil || id <= 0:
				in.Refuse(name, "must be ids of channels such as 3,5, the one to try first in front")
				return input.Opt[[]int64]{}
			case !slices.Contains(ids, id):
				ids = append(ids, id)
			}
		}
	}
	switch {
	case len(ids) == 0:
		return input.Opt[[]int64]{}
	case len(ids) > MaxChannels:
		in.Refuse(name, fmt.Sprintf("must be at most %d", MaxChannels))
	}
	return input.Some(ids)
}

// to sets what is given. A receipt goes out when the money has come: what a form
// says of its day is passed over.
func (d RuleDraft) to(rule *Rule) {
	d.Name.To(&rule.Name)
	rule.Active = d.Active.Or(rule.Active)
	rule.OffsetDays = int(d.OffsetDays.Or(int64(rule.OffsetDays)))
	rule.Minute = d.Minute.Or(rule.Minute)
	d.PlanID.To(&rule.PlanID)
	d.ProductID.To(&rule.ProductID)
	d.Status.To(&rule.Status)
	rule.Channels = d.Channels.Or(rule.Channels)
	d.TemplateID.To(&rule.TemplateID)
	rule.On = d.On.Or(rule.On)
	if rule.On == OnPaid {
		rule.OffsetDays, rule.Minute, rule.Status = 0, 0, ""
	}
}
