package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	clock "carteira/internal/sandbox"
	"carteira/test/kit/sqldbtest"
)

// drivenSandbox makes a sandbox of a fresh database, in which time brings
// nothing. It is driven until the test ends.
func drivenSandbox(t *testing.T, db *sqldb.DB) *clock.Service {
	t.Helper()
	moved, err := clock.Open(t.Context(), db, true)
	if err != nil { // a second process of one installation
		return nil
	}
	service := clock.New(moved, slog.New(slog.DiscardHandler), nil)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- service.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		must(t, <-done)
	})
	return service
}

type clockRecord struct {
	Now       time.Time
	Advancing bool
	From, To  *time.Time
	Happened  []struct{ Kind string }
}

func TestClockOfASandboxMovesForwardOnly(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		before := data[clockRecord](t, caller.call(t, http.MethodGet, "/sandbox/clock", ""))
		if !before.Now.Equal(noon) || before.Advancing || before.From != nil {
			t.Errorf("before: %+v", before)
		}
		for _, move := range []struct{ body, want string }{
			{`{"advance":"12 hours"}`, "2026-01-31T21:00:00-03:00"},
			{`{"advance":"1 day"}`, "2026-02-01T21:00:00-03:00"},
			{`{"advance":"1 month"}`, "2026-03-01T21:00:00-03:00"},
			{`{"to":"2026-04-05"}`, "2026-04-05T00:00:00-03:00"},
			{`{"to":"2026-04-05T09:30:00-03:00"}`, "2026-04-05T09:30:00-03:00"},
		} {
			moved := data[clockRecord](t, caller.call(t, http.MethodPost, "/sandbox/clock", move.body))
			if got := moved.Now.In(caller.actor.Company.Zone).Format(time.RFC3339); got != move.want || moved.Advancing || !moved.To.Equal(moved.Now) {
				t.Errorf("%s: %+v; want %s", move.body, moved, move.want)
			}
		}
		for body, field := range map[string]string{
			`{}`: "advance", `{"advance":"soon"}`: "advance", `{"advance":"0 hours"}`: "advance", `{"to":"2026-04-05"}`: "to",
			`{"to":"yesterday"}`: "to", `{"to":"2046-04-05"}`: "to", `{"advance":"1 day","to":"2026-05-05"}`: "to", `{"advance":"1 day","by":1}`: "by",
		} {
			answer := caller.call(t, http.MethodPost, "/sandbox/clock", body)
			if answer.status != http.StatusUnprocessableEntity || !strings.Contains(answer.body, `"`+field+`":[`) {
				t.Errorf("%s: %d %s", body, answer.status, answer.body)
			}
		}
	})
}

func TestSecondAdvanceIsRefusedWhileOneIsUnderWay(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		service := newService(t, engine)
		caller := service.newCaller(t)
		service.Sandbox = clock.New(service.Sandbox.Clock, slog.New(slog.DiscardHandler), nil)
		must(t, service.DB.MoveClock(t.Context(), func(tx *sqldb.Tx) error { // one that no process drives on
			_, err := tx.Exec(t.Context(), `UPDATE sandbox_clock SET stopped_at = ?, from_at = ?, to_at = ?, moves = moves + 1, driver = 'gone', driver_until = ?`,
				tx.Now().UnixMicro(), tx.Now().UnixMicro(), tx.Now().Add(time.Hour).UnixMicro(), int64(1)<<60)
			return err
		}))
		caller.call(t, http.MethodPost, "/sandbox/clock", `{"advance":"1 day"}`).want(t, 409, "the clock is being moved already; wait until that has ended")
		if got := data[clockRecord](t, caller.call(t, http.MethodGet, "/sandbox/clock", "")); !got.Advancing || !got.Now.Equal(noon) {
			t.Errorf("meanwhile: %+v", got)
		}
	})
}

func TestReadTokenSeesTheClockAndDoesNotMoveIt(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		reader := caller.with(t, "scope", "read")
		reader.call(t, http.MethodPost, "/sandbox/clock", `{"advance":"1 day"}`).want(t, 403, "scope: this token may only read; changes need one with the scope full")
		if seen := data[clockRecord](t, reader.call(t, http.MethodGet, "/sandbox/clock", "")); !seen.Now.Equal(noon) || seen.To != nil {
			t.Errorf("the clock: %+v", seen)
		}
	})
}

func TestMoveOfTheClockIsInTheAuditLog(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		service := newService(t, engine)
		caller, other := service.newCaller(t), service.newCaller(t)
		data[clockRecord](t, caller.call(t, http.MethodPost, "/sandbox/clock", `{"advance":"1 day"}`))
		caller.call(t, http.MethodPost, "/sandbox/clock", `{"to":"2020-01-01"}`) // refused
		for _, mover := range []account.Actor{account.Operator(account.Company{}), account.System(account.Company{}, "live")} {
			must(t, service.Sandbox.Begin(t.Context(), mover, clock.Target{Hours: 1, Zone: time.UTC}))
			must(t, service.Sandbox.Wait(t.Context(), time.Minute, nil))
		}
		operators := "command line: 2026-02-01T12:00:00Z to 2026-02-01T13:00:00Z"
		wantMoves(t, caller, operators, fmt.Sprintf("token %d: 2026-01-31T12:00:00Z to 2026-02-01T12:00:00Z", caller.actor.TokenID))
		wantMoves(t, other, operators)
	})
}

// wantMoves wants the audit log of a company to have these moves of the clock, the
// newest first.
func wantMoves(t *testing.T, caller *caller, want ...string) {
	t.Helper()
	lines, _, err := caller.Accounts.Audit(t.Context(), caller.actor, account.AuditFilter{Record: "sandbox"}, input.Page{Number: 1, Size: 10})
	must(t, err)
	var got []string
	for _, line := range lines {
		who := line.Address
		if line.TokenID != 0 {
			who = fmt.Sprintf("token %d", line.TokenID)
		}
		got = append(got, fmt.Sprintf("%s: %s to %s", who, line.Changes[0].Before, line.Changes[0].After))
	}
	if !slices.Equal(got, want) {
		t.Errorf("company %d: %q, want %q", caller.actor.Company.ID, got, want)
	}
}

func TestRealInstallationHasNoClockToMove(t *testing.T) {
	service := newService(t, sqldb.SQLite)
	caller := service.newCaller(t)
	service.Sandbox = nil
	caller.call(t, http.MethodGet, "/sandbox/clock", "").want(t, 404, "path not found")
	caller.call(t, http.MethodPost, "/sandbox/clock", `{"advance":"1 day"}`).want(t, 404, "path not found")
}
