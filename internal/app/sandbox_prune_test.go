package app

import (
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// kept counts the rows of a table.
func (x *trial) kept(table string) int64 {
	x.t.Helper()
	count, err := sqldb.Value[int64](x.t.Context(), x.program.DB, `SELECT count(*) FROM `+table)
	housetest.Must(x.t, err)
	return count
}

// Whatever an advance has removed is among what it says has happened.
func TestAdvanceCountsWhatItPrunes(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		x := newTrial(t, engine, 6)
		x.webhook()
		x.program.Config.AuditDays = 20
		person := x.actor
		person.Program, person.From = "", account.CommandLine
		_, err := x.program.Accounts.SetCompany(t.Context(), person, account.CompanyDraft{Name: input.Some("Rede Nova")})
		housetest.Must(t, err)
		before := map[string]int64{"events": x.kept("events"), "deliveries": x.kept("deliveries"), "audit_log": x.kept("audit_log")}
		housetest.Must(t, errOf(x.exec(`DELETE FROM sandbox_happened`))) // the clock stood while it was set up
		x.advance(trialBegin.AddDate(0, 0, 100))

		state, err := x.program.Sandbox.State(t.Context(), x.actor.Company.ID)
		housetest.Must(t, err)
		counted := map[string]int64{}
		var made int64 // events
		for _, kind := range state.Happened {
			counted[kind.Name] = kind.Amount
			if len(kind.First) == 0 || len(kind.First) > 5 || kind.First[0].ID == "" || kind.First[0].At.Before(trialBegin) {
				t.Errorf("the first of %s: %+v", kind.Name, kind.First)
			}
			switch kind.Name {
			case "invoice.created", "customer.expired", "customer.renewed", "invoice.paid":
				made += kind.Amount
			}
		}
		if got, want := x.kept("events"), before["events"]+made; got != want || counted["event.pruned"] != 0 { // they go by their number
			t.Errorf("%d events are kept of %d, %d were pruned", got, want, counted["event.pruned"])
		}
		if got, want := counted["delivery.pruned"], before["deliveries"]+made-x.kept("deliveries"); got != want || got == 0 {
			t.Errorf("%d deliveries were pruned, %d are gone", got, want)
		}
		if got, want := counted["audit.pruned"], before["audit_log"]-x.kept("audit_log"); got != want || got == 0 {
			t.Errorf("%d lines were pruned, %d are gone", got, want)
		}
		if other, err := x.program.Sandbox.State(t.Context(), x.actor.Company.ID+1); err != nil || len(other.Happened) > 0 {
			t.Errorf("another company: %v, %v", other.Happened, err)
		}
		if late := x.program.DB.Now().Sub(trialBegin); late < 100*24*time.Hour {
			t.Errorf("only %s have passed", late)
		}
	})
}
