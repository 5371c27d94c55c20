package customer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/catalog"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

const wholeRecord = `{"name":"Ana","cpf_cnpj":"123.456.789-09","price":"29.90","custom":{"MAC":"00-1A","contrato":77,"empty":""},
	"address":{"cep":"01310-100","street":"Avenida  Paulista","number":1000,"city":"São Paulo","state":"são paulo"}}`

func TestWholeRecordIsTidiedStoredAndCleared(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		id := world.create(t, wholeRecord).ID
		read := func() string {
			customer, err := world.Find(t.Context(), world.actor, id)
			must(t, err)
			return fmt.Sprintf("%s | %s | %s | %s", customer.CpfCnpj, customer.Address, customer.OwnPrice, customer.Custom)
		}
		want := `12345678909 | Avenida Paulista, 1000 – São Paulo/SP – 01310-100 | 29.90 | {"MAC":"00-1A","contrato":"77"}`
		if got := read(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		world.update(t, id, `{"name":"Ana Lima"}`)
		if got := read(); got != want {
			t.Errorf("another name changed %s", got)
		}
		world.update(t, id, `{"address":{"city":"Recife"},"price":0,"custom":{"a":"b"}}`)
		if got, want := read(), `12345678909 | Recife | 0.00 | {"a":"b"}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		world.update(t, id, `{"cpf_cnpj":null,"address":null,"price":null,"custom":null}`)
		if got := read(); got != " |  |  | " {
			t.Errorf("cleared, and got %q", got)
		}
	})
}

// A price that is the plan's is none of the customer's own: it would stay behind
// when the plan's changes.
func TestOwnPriceThatIsThePlansFollowsThePlan(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		offer := func(name, value string) catalog.Plan {
			plan, err := world.catalog.CreatePlan(t.Context(), world.actor, catalog.ReadNewPlan(values("name", name, "value", value)))
			must(t, err)
			return plan
		}
		plan, other := offer("Fibra 100", "35.00"), offer("Fibra 300", "50.00")
		price := func(customer Customer) string {
			stored, err := world.Find(t.Context(), world.actor, customer.ID)
			must(t, err)
			if stored.OwnPrice != customer.OwnPrice {
				t.Errorf("answered %v, stored %v", customer.OwnPrice, stored.OwnPrice)
			}
			return stored.OwnPrice.String()
		}
		same, low := plan.Value.String(), (plan.Value - 100).String()
		made := world.create(t, fmt.Sprintf(`{"name":"Ana","plan_id":%d,"price":%q}`, plan.ID, same))
		for _, step := range []struct{ body, want string }{
			{`{}`, ""},
			{fmt.Sprintf(`{"price":%q}`, low), low},
			{fmt.Sprintf(`{"plan_id":%d}`, other.ID), low},
			{fmt.Sprintf(`{"price":%q}`, other.Value), ""},
			{`{"plan_id":null,"price":"1.00"}`, "1.00"},
		} {
			if got := price(world.update(t, made.ID, step.body)); got != step.want {
				t.Errorf("after %s the own price is %q, want %q", step.body, got, step.want)
			}
		}
	})
}

func TestWholeRecordIsRefusedFieldByField(t *testing.T) {
	world := newWorld(t, sqldb.SQLite)
	many := map[string]string{}
	for i := range 21 {
		many[fmt.Sprint("field ", i)] = "x"
	}
	tooMany, err := json.Marshal(many)
	must(t, err)
	for body, field := range map[string]string{
		`{"name":"A","cpf_cnpj":"123.456.789-00"}`:                       "cpf_cnpj",
		`{"name":"A","address":{"cep":"123"}}`:                           "address.cep",
		`{"name":"A","address":{"state":"XX"}}`:                          "address.state",
		`{"name":"A","address":{"country":"BR"}}`:                        "address.country",
		`{"name":"A","address":"Rua A"}`:                                 "address",
		`{"name":"A","price":"x"}`:                                       "price",
		`{"name":"A","price":-1}`:                                        "price",
		`{"name":"A","custom":[]}`:                                       "custom",
		`{"name":"A","custom":{"a":{}}}`:                                 "custom",
		`{"name":"A","custom":{"":"b"}}`:                                 "custom",
		`{"name":"A","custom":{"a":"` + strings.Repeat("x", 501) + `"}}`: "custom",
		`{"name":"A","custom":` + string(tooMany) + `}`:                  "custom",
		`{"name":"A","cancel_reason":"moved away"}`:                      "cancel_reason",
		`{"name":"A","whatsapp":"11 8765-4321"}`:                         "whatsapp",
	} {
		in, err := input.FromJSON([]byte(body))
		must(t, err)
		_, err = world.Create(t.Context(), world.actor, ReadNew(in))
		if got := fault.FieldsOf(err).Get(field); len(got) != 1 {
			t.Errorf("%s: %v, want one reason against %s", body, err, field)
		}
	}
}

// A number from before the rules can be sent back as it was read, and cannot be
// set.
func TestStoredPhoneCanBeSentBack(t *testing.T) {
	world := newWorld(t, sqldb.SQLite)
	id := world.create(t, `{"name":"Ana","whatsapp":"+351 912 345 678"}`).ID
	for _, stored := range []string{"351912345678", "551187654321"} {
		must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec(t.Context(), `UPDATE customers SET whatsapp = ? WHERE company_id = ? AND id = ?`, stored, world.actor.Company.ID, id)
			return err
		}))
		world.update(t, id, `{"name":"Ana of `+stored+`","whatsapp":"`+stored+`"}`)
		if customer, err := world.Find(t.Context(), world.actor, id); err != nil || customer.Whatsapp != stored {
			t.Errorf("%s became %s, %v", stored, customer.Whatsapp, err)
		}
	}
	_, err := world.Update(t.Context(), world.actor, id, ReadChanges(values("whatsapp", "551187654322")))
	if len(fault.FieldsOf(err).Get("whatsapp")) != 1 {
		t.Errorf("another wrong number: %v", err)
	}
}

func TestCancelledCustomerHasThatStatusAloneAndNeverExpires(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		id := world.create(t, `{"name":"Ana","data_de_vencimento":"2026-01-31"}`).ID
		world.create(t, `{"name":"Bia","data_de_vencimento":"2026-02-10"}`)
		statuses := func() string {
			var got []string
			for _, status := range []Status{Active, DueToday, Expired, Cancelled, ""} {
				list, n, err := world.List(t.Context(), world.actor, Filter{Status: status}, input.Page{Number: 1, Size: 10})
				must(t, err)
				if int64(len(list)) != n {
					t.Errorf("%s: %d listed of %d", status, len(list), n)
				}
				got = append(got, fmt.Sprint(n))
			}
			return strings.Join(got, " ")
		}
		if got := statuses(); got != "1 1 0 0 2" {
			t.Errorf("before: %s", got)
		}
		world.update(t, id, `{"cancelled":true,"cancel_reason":"moved away"}`)
		customer, err := world.Find(t.Context(), world.actor, id)
		if err != nil || customer.Status(day("2026-01-31")) != Cancelled || !customer.CancelledAt.Equal(world.clock.Now()) || customer.CancelReason != "moved away" {
			t.Errorf("cancelled: %+v, %v", customer, err)
		}
		if got := statuses(); got != "1 0 0 1 2" {
			t.Errorf("cancelled: %s", got)
		}
		world.clock.Advance(48 * time.Hour)
		world.update(t, id, `{"cancelled":true,"name":"Ana Lima"}`) // cancelled when it was
		if again, err := world.Find(t.Context(), world.actor, id); err != nil || !again.CancelledAt.Equal(customer.CancelledAt) {
			t.Errorf("cancelled again at %v, %v", again.CancelledAt, err)
		}
		if n := world.expire(t, world.actor); n != 0 || len(world.expired(t)) != 0 {
			t.Errorf("%d expired although cancelled", n)
		}
		world.update(t, id, `{"cancelled":false}`)
		if customer, err = world.Find(t.Context(), world.actor, id); err != nil || customer.IsCancelled() || customer.CancelReason != "" {
			t.Errorf("taken back: %+v, %v", customer, err)
		}
		world.expire(t, world.actor)
		if got := world.expired(t); !slices.Equal(got, []string{"2026-01-31"}) || statuses() != "1 0 1 0 2" {
			t.Errorf("taken back: recorded for %v, statuses %s", got, statuses())
		}
	})
}

func TestTaxIDIsFilteredAndSearchedHoweverItIsTyped(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.create(t, wholeRecord)
		world.create(t, `{"name":"Bia","cpf_cnpj":"12.ABC.345/01DE-35"}`)
		world.create(t, `{"name":"Caio"}`)
		for query, want := range map[string]int64{
			"cpf_cnpj 123.456.789-09": 1, "cpf_cnpj 12345678909": 1, "cpf_cnpj 12abc34501de35": 1,
			"search 123.456.789-09": 1, "search 12345678909": 1, "search 456.789": 1, "search 12.abc.345": 1, "search 12ABC345": 1,
		} {
			name, value, _ := strings.Cut(query, " ")
			in := input.FromStrings(map[string]string{name: value})
			filter := ReadFilter(in)
			must(t, in.Err())
			if list, n, err := world.List(t.Context(), world.actor, filter, input.Page{Number: 1, Size: 10}); err != nil || n != want || int64(len(list)) != want {
				t.Errorf("%s: %d of %d, %v; want %d", query, len(list), n, err, want)
			}
		}
	})
}

// A page's form has no objects: it sends the parts of an address by name, and
// the company's own fields as lines.
func TestPagesSendObjectsAsPartsAndLines(t *testing.T) {
	world := newWorld(t, sqldb.SQLite)
	customer, err := world.Create(t.Context(), world.actor, ReadNew(values("name", "Ana", "address.city", "Recife", "address.cep", "", "custom", "MAC: 00:1A\r\n\r\ncontrato: 7")))
	if err != nil || customer.Address.City != "Recife" || customer.Custom != `{"MAC":"00:1A","contrato":"7"}` || customer.Custom.Lines() != "MAC: 00:1A\ncontrato: 7\n" {
		t.Errorf("got %+v, %v", customer, err)
	}
	customer, err = world.Update(t.Context(), world.actor, customer.ID, ReadChanges(values("address.city", "", "custom", "")))
	if err != nil || !customer.Address.IsZero() || customer.Custom != "" {
		t.Errorf("cleared: %+v, %v", customer, err)
	}
}
