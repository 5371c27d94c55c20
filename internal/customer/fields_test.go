package customer

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"carteira/internal/customer/sheet"
	"carteira/internal/event"
	"carteira/internal/platform/address"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// settled are the fields of Customer that no request sets, each with a reason.
var settled = map[string]string{
	"ID":        "the database gives it",
	"UUID":      "made once, never changed",
	"OwnDay":    "follows from the due date; the audit log has it where it differs",
	"CreatedAt": "the instant of the creation",
	"UpdatedAt": "the instant of the last change",
	"Credit":    "the billing room's; its own action is audited",
	"Autopay":   "the payment room's; its own action is audited, and autopay.changed tells it",
}

// notToldByEvents are the fields that customer.created does not carry.
var notToldByEvents = map[string]string{
	"OwnDay":     "how renewals count is ours",
	"Notes":      "the seed's event has no notes: they are the company's own",
	"ExternalID": "the seed's event has none; GET /customers/{id} shows it",
	"UpdatedAt":  "it is created_at at that moment",

	"Credit":       "customer.updated names it in changed",
	"Autopay":      "autopay.changed tells it",
	"CancelReason": "customer.updated names it; GET /customers/{id} shows it",
}

// notImported are the fields that a file has under no heading of its own.
var notImported = map[string]string{
	"address":       "its parts have headings: CEP, Rua, Cidade",
	"custom":        "each field has a heading: custom.MAC",
	"cancelled":     "who was cancelled elsewhere is not imported",
	"cancel_reason": "who was cancelled elsewhere is not imported",
}

// full is a customer with every field filled.
func full(t *testing.T) (customer Customer) {
	t.Helper()
	housetest.Fill(t, &customer, civil.MustParse("2026-03-31"), NewCustom(map[string]string{"MAC": "text"}), Price{2990, true},
		address.Address{CEP: "01310100", City: "São Paulo"}, Plan{1, "Plano 1month", 3500}, Product{1, "Internet 300"})
	customer.period = civil.Period{Unit: civil.Month, Count: 1}
	return customer
}

func TestEveryFieldIsAuditedAndNamedWhenItChanges(t *testing.T) {
	housetest.EachField(t, full(t), settled, func(customer Customer) bool {
		return len(changedFields(Customer{}, customer)) == 1 && fmt.Sprint(auditFields(customer)) != fmt.Sprint(auditFields(Customer{}))
	}, "is missing in the table of fields.go, so neither the audit log nor customer.updated tells its change")
}

func TestEveryFieldIsStored(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.offers(t, world.actor, "1month")
		want := full(t)
		must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) (err error) {
			change := Change{Action: ActionCreated, After: want}
			err = world.apply(t.Context(), world.actor.In(tx), &change)
			want = change.After
			return err
		}))
		if got, err := world.Find(t.Context(), world.actor, want.ID); err != nil || got != want {
			t.Errorf("inserted %+v, read %+v, %v", want, got, err)
		}
		changed := want
		for i, field := range fields {
			if s, ok := field.at(&changed).(*string); ok && field.name != "custom" {
				*s = fmt.Sprintf("other%d", i)
			}
		}
		must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			return world.apply(t.Context(), world.actor.In(tx), &Change{Action: ActionUpdated, Before: want, After: changed})
		}))
		changed.UpdatedAt = world.db.Now()
		if got, err := world.Find(t.Context(), world.actor, want.ID); err != nil || got.Notes != changed.Notes || len(changedFields(got, changed)) != 0 {
			t.Errorf("updated to %+v, read %+v, %v", changed, got, err)
		}
	})
}

func TestEveryFieldIsToldByEvents(t *testing.T) {
	world := newWorld(t, sqldb.SQLite)
	housetest.EachField(t, full(t), notToldByEvents, func(customer Customer) bool {
		_, empty := Change{Action: ActionCreated}.event(world.actor, noon)
		name, data := Change{Action: ActionCreated, After: customer}.event(world.actor, noon)
		return name == event.CustomerCreated && asJSON(t, data) != asJSON(t, empty)
	}, "is missing in the events' data (events.go)")
}

func TestEveryFieldThatCanBeSetCanBeImported(t *testing.T) {
	known := sheet.Fields()
	for _, field := range fields {
		if _, excepted := notImported[field.name]; !slices.Contains(known, field.name) != excepted {
			t.Errorf("%s: sheet/headings.go does not know it", field.name)
		}
	}
}

func TestWhatIsExportedUnderATextsHeadingCanBeImported(t *testing.T) {
	for _, text := range Texts() {
		file, err := sheet.Open(strings.NewReader(text.Heading + "\nx\n"))
		if must(t, err); file.Columns[0].Field != text.Name {
			t.Errorf("%s: sheet/headings.go reads its heading %q as %q", text.Name, text.Heading, file.Columns[0].Field)
		}
	}
}

func TestEveryFieldOfADraftIsUsed(t *testing.T) {
	kind := reflect.TypeFor[Draft]()
	settable := kind.NumField() - 5 // Problems, unreadPhone, KeepInvoices, LeaveOverdue, OwnDay
	if settable != len(fields) {
		t.Errorf("a draft has %d fields, the table in fields.go %d", settable, len(fields))
	}
	for field := range kind.Fields() {
		name := field.Name
		if name == "Problems" || strings.HasSuffix(name, "ID") || !field.IsExported() {
			continue
		}
		switch name {
		case "Cancelled":
			name = "CancelledAt"
		case "KeepInvoices", "LeaveOverdue": // of the change, not of the record
			continue
		}
		if _, ok := reflect.TypeFor[Customer]().FieldByName(name); !ok {
			t.Errorf("Draft.%s is no field of Customer", name)
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	must(t, err)
	return string(b)
}

// A record of a list lacks what the counts of a change are made of.
func TestCustomerOfAListIsNotChanged(t *testing.T) {
	world := newWorld(t, sqldb.SQLite)
	world.create(t, `{"name":"Ana"}`)
	list, _, err := world.List(t.Context(), world.actor, Filter{}, input.Page{Number: 1, Size: 50})
	must(t, err)
	change := Change{Action: ActionUpdated, Before: list[0], After: list[0]}
	err = world.db.Write(t.Context(), func(tx *sqldb.Tx) error { return world.apply(t.Context(), world.actor.In(tx), &change) })
	if err == nil || !strings.Contains(err.Error(), "for a list") {
		t.Errorf("got %v, want a refusal", err)
	}
}
