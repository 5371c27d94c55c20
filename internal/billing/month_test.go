package billing

import (
	"reflect"
	"strconv"
	"testing"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
)

// wantMonth compares every figure of a month with the sum of its rows.
func (w *world) wantMonth(t *testing.T, first civil.Date) Month {
	t.Helper()
	month, err := w.Month(t.Context(), w.actor, first)
	must(t, err)
	for part, figure := range month.Parts {
		w.wantRows(t, figure, MonthQuestion{First: first, Part: part})
	}
	for _, figure := range month.ByMeans {
		w.wantRows(t, figure, MonthQuestion{First: first, Part: MonthReceived, Via: figure.Key})
	}
	for _, figure := range month.ByDay {
		w.wantRows(t, figure, MonthQuestion{First: first, Part: MonthReceived, Day: day(figure.Key)})
	}
	for _, figure := range month.ByPlan {
		id, err := strconv.ParseInt(figure.Key, 10, 64)
		must(t, err)
		w.wantRows(t, figure, MonthQuestion{First: first, Part: MonthReceived, PlanID: input.Some(id)})
	}
	for _, figures := range [][]MonthFigure{month.ByMeans, month.ByPlan, month.ByDay} {
		var all MonthFigure
		for _, figure := range figures {
			all.add(figure)
		}
		if all.Amount != month.Parts[MonthReceived].Amount || all.Count != month.Parts[MonthReceived].Count {
			t.Errorf("%v: a division of what was received is %+v, want %+v", first, all, month.Parts[MonthReceived])
		}
	}
	return month
}

func (w *world) wantRows(t *testing.T, figure MonthFigure, question MonthQuestion) {
	t.Helper()
	var sum MonthFigure
	must(t, w.WalkMonth(t.Context(), w.actor, question, func(row MonthRow) error {
		sum.add(MonthFigure{Count: 1, Amount: row.Amount})
		return nil
	}))
	if sum.Count != figure.Count || sum.Amount != figure.Amount {
		t.Errorf("%+v has %d rows of %s, the figure %d of %s", question, sum.Count, sum.Amount, figure.Count, figure.Amount)
	}
	_, total, err := w.MonthRows(t.Context(), w.actor, question, input.Page{Number: 1, Size: 1})
	must(t, err)
	if total.Count != figure.Count || total.Amount != figure.Amount {
		t.Errorf("%+v: the page says %+v, the figure %+v", question, total, figure)
	}
}

func TestMonthIsTheSumOfItsRows(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		world.configure(t, "late_fee_percent", "10.00", "discount_amount", "5.00")
		record, other := world.customer(t, 1, "2026-01-31"), world.customer(t, 1, "2026-01-31")
		early, late := world.only(t, record.ID), world.only(t, other.ID)
		world.set(t, early.ID, Paid, "paid_via", "pix") // 30.00 with the discount
		world.set(t, late.ID, Paid, "amount", "10.00", "difference", "partial", "paid_via", "cash")
		january := world.wantMonth(t, day("2026-01-01"))
		if january.Net() != 4000 || january.Parts[MonthDiscounts].Amount != 500 || len(january.ByMeans) != 2 || january.ByMeans[0].Key != "pix" {
			t.Errorf("January is %+v", january)
		}
		if open := january.Parts[MonthOpen]; open.Count != 1 || open.Amount != 2500 {
			t.Errorf("open at its end: %+v", open)
		}
		world.clock.Advance(24 * time.Hour) // 1 February
		world.set(t, late.ID, Paid, "amount", "20.00", "difference", "discount", "paid_via", "cash")
		world.refund(t, Refund{PaymentID: 1, Amount: 1000, RefundID: "r"})
		after := world.wantMonth(t, day("2026-01-01"))
		for _, part := range []MonthPart{MonthReceived, MonthRefunds, MonthDiscounts, MonthFees, MonthOpen} {
			if after.Parts[part] != january.Parts[part] {
				t.Errorf("%s of January was %+v, and is %+v", part, january.Parts[part], after.Parts[part])
			}
		}
		february := world.wantMonth(t, day("2026-02-01"))
		want := map[MonthPart]money.Cents{MonthReceived: 2000, MonthRefunds: -1000, MonthFees: 350, MonthGiven: 850}
		for part, amount := range want {
			if february.Parts[part].Amount != amount {
				t.Errorf("%s of February is %s, want %s", part, february.Parts[part].Amount, amount)
			}
		}
		in := values("month", "2026-13")
		if ReadMonthQuestion(in, day("2026-02-01")); in.Err() == nil {
			t.Error("a month that does not exist is taken")
		}
	})
}

