package account

import (
	"fmt"
	"strings"

	"carteira/internal/tally"
)

// counter counts the children of a company by last day, plan, level, kind and
// time zone, which are what lists of resellers are filtered by.
const counter = tally.Resellers

// counted is a company as the counter of its parent sees it.
func counted(company Company, n int64) tally.Change {
	return tally.Change{N: n, Key: tally.Key{
		Bucket: tally.BucketOf(company.ID),
		Day:    company.Subscription.ExpiresOn.String(),
		PlanID: company.Subscription.PlanID,
		State: CountedState{
			company.Level, company.Subscription.Kind, !company.Subscription.SuspendedAt.IsZero(),
			company.Zone.String(),
		}.String(),
	}}
}

// CountedState is by what the counter distinguishes resellers besides plan and
// last day. The zone is part of it because it decides which day it is.
type CountedState struct {
	Level     Level
	Kind      SubscriptionKind
	Suspended bool
	Zone      string
}

// The words of CountedState.Suspended.
const (
	countedSuspended = "suspended"
	countedRunning   = ""
)

// String is the state as the counter has it, such as user/trial//America/Manaus.
// The zone comes last, since its name has slashes too.
func (s CountedState) String() string {
	suspended := countedRunning
	if s.Suspended {
		suspended = countedSuspended
	}
	return strings.Join([]string{string(s.Level), string(s.Kind), suspended, s.Zone}, "/")
}

// ParseCountedState reads what String wrote, and nothing else.
func ParseCountedState(stored string) (CountedState, error) {
	parts := strings.SplitN(stored, "/", 4)
	if len(parts) != 4 {
		return CountedState{}, fmt.Errorf("counted state %q has no four parts", stored)
	}
	state := CountedState{
		Level(parts[0]), SubscriptionKind(parts[1]), parts[2] == countedSuspended, parts[3],
	}
	if state.String() != stored {
		return CountedState{}, fmt.Errorf("counted state %q is neither suspended nor running", stored)
	}
	return state, nil
}
