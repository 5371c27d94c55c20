package account

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// dayWorks lists the companies that are to be looked at, with their days, and ends
// the work of those that keep does not name.
func dayWorks(t *testing.T, service *Service, keep ...int64) string {
	t.Helper()
	var found []string
	for works, err := range service.DayWorks(t.Context()) {
		housetest.Must(t, err)
		for _, work := range works {
			found = append(found, fmt.Sprintf("%d on %s", work.Company.ID, work.Today))
		}
		_, err := service.EndDayWork(t.Context(), slices.DeleteFunc(works, func(work DayWork) bool {
			return slices.Contains(keep, work.Company.ID)
		}))
		housetest.Must(t, err)
	}
	slices.Sort(found)
	return strings.Join(found, ", ")
}

func wantDayWorks(t *testing.T, service *Service, want string, keep ...int64) {
	t.Helper()
	if got := dayWorks(t, service, keep...); got != want {
		t.Errorf("%s: to look at: %q, want %q", service.db.Now(), got, want)
	}
}

func newZoned(t *testing.T, service *Service, zones ...string) {
	t.Helper()
	for i, zone := range zones {
		_, _, err := service.CreateCompany(t.Context(), ReadNewCompany(housetest.Form(
			"name", zone, "email", fmt.Sprintf("z%d@example.com", i), "timezone", zone)))
		housetest.Must(t, err)
	}
}

func TestCompanyIsLookedAtOnEachOfItsDaysOnce(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		clock := sqldbtest.NewClock(time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC))
		service := New(sqldbtest.New(t, engine, sqldbtest.WithClock(clock)), Config{})
		wantDayWorks(t, service, "")
		newZoned(t, service, "America/Sao_Paulo", "Pacific/Auckland", "America/Sao_Paulo")
		wantDayWorks(t, service, "1 on 2026-01-20, 2 on 2026-01-21, 3 on 2026-01-20", 3)
		wantDayWorks(t, service, "3 on 2026-01-20") // which was not ended
		wantDayWorks(t, service, "")
		for _, step := range []struct{ at, want string }{
			{"2026-01-21T02:59:59Z", ""},
			{"2026-01-21T03:00:00Z", "1 on 2026-01-21, 3 on 2026-01-21"},
			{"2026-01-21T11:00:00Z", "2 on 2026-01-22"},
			{"2026-01-21T12:00:00Z", ""},
			{"2026-01-29T12:00:00Z", "1 on 2026-01-29, 2 on 2026-01-30, 3 on 2026-01-29"}, // a week off
			{"2026-01-28T02:00:00Z", "1 on 2026-01-27, 2 on 2026-01-28, 3 on 2026-01-27"}, // the clock was wrong
			{"2026-01-28T10:59:59Z", "1 on 2026-01-28, 3 on 2026-01-28"},
		} {
			at, err := time.Parse(time.RFC3339, step.at)
			housetest.Must(t, err)
			clock.Set(at)
			wantDayWorks(t, service, step.want)
			wantDayWorks(t, service, "")
		}
	})
}

func TestChangedCompanyIsLookedAtAgain(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		clock := sqldbtest.NewClock(time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC))
		service := New(sqldbtest.New(t, engine, sqldbtest.WithClock(clock)), Config{})
		newZoned(t, service, "America/Sao_Paulo", "America/Sao_Paulo")
		dayWorks(t, service)
		actor, err := service.Actor(t.Context(), 1)
		housetest.Must(t, err)
		set := func(name, value string) {
			t.Helper()
			_, err := service.SetCompany(t.Context(), actor, ReadCompanyDraft(housetest.Form(name, value)))
			housetest.Must(t, err)
		}
		set("lead_days", "30")
		wantDayWorks(t, service, "1 on 2026-01-20")
		set("timezone", "Pacific/Auckland")
		wantDayWorks(t, service, "1 on 2026-01-21")
		set("timezone", "America/Sao_Paulo")
		wantDayWorks(t, service, "1 on 2026-01-20")
		wantDayWorks(t, service, "")
		housetest.Must(t, service.db.Write(t.Context(), func(tx *sqldb.Tx) error { return AskDayWork(t.Context(), tx, 2) }))
		wantDayWorks(t, service, "2 on 2026-01-20", 2)
		wantDayWorks(t, service, "2 on 2026-01-20")
		wantDayWorks(t, service, "")
	})
}