// A discount that counts now, a difference that is called a discount, and what will
// never come are three things; the last two are two figures.
func TestMonthHasDiscountsByHandAndWriteOffs(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		var ids []int64
		for range 4 {
			ids = append(ids, world.only(t, world.customer(t, 1, "2026-01-31").ID).ID)
		}
		world.clock.Advance(24 * time.Hour) // 1 February: overdue
		_, err := world.Edit(t.Context(), world.actor, ids[0], ReadEditOff(values("off", "5.00", "off_reason", "a friend")))
		must(t, err)
		world.set(t, ids[0], Paid, "amount", "28.00", "difference", "discount") // of 30.00
		world.set(t, ids[1], Paid, "amount", "10.00", "difference", "partial")
		world.set(t, ids[1], Paid, "amount", "0.00", "difference", "write_off", "note", "moved away")
		world.set(t, ids[2], Paid, "amount", "0.00", "difference", "write_off", "note", "moved away")
		world.set(t, ids[3], Paid)
		world.refund(t, Refund{PaymentID: 3, Amount: 500, RefundID: "r"}) // neither: it is among the refunds
		february := world.wantMonth(t, day("2026-02-01"))
		want := map[MonthPart]MonthFigure{
			MonthGiven: {Count: 1, Amount: 700}, MonthWriteOffs: {Count: 2, Amount: 6000}, MonthRefunds: {Count: 1, Amount: -500},
			MonthReceived: {Count: 3, Amount: 7300}, MonthDiscounts: {}, MonthOpen: {},
		}
		for part, figure := range want {
			if february.Parts[part] != figure {
				t.Errorf("%s of February is %+v, want %+v", part, february.Parts[part], figure)
			}
		}
		if open := world.wantMonth(t, day("2026-01-01")).Parts[MonthOpen]; open.Count != 4 || open.Amount != 13500 {
			t.Errorf("open at the end of January, less the discount of 5.00: %+v", open)
		}
		world.set(t, ids[2], Open)
		if losses := world.wantMonth(t, day("2026-02-01")).Parts[MonthWriteOffs]; losses.Count != 1 || losses.Amount != 2500 {
			t.Errorf("written off after one was opened again: %+v", losses)
		}
		world.clock.Advance(24 * time.Hour)
		world.closeBooks(t, "2026-02-01")
		_, err = world.SetStatus(t.Context(), world.actor, ids[2], ReadStatusChange(values(
			"status", "Pago", "amount", "0.00", "difference", "write_off", "note", "moved away", "paid_at", "2026-02-01")))
		wantField(t, err, "books_closed_through")
	})
}

func TestMonthsStayAsTheyWereWhenCustomersAreDeleted(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		world.configure(t, "late_fee_percent", "10.00", "late_interest_percent", "3.00", "discount_amount", "5.00")
		var ids []int64
		for n := range 6 {
			due := []string{"2026-01-10", "2026-01-31"}[n%2]
			ids = append(ids, world.only(t, world.customer(t, 1, due).ID).ID)
		}
		world.set(t, ids[0], Paid)                                                                          // with fee and interest
		world.set(t, ids[1], Paid)                                                                          // with the discount
		world.set(t, ids[2], Paid, "amount", "10.00", "difference", "discount")                             // given
		world.set(t, ids[3], Paid, "amount", "0.00", "difference", "write_off", "note", "moved away")       // lost
		world.set(t, ids[4], Paid, "amount", "10.00", "difference", "partial")                              // open at the end of January
		world.clock.Advance(24 * time.Hour)                                                                 // 1 February
		world.set(t, ids[4], Paid, "amount", "5.00", "difference", "write_off", "note", "the rest is lost") // ids[5] is still open
		world.clock.Advance(30 * 24 * time.Hour)
		january, february, march := world.wantMonth(t, day("2026-01-01")), world.wantMonth(t, day("2026-02-01")), world.wantMonth(t, day("2026-03-01"))
		for _, part := range []MonthPart{MonthReceived, MonthDiscounts, MonthGiven, MonthWriteOffs, MonthFees, MonthInterest, MonthOpen} {
			if january.Parts[part].Count == 0 {
				t.Errorf("January has nothing of %s", part)
			}
		}
		for _, id := range ids {
			must(t, world.customers.Delete(t.Context(), world.actor, world.find(t, id).Customer.ID))
		}
		for _, was := range []Month{january, february} {
			if now := world.wantMonth(t, was.First); !reflect.DeepEqual(now, was) {
				t.Errorf("%s was %+v, and is %+v", was.First, was.Parts, now.Parts)
			}
		}
		if owed := world.wantMonth(t, day("2026-03-01")).Parts[MonthOpen]; march.Parts[MonthOpen].Count == 0 || owed.Count != 0 {
			t.Errorf("what they owe goes with them: %+v", owed)
		}
	})
}

func TestMonthIsClosedFromItsPage(t *testing.T) {
	ledger(t, func(t *testing.T, world *world) {
		question := ReadMonthQuestion(values("month", "2025-12"), day("2026-01-31"))
		draft, err := question.CloseMonth(world.actor.Company)
		if err != nil || draft.ClosedThrough.Value != day("2025-12-31") {
			t.Errorf("%+v, %v", draft, err)
		}
		company := world.actor.Company
		company.Settings.ClosedThrough = day("2025-12-31")
		_, err = question.CloseMonth(company)
		wantField(t, err, "books_closed_through")
	})
}
