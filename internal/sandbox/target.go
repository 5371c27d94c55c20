package sandbox

import (
	"regexp"
	"strconv"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
)

// Target is the instant to move the clock to.
type Target struct {
	Zone   *time.Location // of the caller: days and months are counted in it
	Hours  int
	Period civil.Period
	On     civil.Date
	At     time.Time

	Problems input.Problems
}

const (
	advanceHelp = `must be a number with hours, days, weeks, months or years, such as "1 month"`
	toHelp      = "must be a date such as 2027-03-01, or a date and time with its zone such as 2027-03-01T09:00:00-03:00"
)

var hours = regexp.MustCompile(`^([0-9]{1,5}) ?(?:h|hour|hours|hora|horas)$`)

// ReadTarget reads the fields advance and to, of which one must be given.
func ReadTarget(in *input.Form, zone *time.Location) Target {
	target := Target{Zone: zone}
	advance, by := in.Line("advance", 40).Get()
	to, absolute := in.Line("to", 40).Get()
	switch {
	case by && absolute:
		in.Refuse("to", "must not be given together with advance")
	case by:
		target.readAdvance(in, advance)
	case absolute:
		target.readTo(in, to)
	default:
		in.Refuse("advance", "must be given, or to")
	}
	target.Problems = in.Problems()
	return target
}

func (t *Target) readAdvance(in *input.Form, value string) {
	if match := hours.FindStringSubmatch(value); match != nil {
		t.Hours, _ = strconv.Atoi(match[1])
		if t.Hours > 0 {
			return
		}
	}
	period, err := civil.ParsePeriod(value)
	if err != nil {
		in.Refuse("advance", advanceHelp)
		return
	}
	t.Period = period
}

func (t *Target) readTo(in *input.Form, value string) {
	if at, err := time.Parse(time.RFC3339, value); err == nil {
		t.At = at
		return
	}
	on, err := civil.Parse(value)
	if err != nil {
		in.Refuse("to", toHelp)
		return
	}
	t.On = on
}

// field is what the caller has named it by.
func (t Target) field() string {
	if t.On.IsZero() && t.At.IsZero() {
		return "advance"
	}
	return "to"
}

// After is the instant that is meant when the clock shows now.
func (t Target) After(now time.Time) (time.Time, error) {
	if err := t.Problems.Err(); err != nil {
		return time.Time{}, err
	}
	switch {
	case t.Hours > 0:
		return now.Add(time.Duration(t.Hours) * time.Hour), nil
	case !t.On.IsZero():
		return t.On.Start(t.Zone), nil
	case !t.At.IsZero():
		return t.At, nil
	}
	local := now.In(t.Zone)
	today := civil.Of(local)
	day, err := t.Period.After(today, today.Day())
	if err != nil {
		return time.Time{}, fault.Field("advance", err.Error())
	}
	year, month, date := day.Year(), day.Month(), day.Day()
	hour, minute, second := local.Clock()
	return time.Date(year, month, date, hour, minute, second, local.Nanosecond(), t.Zone), nil
}
