package customer

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/customer/sheet"
	"carteira/internal/event"
	"carteira/internal/platform/address"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

// settled are the fields of Customer that no request sets, each with a reason.
var settled = map[string]string{
	"ID":        "the database gives it",
	"UUID":      "made once, never changed",
	"OwnDay":    "follows from the due date",
	"CreatedAt": "the instant of the creation",
	"CreatedOn": "the day of that instant",
	"UpdatedAt": "the instant of the last change",
}

// notToldByEvents are the fields that customer.created does not carry.
var notToldByEvents = map[string]string{
	"OwnDay":     "how renewals count is ours",
	"Notes":      "the seed's event has no notes: they are the company's own",
	"ExternalID": "the seed's event has none; GET /customers/{id} shows it",
	"UpdatedAt":  "it is created_at at that moment",
	"CreatedOn":  "created_at has the day",

	"CancelReason": "customer.updated names it; GET /customers/{id} shows it",
}

// notImported are the fields that a file has under no heading of its own.
var notImported = map[string]string{
	"address":       "its parts have headings: CEP, Rua, Cidade",
	"custom":        "each field has a heading: custom.MAC",
	"cancelled":     "who was cancelled elsewhere is not imported",
	"cancel_reason": "who was cancelled elsewhere is not imported",
}

// fill sets every field of a customer to something that is not its zero value.
func fill(c *Customer) {
	v := reflect.ValueOf(c).Elem()
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			set(v.Field(i), i+1)
		}
	}
	c.DueOn = civil.MustParse("2026-03-31")
}

func set(v reflect.Value, n int) {
	switch v.Interface().(type) {
	case string:
		v.SetString(fmt.Sprintf("text%d", n))
	case int, int64, money.Cents:
		v.SetInt(int64(n))
	case time.Time:
		v.Set(reflect.ValueOf(time.UnixMicro(int64(n))))
	case civil.Date:
		v.Set(reflect.ValueOf(civil.MustParse("2026-03-31")))
	case Custom:
		v.SetString(`{"MAC":"text"}`)
	case Price:
		v.Set(reflect.ValueOf(Price{2990, true}))
	case address.Address:
		v.Set(reflect.ValueOf(address.Address{CEP: "01310100", City: "São Paulo"}))
	case Plan:
		v.Set(reflect.ValueOf(Plan{1, "text plan", 3500, civil.Period{Unit: civil.Month, Count: 1}}))
	case Product:
		v.Set(reflect.ValueOf(Product{1, "text product"}))
	default:
		panic(fmt.Sprintf("no filling for a %s", v.Type()))
	}
}

// eachField calls check with a customer that has only one field filled.
func eachField(t *testing.T, exceptions map[string]string, check func(name string, c Customer) bool, complaint string) {
	t.Helper()
	var full Customer
	fill(&full)
	source := reflect.ValueOf(full)
	for i := range source.NumField() {
		name := source.Type().Field(i).Name
		if !source.Type().Field(i).IsExported() {
			continue // ours alone: no request sets it
		}
		var c Customer
		reflect.ValueOf(&c).Elem().Field(i).Set(source.Field(i))
		_, excepted := exceptions[name]
		if found := check(name, c); found == excepted {
			t.Errorf("Customer.%s: %s (found %v, excepted %v)", name, complaint, found, excepted)
		}
	}
}

func TestEveryFieldIsAuditedAndNamedWhenItChanges(t *testing.T) {
	eachField(t, settled, func(_ string, c Customer) bool {
		return len(changedFields(Customer{}, c)) == 1 && fmt.Sprint(auditFields(c)) != fmt.Sprint(auditFields(Customer{}))
	}, "is missing in the table of fields.go, so neither the audit log nor customer.updated tells its change")
}

func TestEveryFieldIsStored(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		w := newWorld(t, engine)
		w.offers(t, w.actor, "1month")
		var want Customer
		fill(&want)
		want.Plan.Name, want.Product.Name = "Plano 1month", "Internet 300"
		must(t, w.db.Write(t.Context(), func(tx *sqldb.Tx) (err error) {
			c := Change{Action: ActionCreated, After: want}
			err = w.apply(t.Context(), tx, w.actor, &c)
			want = c.After
			return err
		}))
		if got, err := w.Find(t.Context(), w.actor, want.ID); err != nil || got != want {
			t.Errorf("inserted %+v, read %+v, %v", want, got, err)
		}
		changed := want
		set(reflect.ValueOf(&changed.Name).Elem(), 90)
		for i, f := range fields {
			if s, ok := f.at(&changed).(*string); ok && f.name != "custom" {
				*s = fmt.Sprintf("other%d", i)
			}
		}
		must(t, w.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			return w.apply(t.Context(), tx, w.actor, &Change{Action: ActionUpdated, Before: want, After: changed})
		}))
		changed.UpdatedAt = w.db.Now()
		if got, err := w.Find(t.Context(), w.actor, want.ID); err != nil || got.Notes != changed.Notes || len(changedFields(got, changed)) != 0 {
			t.Errorf("updated to %+v, read %+v, %v", changed, got, err)
		}
	})
}

func TestEveryFieldIsToldByEvents(t *testing.T) {
	w := newWorld(t, sqldb.SQLite)
	eachField(t, notToldByEvents, func(_ string, c Customer) bool {
		_, empty := Change{Action: ActionCreated}.event(w.actor, noon)
		name, data := Change{Action: ActionCreated, After: c}.event(w.actor, noon)
		return name == event.CustomerCreated && asJSON(t, data) != asJSON(t, empty)
	}, "is missing in the events' data (events.go)")
}

func TestEveryFieldThatCanBeSetCanBeImported(t *testing.T) {
	known := sheet.AllFields()
	for _, f := range fields {
		if _, excepted := notImported[f.name]; !slices.Contains(known, f.name) != excepted {
			t.Errorf("%s: sheet/headings.go does not know it", f.name)
		}
	}
}

func TestEveryFieldOfADraftIsUsed(t *testing.T) {
	d := reflect.TypeFor[Draft]()
	settable := d.NumField() - 3 // Problems, unreadPhone, KeepInvoices
	if settable != len(fields) {
		t.Errorf("a draft has %d fields, the table in fields.go %d", settable, len(fields))
	}
	for field := range d.Fields() {
		name := field.Name
		if name == "Problems" || strings.HasSuffix(name, "ID") || !field.IsExported() {
			continue
		}
		switch name {
		case "Cancelled":
			name = "CancelledAt"
		case "KeepInvoices": // of the change, not of the record
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
