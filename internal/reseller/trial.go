package reseller

import (
	"context"
	"fmt"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// What a company below the top may give away: a trial costs no credits, so that
// without a bound nobody would need any.
const (
	trialDaysBelow = 30
	liveTrials     = 5
)

// boundedTrial refuses a trial too many of a company below the top, and a second
// one of the same owner, and bounds its days by those of the company's own plan.
func (o order) boundedTrial(ctx context.Context, querier sqldb.Querier, actor account.Actor, now time.Time) (order, error) {
	live, err := account.CountTrials(ctx, querier, actor, actor.Today(now))
	if err != nil {
		return o, err
	}
	if live >= liveTrials {
		return o, fault.New(fault.KindConflict,
			fmt.Sprintf("the company has %d trials that have not ended, the most there can be; make it a subscriber", liveTrials))
	}
	had, err := account.ChildOf(ctx, querier, actor, o.child.Email)
	if err != nil {
		return o, err
	}
	if had {
		return o, fault.Field("email", "belongs to somebody who has a company here already; there is one trial for each")
	}
	o.trialDays = trialDaysBelow
	own, err := planByID(ctx, querier, actor.Company.ParentID, actor.Company.Subscription.PlanID)
	if fault.KindOf(err) == fault.KindNotFound {
		return o, nil
	}
	if own.TrialDays > 0 {
		o.trialDays = min(o.trialDays, own.TrialDays)
	}
	return o, err
}
