package customer

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// expire records those who have expired and counts them.
func (w *world) expire(t *testing.T, actor account.Actor) int {
	t.Helper()
	n, err := w.Expire(t.Context(), actor)
	must(t, err)
	return n
}

// expired lists the due dates that customer.expired was recorded for.
func (w *world) expired(t *testing.T) []string {
	t.Helper()
	bodies, err := sqldb.Values[string](t.Context(), w.db, `SELECT body FROM events WHERE name = ? ORDER BY id`, string(event.CustomerExpired))
	must(t, err)
	for i, body := range bodies {
		bodies[i] = body[strings.LastIndex(body, `"due_date":"`)+len(`"due_date":"`):][:len("2026-01-31")]
	}
	return bodies
}

// A due date passes at the company's midnight, wherever its clocks stand and
// whatever they do in that night.
func TestDueDatePassesAtTheCompanysMidnight(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		for _, c := range []struct{ zone, dueOn, at string }{
			{"America/Sao_Paulo", "2026-01-31", "2026-02-01T03:00:00Z"},
			{"America/Sao_Paulo", "2018-11-02", "2018-11-03T03:00:00Z"}, // the day before clocks went forward
			{"America/Sao_Paulo", "2018-11-03", "2018-11-04T03:00:00Z"}, // at midnight they did: the day began at one
			{"America/Sao_Paulo", "2018-11-04", "2018-11-05T02:00:00Z"}, // a day of 23 hours
			{"America/Sao_Paulo", "2019-02-15", "2019-02-16T02:00:00Z"}, // the day before clocks went back
			{"America/Sao_Paulo", "2019-02-16", "2019-02-17T03:00:00Z"}, // at midnight they did: a day of 25 hours
			{"America/Sao_Paulo", "2019-02-17", "2019-02-18T03:00:00Z"},
			{"America/Noronha", "2026-01-31", "2026-02-01T02:00:00Z"},
			{"America/Rio_Branco", "2026-01-31", "2026-02-01T05:00:00Z"},
			{"UTC", "2026-01-31", "2026-02-01T00:00:00Z"},
			{"UTC", "2028-02-28", "2028-02-29T00:00:00Z"},
			{"Pacific/Auckland", "2026-04-04", "2026-04-04T11:00:00Z"},
			{"Pacific/Auckland", "2026-04-05", "2026-04-05T12:00:00Z"}, // clocks go back at three in the morning
			{"Pacific/Auckland", "2026-09-26", "2026-09-26T12:00:00Z"},
			{"Pacific/Auckland", "2026-09-27", "2026-09-27T11:00:00Z"}, // clocks go forward at two in the morning
		} {
			midnight, err := time.Parse(time.RFC3339, c.at)
			must(t, err)
			world.clock.Set(midnight.Add(-100 * time.Hour))
			actor := world.newCompany(t)
			actor.Company, err = world.accounts.SetCompany(t.Context(), actor, account.ReadCompanyDraft(values("timezone", c.zone)))
			must(t, err)
			made, err := world.Create(t.Context(), actor, ReadNew(values("name", "Ana", "data_de_vencimento", c.dueOn)))
			must(t, err)
			for _, before := range []time.Duration{25 * time.Hour, 24 * time.Hour, 61 * time.Minute, time.Hour, time.Second, time.Microsecond} {
				world.clock.Set(midnight.Add(-before))
				if n := world.expire(t, actor); n != 0 {
					t.Errorf("%s, due on %s: told %v too early", c.zone, c.dueOn, before)
				}
			}
			if got := made.Status(actor.Today(world.clock.Now())); got != DueToday {
				t.Errorf("%s, due on %s: %s until midnight", c.zone, c.dueOn, got)
			}
			world.clock.Set(midnight)
			if n := world.expire(t, actor); n != 1 {
				t.Errorf("%s, due on %s: %d told at %s, want 1", c.zone, c.dueOn, n, c.at)
			}
			for _, later := range []time.Duration{0, time.Second, time.Hour, 24 * time.Hour, 9000 * time.Hour} {
				world.clock.Set(midnight.Add(later))
				if n := world.expire(t, actor); n != 0 {
					t.Errorf("%s, due on %s: told again after %v", c.zone, c.dueOn, later)
				}
			}
		}
	})
}

func TestExpiryIsToldAsIntegratorsKnowIt(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.offers(t, world.actor, "1month")
		world.create(t, `{"name":"João da Silva","whatsapp":"(11) 98765-4321","usuario":"joao.silva","plan_id":1,"data_de_vencimento":"2026-01-31"}`)
		world.clock.Set(time.Date(2026, 2, 1, 3, 0, 21, 0, time.UTC))
		world.expire(t, world.actor)
		world.wantEvent(t, "expired")
	})
}

