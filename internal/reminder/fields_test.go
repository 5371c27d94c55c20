package reminder

import (
	"iter"
	"reflect"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/input"
	"carteira/test/kit/housetest"
)

func TestEveryFieldOfADraftIsSet(t *testing.T) {
	housetest.EveryDraftFieldSets(t, RuleFields, RuleDraft{
		Name: input.Some("Lembrete"), Active: input.Some(true), On: input.Some(OnPaid), OffsetDays: input.Some(-3), Minute: input.Some(540),
		PlanID: input.Some(int64(1)), ProductID: input.Some(int64(1)), Status: input.Some(customer.Expired),
		Channels: input.Some([]int64{3, 5}), TemplateID: input.Some(int64(1)),
	})
	housetest.EveryDraftFieldSets(t, TemplateFields, TemplateDraft{
		Name: input.Some("Lembrete"), Subject: input.Some("Oi"), Text: input.Some("Oi"), WhatsappName: input.Some("oi"),
		WhatsappLanguage: input.Some("pt_BR"), WhatsappParams: input.Some([]string{"a"}), WhatsappHeader: input.Some("a"),
		WhatsappButton: input.Some("a"),
	})
	channel := Channel{Options: map[string]string{}}
	kind := Kind{Options: []Option{{Name: "url"}}}
	draft := ChannelDraft{
		Name: input.Some("Log"), Active: input.Some(true), PerMinute: input.Some(7),
		Options: map[string]input.Opt[string]{"url": input.Some("https://example.com")},
	}
	draft.to(&channel, kind, nil)
	want := Channel{Name: "Log", Active: true, PerMinute: 7, Options: map[string]string{"url": "https://example.com"}}
	if !reflect.DeepEqual(channel, want) {
		t.Errorf("%+v", channel)
	}
}

// notAudited are the fields that the audit log does not show, each with the reason.
var notAudited = map[string]string{
	"ID":          "it is the line's",
	"CreatedAt":   "it is the time of the line that says so",
	"UpdatedAt":   "it is the time of the line that says so",
	"Failures":    "the engine counts them",
	"Problem":     "the engine writes it",
	"ProblemAt":   "the engine writes it",
	"HeardAt":     "the engine writes it",
	"CallbackKey": "it is a secret",
	"VerifyToken": "it is a secret",
	"Names":       "they are a part of the parameters",
}

// wantAudited fails for every field of T that could change without a trace in the
// audit log.
func wantAudited[T any](t *testing.T, shown func(*T) account.Audited) {
	t.Helper()
	var blank T
	kind := reflect.TypeFor[T]()
	for i := range kind.NumField() {
		var filled T
		place := reflect.ValueOf(&filled).Elem().Field(i)
		if !kind.Field(i).IsExported() {
			continue
		}
		if place.Type() == reflect.TypeFor[ApprovedTemplate]() {
			wantAudited(t, func(approved *ApprovedTemplate) account.Audited {
				return auditedTemplate(&Template{Approved: *approved})
			})
			continue
		}
		fillField(place)
		changed := !reflect.DeepEqual(shown(&blank).Fields, shown(&filled).Fields)
		if _, excepted := notAudited[kind.Field(i).Name]; changed == excepted {
			t.Errorf("%s.%s: shown by the audit log: %v; is it missing in fields.go?", kind.Name(), kind.Field(i).Name, changed)
		}
	}
}

// fillField sets a field to something that is not its zero value.
func fillField(place reflect.Value) {
	switch {
	case place.Type() == reflect.TypeFor[time.Time]():
		place.Set(reflect.ValueOf(time.Unix(7, 0)))
	case place.CanInt():
		place.SetInt(7)
	case place.Kind() == reflect.String:
		place.SetString("text")
	case place.Kind() == reflect.Bool:
		place.SetBool(true)
	case place.Kind() == reflect.Slice:
		place.Set(reflect.MakeSlice(place.Type(), 1, 1))
		fillField(place.Index(0))
	case place.Kind() == reflect.Map:
		place.Set(reflect.ValueOf(map[string]string{"url": "https://example.com"}))
	}
}

func TestEveryFieldIsAuditedWhenItChanges(t *testing.T) {
	wantAudited(t, auditedRule)
	wantAudited(t, auditedTemplate)
	wantAudited(t, auditedChannel)
}

func TestEveryFieldOfARuleIsInItsJSONAndInLists(t *testing.T) {
	exceptions := map[string]string{"CreatedAt": "the audit log has it", "UpdatedAt": "the audit log has it"}
	for _, place := range []account.Place{account.InRecord, account.InLists} {
		housetest.EveryFieldShows(t, func(rule *Rule) iter.Seq2[string, any] { return RuleFields.In(place, rule) }, exceptions,
			OnPaid, []int64{3, 5}, customer.Expired)
	}
}

// A field without a column has to be in the statements by hand: a new one is not.
func TestFieldsWithoutAColumnAreKnown(t *testing.T) {
	for name, missing := range map[string][]string{
		"rule": unstored(RuleFields), "template": unstored(TemplateFields), "channel": unstored(ChannelFields),
	} {
		want := map[string][]string{
			"rule":     {"id", "when", "plan_id", "product_id", "channels"},             // null or a list: sql.go
			"template": {"id", "whatsapp_params", "whatsapp_header", "whatsapp_button"}, // together in one column: encodeGaps
			"channel":  {"id"},
		}
		if !reflect.DeepEqual(missing, want[name]) {
			t.Errorf("%s: without a column of their own: %v, want %v", name, missing, want[name])
		}
	}
}

func unstored[T, D any](table account.Table[T, D]) (names []string) {
	for _, field := range table {
		if field.Column == "" {
			names = append(names, field.Name)
		}
	}
	return names
}
