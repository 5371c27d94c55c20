package billing

import (
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
)

// wantForecast compares every figure of a forecast with the sum of its rows.
func (w *world) wantForecast(t *testing.T) Forecast {
	t.Helper()
	forecast, err := w.Forecast(t.Context(), w.actor)
	must(t, err)
	var all MonthFigure
	for _, day := range forecast.Days {
		all.add(day.Expected)
		w.wantExpected(t, day.Expected, ForecastQuestion{Day: day.Date})
	}
	w.wantExpected(t, all, ForecastQuestion{})
	w.wantExpected(t, forecast.Expected(), ForecastQuestion{})
	for part, figure := range forecast.Parts {
		w.wantExpected(t, figure, ForecastQuestion{Part: part})
	}
	return forecast
}

// wantExpected adds up the rows of a figure, page by page.
func (w *world) wantExpected(t *testing.T, figure MonthFigure, question ForecastQuestion) {
	t.Helper()
	var sum MonthFigure
	for page := (input.Page{Number: 1, Size: 100}); ; page.Number++ {
		rows, total, err := w.ForecastRows(t.Context(), w.actor, question, page)
		must(t, err)
		if total.Count != figure.Count || total.Amount != figure.Amount {
			t.Errorf("%+v: the page says %+v, the figure %+v", question, total, figure)
		}
		for _, row := range rows {
			sum.add(MonthFigure{Count: 1, Amount: row.Amount})
		}
		if len(rows) < 100 {
			break
		}
	}
	if sum.Count != figure.Count || sum.Amount != figure.Amount {
		t.Errorf("%+v has %d rows of %s, the figure %d of %s", question, sum.Count, sum.Amount, figure.Count, figure.Amount)
	}
}

func TestForecastIsTheSumOfItsRows(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) { // on 31 January
		late, part := world.customer(t, 1, "2026-01-30"), world.customer(t, 1, "2026-02-02")
		own := world.customer(t, 1, "2026-02-23")
		world.redate(t, own.ID, "2026-02-24") // which has no invoice yet
		world.customer(t, 1, "2026-03-02")    // the day after the last
		world.set(t, world.only(t, part.ID).ID, Paid, "amount", "10.00", "difference", "partial")
		world.update(t, own.ID, "price", "20.00")
		forecast := world.wantForecast(t)
		if forecast.First != day("2026-01-31") || forecast.Last != day("2026-03-01") || forecast.Before != day("2025-12-31") {
			t.Errorf("from %v to %v, against %v", forecast.First, forecast.Last, forecast.Before)
		}
		if overdue := forecast.Parts[ForecastOverdue]; overdue.Count != 1 || overdue.Amount != world.only(t, late.ID).Amount {
			t.Errorf("overdue: %+v", overdue)
		}
		if february2 := forecast.Days[2]; february2.Date != day("2026-02-02") || february2.Expected.Amount != 2500 {
			t.Errorf("after a part came: %+v", february2)
		}
		if own := forecast.Days[24]; own.Expected.Amount != 2000 {
			t.Errorf("at a price of its own: %+v", own)
		}
		if today := forecast.Days[0]; today.Received != 0 || !today.Passed {
			t.Errorf("31 December: %+v", today)
		}
		_, err := world.Forecast(t.Context(), account.Actor{Company: world.actor.Company, Role: account.RoleAttendant})
		if fault.KindOf(err) != fault.KindForbidden {
			t.Errorf("an attendant sees it: %v", err)
		}
	})
}

func TestMonthBeforeIsTheSameDay(t *testing.T) {
	for on, want := range map[string]string{
		"2026-03-31": "2026-02-28", "2024-03-30": "2024-02-29", "2026-01-15": "2025-12-15", "2026-12-31": "2026-11-30",
	} {
		if got := monthBefore(day(on)); got != day(want) {
			t.Errorf("a month before %s is %v, want %s", on, got, want)
		}
	}
}

// wantForecast compares the forecast with the model.
func (l *life) wantForecast() {
	expected, last := map[civil.Date]money.Cents{}, l.today.AddDays(ForecastDays-1)
	expect := func(on civil.Date, amount money.Cents) {
		if on.Before(l.today) {
			on = civil.Date{}
		}
		if !on.After(last) {
			expected[on] += max(0, amount)
		}
	}
	for _, bill := range l.bills {
		if bill.status == Open {
			expect(bill.dueOn, bill.amount-bill.received)
		}
	}
	for _, person := range l.people {
		bill := l.billFor(person, person.dueOn)
		if person.plan != nil && !person.dueOn.IsZero() && !person.cancelled && (bill == nil || bill.byProgram()) {
			expect(person.dueOn, person.pays())
		}
	}
	forecast := l.w.wantForecast(l.t)
	if got := forecast.Parts[ForecastOverdue].Amount; got != expected[civil.Date{}] {
		l.t.Errorf("overdue are %s, want %s", got, expected[civil.Date{}])
	}
	for n, day := range forecast.Days {
		if day.Expected.Amount != expected[day.Date] {
			l.t.Errorf("expected on %v are %s, want %s", day.Date, day.Expected.Amount, expected[day.Date])
		}
		if before := forecast.Before.AddDays(n); day.Received != l.received[before] {
			l.t.Errorf("received on %v were %s, want %s", before, day.Received, l.received[before])
		}
	}
}
