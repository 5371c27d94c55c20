package reminder

import (
	"context"
	"errors"
	"fmt"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
)

// Quiet is when customers are left in peace: from one minute of the day to
// another, past midnight when the second is the smaller. Two that are the same
// mean no quiet hours.
type Quiet struct{ From, To int }

// DefaultQuiet is that of a company that has chosen nothing.
var DefaultQuiet = Quiet{21 * 60, 8 * 60}

// String prints 21:00–08:00.
func (q Quiet) String() string { return Clock(q.From) + "–" + Clock(q.To) }

// Clock prints a minute of the day as 09:30.
func Clock(minute int) string {
	return fmt.Sprintf("%02d:%02d", minute/60, minute%60)
}

// Covers reports whether customers are left in peace at a minute of the day.
func (q Quiet) Covers(minute int) bool {
	if q.From <= q.To {
		return q.From <= minute && minute < q.To
	}
	return minute >= q.From || minute < q.To
}

// after is the first instant from t on at which customers may be disturbed.
func (q Quiet) after(at time.Time, zone *time.Location) time.Time {
	local := at.In(zone)
	minute := local.Hour()*60 + local.Minute()
	if !q.Covers(minute) {
		return at
	}
	day := civil.Of(local)
	if minute >= q.To { // it ends tomorrow
		day = day.AddDays(1)
	}
	return day.At(time.Duration(q.To)*time.Minute, zone)
}

// Settings are a company's choices about messages.
type Settings struct{ Quiet Quiet }

// Settings returns the settings of the company.
func (s *Service) Settings(ctx context.Context, actor account.Actor) (Settings, error) {
	quiet, err := quietOf(ctx, s.db, actor.Company.ID)
	return Settings{quiet}, err
}

// SettingsDraft is what a caller wants to change of the settings.
type SettingsDraft struct {
	QuietFrom, QuietTo input.Opt[int] // minutes of the day

	Problems input.Problems
}

// ReadSettings reads the fields quiet_from and quiet_to.
func ReadSettings(in *input.Form) SettingsDraft {
	in.MustNotClear("quiet_from")
	in.MustNotClear("quiet_to")
	draft := SettingsDraft{QuietFrom: readClock(in, "quiet_from"), QuietTo: readClock(in, "quiet_to")}
	draft.Problems = in.Problems()
	return draft
}

// SetSettings changes the company's settings; what is not given stays. What is
// scheduled is planned again.
func (s *Service) SetSettings(ctx context.Context, actor account.Actor, draft SettingsDraft) (Settings, error) {
	if err := draft.Problems.Err(); err != nil {
		return Settings{}, err
	}
	var after Quiet
	err := actor.Write(ctx, s.db, func(tx account.Tx) error {
		before, err := lockQuiet(ctx, tx)
		if err != nil {
			return err
		}
		after = Quiet{draft.QuietFrom.Or(before.From), draft.QuietTo.Or(before.To)}
		return s.applyQuiet(ctx, tx, change[Quiet]{&before, &after})
	})
	return Settings{after}, err
}

// readClock reads a time of the day, such as 09:00 or 9, as its minute.
func readClock(in *input.Form, name string) input.Opt[int] {
	text := in.Line(name, 5)
	if !text.HasValue() {
		return input.Opt[int]{}
	}
	for _, layout := range []string{"15:04", "15"} {
		if at, err := time.Parse(layout, text.Value); err == nil {
			return input.Some(at.Hour()*60 + at.Minute())
		}
	}
	in.Refuse(name, "must be a time of the day such as 09:00")
	return input.Opt[int]{}
}

// reasonAside is what people read of a message that made the program panic.
const reasonAside = "set aside: the program fails over this message"

// attend delivers a claimed message. One that makes the program panic is left
// until its claim has run out and then claimed again; one that keeps panicking
// is set aside.
func (e *engine) attend(ctx context.Context, job job) {
	err := worker.Guard(ctx, func() error {
		e.deliver(ctx, job)
		return nil
	})
	if err == nil {
		e.service.strikes.Clear(job.id)
		return
	}
	attrs := []any{"company_id", job.companyID, "message", job.id, "error", err}
	if !e.service.strikes.Add(job.id) {
		e.log.ErrorContext(ctx, "message panicked; it will be claimed again", attrs...)
		return
	}
	e.log.ErrorContext(ctx, "message set aside: it keeps panicking", attrs...)
	if err := e.service.setAside(ctx, job); err != nil {
		e.log.ErrorContext(ctx, "message cannot be set aside", "company_id", job.companyID, "message", job.id, "error", err)
		return
	}
	e.service.strikes.Clear(job.id)
}

// setAside ends a message that cannot be sent, with a notice at its channel.
// One that may have been sent waits for a person.
func (s *Service) setAside(ctx context.Context, job job) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		channelID, err := setMessageAside(ctx, tx, job)
		if errors.Is(err, sqldb.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		tx.OnCommit(s.metrics.aside.Inc)
		return addProblem(ctx, tx, job.companyID, channelID, reasonAside)
	})
}

// ruleSafely decides about a message in the middle of a claim. The decision
// depends on nothing but rows: over one that makes it panic it would panic
// again, and no message of any channel would be claimed. That one fails at once.
func (s *Service) ruleSafely(
	ctx context.Context,
	tx *sqldb.Tx,
	state companyState,
	candidate candidate,
) (decision sendDecision) {
	err := worker.Guard(ctx, func() error {
		decision = s.decideSending(state, candidate)
		return nil
	})
	if err == nil {
		return decision
	}
	tx.OnCommit(func() {
		s.metrics.aside.Inc()
		s.options.Env.Log.ErrorContext(
			ctx,
			"message set aside: deciding about it panics",
			"message",
			candidate.message.ID,
			"error",
			err,
		)
	})
	return sendDecision{status: Failed, reason: reasonAside}
}