func TestEveryDueDateThatPassesIsToldOnce(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.offers(t, world.actor, "1month")
		id := world.create(t, `{"name":"Ana","plan_id":1,"data_de_vencimento":"2026-01-31"}`).ID
		var want []string
		step := func(what string, passed ...string) {
			t.Helper()
			want = append(want, passed...)
			for range 3 {
				world.expire(t, world.actor)
			}
			if got := world.expired(t); !slices.Equal(got, want) {
				t.Fatalf("%s: told of %v, want %v", what, got, want)
			}
		}
		step("on the day")
		world.clock.Advance(24 * time.Hour)
		step("the day after", "2026-01-31")
		world.update(t, id, `{"name":"Ana Lima"}`)
		step("another name")
		world.renew(t, id)
		step("renewed")
		world.clock.Advance(400 * 24 * time.Hour) // nothing ran for a year
		step("after a year of downtime", "2026-02-28")
		world.renew(t, id)
		step("renewed from a past date to a past date")
		world.update(t, id, `{"data_de_vencimento":"2020-02-29"}`)
		step("expired, and given another past date")
		world.update(t, id, `{"data_de_vencimento":"2030-01-01"}`)
		step("given a date to come")
		world.update(t, id, `{"data_de_vencimento":"2020-03-01"}`)
		step("current, and given a past date", "2020-03-01")
		world.update(t, id, `{"data_de_vencimento":"2030-01-01"}`)
		world.update(t, id, `{"data_de_vencimento":"2020-03-01"}`)
		step("a date that left and came back")
		world.update(t, id, `{"data_de_vencimento":null}`)
		step("given none")
		world.create(t, `{"name":"Bia","data_de_vencimento":"2026-01-01"}`)
		step("made with a date that is past", "2026-01-01")
		must(t, world.Delete(t.Context(), world.actor, id))
		step("deleted")
	})
}

func TestOnlyThoseWhoHavePassedAreToldOf(t *testing.T) {
	world := newWorld(t, sqldb.SQLite)
	for _, dueOn := range []string{"2026-02-01", "2026-01-31", "2026-01-30", "2025-12-01", ""} {
		world.create(t, fmt.Sprintf(`{"name":"Ana","data_de_vencimento":%q}`, dueOn))
	}
	world.expire(t, world.actor)
	if got, want := world.expired(t), []string{"2025-12-01", "2026-01-30"}; !slices.Equal(got, want) {
		t.Errorf("told of %v, want %v", got, want)
	}
}

func TestRenewedBeforeMidnightDoesNotExpire(t *testing.T) {
	world := newWorld(t, sqldb.SQLite)
	world.offers(t, world.actor, "1month")
	id := world.create(t, `{"name":"Ana","plan_id":1,"data_de_vencimento":"2026-01-31"}`).ID
	world.clock.Set(time.Date(2026, 2, 1, 2, 59, 59, 0, time.UTC))
	world.renew(t, id)
	world.clock.Advance(time.Second)
	if n := world.expire(t, world.actor); n != 0 {
		t.Errorf("%d expired, want none", n)
	}
}

func TestOneCompanysMidnightIsNotAnothers(t *testing.T) {
	world := newWorld(t, sqldb.SQLite)
	auckland := world.newCompany(t)
	var err error
	auckland.Company, err = world.accounts.SetCompany(t.Context(), auckland, account.ReadCompanyDraft(values("timezone", "Pacific/Auckland")))
	must(t, err)
	for _, actor := range []account.Actor{world.actor, auckland} {
		_, err := world.Create(t.Context(), actor, ReadNew(values("name", "Ana", "data_de_vencimento", "2026-01-31")))
		must(t, err)
	}
	world.clock.Set(time.Date(2026, 1, 31, 11, 0, 0, 0, time.UTC)) // 1 February in New Zealand
	if here, there := world.expire(t, world.actor), world.expire(t, auckland); here != 0 || there != 1 {
		t.Errorf("%d expired in São Paulo, %d in Auckland; want 0 and 1", here, there)
	}
}

func TestThreeProcessesTellOfEachOnce(t *testing.T) {
	const customers = 2*expireBatch + 50
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		url := sqldbtest.URL(t, engine)
		world := openWorld(t, url)
		processes := []*Service{world.Service, world.second(t, url), world.second(t, url)}
		world.populate(t, world.actor, slices.Repeat([]Customer{{Name: "Ana", DueOn: day("2026-02-10"), OwnDay: 10}}, customers))
		world.clock.Advance(40 * 24 * time.Hour)
		told := make([]int, 6)
		for _, err := range atOnce(t, len(told), processes, func(service *Service, i int) (err error) {
			told[i], err = service.Expire(t.Context(), world.actor)
			return err
		}) {
			t.Error(err)
		}
		total := 0
		for _, n := range told {
			total += n
		}
		if got := world.expired(t); total != customers || len(got) != customers {
			t.Errorf("%v told, %d events; want %d", told, len(got), customers)
		}
		ids, err := sqldb.Values[string](t.Context(), world.db, `SELECT body FROM events`)
		must(t, err)
		for i, body := range ids {
			_, rest, _ := strings.Cut(body, `"customer":{"id":`)
			ids[i], _, _ = strings.Cut(rest, ",")
		}
		slices.Sort(ids)
		if distinct := len(slices.Compact(ids)); distinct != customers {
			t.Errorf("%d customers were told of, want %d", distinct, customers)
		}
	})
}

// Due dates that were recorded years ago cost nothing, nor do those to come.
func TestExpiryIsReadFromItsIndex(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		crowd := make([]Customer, 4000)
		for i := range crowd {
			crowd[i] = Customer{Name: "Ana", DueOn: day(fmt.Sprintf("20%d-03-%02d", 25+i%2*2, 1+i%28)), OwnDay: 1}
		}
		world.populate(t, world.actor, crowd)
		if n := world.expire(t, world.actor); n != len(crowd)/2 {
			t.Fatalf("%d expired, want half of %d", n, len(crowd))
		}
		for _, statistics := range []string{`SELECT 1`, `ANALYZE`} { // without any, and with true ones
			must(t, world.db.Write(t.Context(), func(tx *sqldb.Tx) error {
				_, err := tx.Exec(t.Context(), statistics)
				return err
			}))
			sqldbtest.WantIndex(t, world.db, "customers_expiring", anyLapsedText, world.actor.Company.ID, "2026-01-31")
			sqldbtest.WantIndex(t, world.db, "customers_expiring", lapsedText, world.actor.Company.ID, "2026-01-31", expireBatch)
		}
	})
}
