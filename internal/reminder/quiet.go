package reminder

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
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
	return SettingsDraft{QuietFrom: readClock(in, "quiet_from"), QuietTo: readClock(in, "quiet_to"), Problems: in.Problems()}
}

// SetSettings changes the company's settings; what is not given stays. What is
// scheduled is planned again.
func (s *Service) SetSettings(ctx context.Context, actor account.Actor, draft SettingsDraft) (Settings, error) {
	if err := draft.Problems.Err(); err != nil {
		return Settings{}, err
	}
	var after Quiet
	err := actor.Write(ctx, s.db, func(tx account.Tx) error {
		before, err := orDefault(sqldb.One(ctx, tx, scanQuiet, quietText+` {for update}`, tx.Company.ID))
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
	ctx context.Context, tx *sqldb.Tx, state companyState, candidate candidate,
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
		s.options.Env.Log.ErrorContext(ctx, "message set aside: deciding about it panics", "message",
			candidate.message.ID, "error", err)
	})
	return sendDecision{status: Failed, reason: reasonAside}
}

// optOutContext seals opt-out links and nothing else.
const optOutContext = "reminder-optout"

// OptOutURL is the address by which a customer stops messages, without signing in.
// It is sealed, so that it cannot be forged for another customer; it opens as long
// as the key that sealed it is configured.
func (s *Service) OptOutURL(companyID, customerID int64) string {
	if s.options.PublicURL == "" || s.options.Unreachable || customerID == 0 {
		return ""
	}
	token := s.box.Seal(fmt.Appendf(nil, "%d.%d", companyID, customerID), optOutContext)
	return s.options.PublicURL + "/unsubscribe/" + token
}

// OptOutLink is an opt-out link that was opened.
type OptOutLink struct {
	Company  account.Company
	OptedOut bool

	customerID int64
	name       string
}

// OpenOptOut reads an opt-out link. It changes nothing: programs that look
// through mails open every link.
func (s *Service) OpenOptOut(ctx context.Context, token string) (link OptOutLink, err error) {
	companyID, customerID, ok := s.readOptOut(token)
	if !ok {
		return link, fault.NotFound("page")
	}
	if link.Company, err = account.FindCompany(ctx, s.db, companyID); err != nil {
		return link, err
	}
	about, err := customerAbout(ctx, s.db, companyID, customerID)
	link.OptedOut, link.customerID, link.name = about.optedOut, customerID, about.customer.Name
	return link, err
}

func (s *Service) readOptOut(token string) (companyID, customerID int64, ok bool) {
	plain, err := s.box.Open(token, optOutContext)
	if err != nil {
		return 0, 0, false
	}
	first, second, _ := strings.Cut(string(plain), ".")
	companyID, firstErr := strconv.ParseInt(first, 10, 64)
	customerID, secondErr := strconv.ParseInt(second, 10, 64)
	return companyID, customerID, firstErr == nil && secondErr == nil
}

// OptOutByLink stops messages to the customer of a link; a second time changes
// nothing. The company can take it back. from is the caller's address, for the
// audit log.
func (s *Service) OptOutByLink(ctx context.Context, token, from string) (OptOutLink, error) {
	link, err := s.OpenOptOut(ctx, token)
	if err != nil {
		return link, err
	}
	customer := account.Actor{Company: link.Company, Name: link.name, From: from}
	err = s.SetOptOut(ctx, customer, link.customerID, true)
	link.OptedOut = err == nil
	return link, err
}

// A company sends nothing if its plan has no messages, or if its subscription
// has ended or is suspended: nothing is planned for it, and what had been is
// skipped when its hour comes. When the company is back, what still lies ahead
// is planned again; what it missed meanwhile stays missed.

// mutedReason returns why a company sends nothing at an instant; "" when it does.
// It is the one place that knows.
func mutedReason(company account.Company, now time.Time) string {
	if !company.Subscription.Functions.Has(account.FunctionReminders) {
		return "the company's subscription plan does not include messages"
	}
	switch company.Standing(now) {
	case account.StandingExpired:
		return "the company's subscription has ended"
	case account.StandingSuspended:
		return "the company is suspended"
	case account.StandingTrial, account.StandingActive:
	}
	if company.StoppedAbove(now) {
		return "a company above this one is expired or suspended"
	}
	return ""
}

// CompanyChanged watches companies. The end of a subscription is a matter of the
// calendar and changes no row: planning and sending look for themselves.
func (s *Service) CompanyChanged(ctx context.Context, tx *sqldb.Tx, changes account.Changes) error {
	for _, change := range changes.List {
		if change.Before.ID == 0 {
			continue // a new company has no messages
		}
		if err := s.companyChanged(ctx, tx, change.Before.Company, change.After.Company); err != nil {
			return err
		}
	}
	return nil
}

// companyChanged plans again for a company that may send again, and moves
// waiting messages after a change of its time zone.
func (s *Service) companyChanged(ctx context.Context, tx *sqldb.Tx, before, after account.Company) error {
	back := mutedReason(before, tx.Now()) != "" && mutedReason(after, tx.Now()) == ""
	if !back && before.Zone.String() == after.Zone.String() {
		return nil
	}
	program := account.System(after, "plan messages")
	quiet, err := quietOf(ctx, tx, after.ID)
	if err != nil {
		return err
	}
	if back {
		if err := s.restartAll(ctx, program.In(tx), quiet); err != nil {
			return err
		}
	}
	return s.replanAll(ctx, program.In(tx), quiet)
}

// skipAhead moves the rule of a silent company past the due dates without a
// reminder, so that they are not reported one by one later.
func (s *Service) skipAhead(ctx context.Context, tx account.Tx, rule Rule, quiet Quiet) error {
	rule.restart(tx.Actor, quiet, tx.Now())
	rule.planAt = tx.Today(tx.Now()).AddDays(1).Start(tx.Company.Zone)
	return saveCursor(ctx, tx, rule)
}