// What was found with the old settings says nothing about the new ones.
func TestLookFromBeforeAChangeEndsNoDay(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		clock := sqldbtest.NewClock(time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC))
		service := New(sqldbtest.New(t, engine, sqldbtest.WithClock(clock)), Config{})
		newZoned(t, service, "America/Sao_Paulo")
		actor, err := service.Actor(t.Context(), 1)
		housetest.Must(t, err)
		for name, change := range map[string]func(){
			"lead": func() {
				_, err := service.SetCompany(t.Context(), actor, ReadCompanyDraft(housetest.Form("lead_days", "30")))
				housetest.Must(t, err)
			},
			"zone": func() {
				_, err := service.SetCompany(t.Context(), actor, ReadCompanyDraft(housetest.Form("timezone", "America/Rio_Branco")))
				housetest.Must(t, err)
			},
			"midnight": func() { clock.Advance(24 * time.Hour) },
		} {
			housetest.Must(t, service.db.Write(t.Context(), func(tx *sqldb.Tx) error {
				_, err := tx.Exec(t.Context(), `UPDATE companies SET day_done = ''`)
				return err
			}))
			looked := false
			for works, err := range service.DayWorks(t.Context()) {
				housetest.Must(t, err)
				if looked {
					t.Errorf("%s: looked at twice", name)
				}
				looked = true
				change()
				ended, err := service.EndDayWork(t.Context(), works)
				if err != nil || ended != 0 {
					t.Errorf("%s: %d ended, %v", name, ended, err)
				}
			}
			if got := dayWorks(t, service); got == "" || !looked {
				t.Errorf("%s: the change was not looked at", name)
			}
		}
	})
}

// A look reads the ends of each zone, however many companies there are.
func TestLookAtTheDaysReadsNoListOfCompanies(t *testing.T) {
	if sqldbtest.Raced {
		t.Skip("one goroutine, and many rows")
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := sqldbtest.New(t, engine)
		run := func(text string) {
			t.Helper()
			housetest.Must(t, db.Write(t.Context(), func(tx *sqldb.Tx) error {
				_, err := tx.Exec(t.Context(), text)
				return err
			}))
		}
		run(`INSERT INTO companies (name, timezone, level, renew_from, renew_on_payment, lead_days, created_at, updated_at, day_done)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
			SELECT 'C' || i, CASE WHEN i % 10 = 0 THEN 'America/Manaus' ELSE 'America/Sao_Paulo' END, 'user', 'due_date', TRUE, 5, 1, 1,
				'2026-01-20' FROM n`)
		for _, statistics := range []string{`SELECT 1`, `ANALYZE`} { // without any, and with true ones
			run(statistics)
			for _, look := range []struct {
				text string
				args []any
			}{
				{text: zonesInUseText},
				{undoneText, []any{"America/Sao_Paulo", "", 0, "2026-01-20", dayBatch}},
				{undoneText, []any{"America/Sao_Paulo", "2026-01-20", 1 << 62, "~", dayBatch}},
			} {
				plan := sqldbtest.Explain(t, db, look.text, look.args...)
				if !strings.Contains(plan, "companies_day") || strings.Contains(plan, "Seq Scan on companies") ||
					strings.Contains(plan, "SCAN c") {
					t.Errorf("companies are read from end to end:\n%s", plan)
				}
				if engine == sqldb.SQLite && look.args != nil && !strings.Contains(plan, "AND day_done<?)") {
					t.Errorf("what is done is read too:\n%s", plan)
				}
			}
		}
	})
}
