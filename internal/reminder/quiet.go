package reminder

import (
	"context"
	"fmt"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// Quiet is when customers are left in peace: from one minute of the day to
// another, past midnight when the second is the smaller. Two that are the same
// leave nobody in peace.
type Quiet struct{ From, To int }

// DefaultQuiet is that of a company that has chosen nothing.
var DefaultQuiet = Quiet{21 * 60, 8 * 60}

// String prints 21:00–08:00.
func (q Quiet) String() string { return Clock(q.From) + "–" + Clock(q.To) }

// Clock prints a minute of the day as 09:30.
func Clock(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }

// Holds tells whether customers are left in peace at a minute of the day.
func (q Quiet) Holds(minute int) bool {
	if q.From <= q.To {
		return q.From <= minute && minute < q.To
	}
	return minute >= q.From || minute < q.To
}

// after is the first instant from t on at which customers may be disturbed.
func (q Quiet) after(t time.Time, zone *time.Location) time.Time {
	local := t.In(zone)
	minute := local.Hour()*60 + local.Minute()
	if !q.Holds(minute) {
		return t
	}
	day := civil.Of(local)
	if minute >= q.To { // it ends tomorrow
		day = day.AddDays(1)
	}
	return day.At(time.Duration(q.To)*time.Minute, zone)
}

// Settings are a company's choices about messages.
type Settings struct{ Quiet Quiet }

// Settings returns the company's.
func (s *Service) Settings(ctx context.Context, a account.Actor) (Settings, error) {
	q, err := quietOf(ctx, s.db, a.Company.ID)
	return Settings{q}, err
}

// SetSettings changes the company's, from the fields quiet_from and quiet_to;
// what is not given stays. What is scheduled is planned anew.
func (s *Service) SetSettings(ctx context.Context, a account.Actor, in *input.Form) (Settings, error) {
	in.MustNotClear("quiet_from")
	in.MustNotClear("quiet_to")
	from, hasFrom := readClock(in, "quiet_from")
	to, hasTo := readClock(in, "quiet_to")
	if err := in.Err(); err != nil {
		return Settings{}, err
	}
	var q Quiet
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
		if q, err = lockQuiet(ctx, tx, a.Company.ID); err != nil {
			return err
		}
		before := q.fields()
		if hasFrom {
			q.From = from
		}
		if hasTo {
			q.To = to
		}
		if err := saveQuiet(ctx, tx, a.Company.ID, q); err != nil {
			return err
		}
		if err := s.replanAll(ctx, tx, a, q); err != nil {
			return err
		}
		return account.WriteAudit(ctx, tx, a, account.AuditEntry{Action: "quiet_hours.updated", Record: "company", ID: a.Company.ID, Before: before, After: q.fields()})
	})
	return Settings{q}, err
}

// readClock reads a time of the day, such as 09:00 or 9.
func readClock(in *input.Form, name string) (minute int, ok bool) {
	text, ok := in.Line(name, 5).Get()
	if !ok || text == "" {
		return 0, false
	}
	for _, layout := range []string{"15:04", "15"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.Hour()*60 + t.Minute(), true
		}
	}
	in.Refuse(name, "must be a time of the day such as 09:00")
	return 0, false
}
