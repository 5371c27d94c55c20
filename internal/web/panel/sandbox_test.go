package panel

import (
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/internal/sandbox"
	"carteira/test/kit/sqldbtest"
)

// sandboxOf makes a sandbox of a fresh database, which no process drives.
func sandboxOf(t *testing.T, db *sqldb.DB) *sandbox.Service {
	t.Helper()
	clock, err := sandbox.Open(t.Context(), db, true)
	if err != nil {
		t.Fatal(err)
	}
	return sandbox.New(clock, slog.New(slog.DiscardHandler), nil)
}

// drive has the sandbox of an office driven until the test ends.
func (o *office) drive(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- o.Sandbox.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestButtonsMoveTheClockOfASandbox(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		office := newOffice(t, engine)
		office.drive(t)
		owner := office.owner(t, "ana@example.com")
		owner.get("/sandbox").want(t, http.StatusOK, "31/01/2026 09:00", "1 dia", "1 mês", "Até uma data").lacks(t, "até o próximo vencimento")
		owner.post("/customers/new", "name", "Ana", "data_de_vencimento", "2026-02-20").want(t, http.StatusSeeOther)
		owner.get("/sandbox").want(t, http.StatusOK, "até o próximo vencimento", `value="2026-02-20"`)
		for _, move := range []struct{ field, value, want string }{
			{"advance", "1 day", "01/02/2026 09:00"},
			{"to", "2026-02-20", "20/02/2026 00:00"},
			{"advance", "1 month", "20/03/2026 00:00"},
		} {
			owner.post("/sandbox", move.field, move.value).want(t, http.StatusSeeOther)
			owner.get("/sandbox").want(t, http.StatusOK, move.want, "O que aconteceu", "Nada vencia.")
		}
		owner.post("/sandbox", "to", "2026-01-01").want(t, http.StatusUnprocessableEntity, "o relógio nunca volta")
	})
}

func TestClockOnItsWayShowsHowFarItIs(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	owner := office.owner(t, "ana@example.com")
	err := office.DB.MoveClock(t.Context(), func(tx *sqldb.Tx) error { // one quarter of the way, and no process drives it on
		_, err := tx.Exec(t.Context(), `UPDATE sandbox_clock SET stopped_at = ?, from_at = ?, to_at = ?, moves = moves + 1`,
			tx.Now().UnixMicro(), tx.Now().Add(-time.Hour).UnixMicro(), tx.Now().Add(3*time.Hour).UnixMicro())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	owner.get("/sandbox").want(t, http.StatusOK, `value="25"`, "A caminho de 31/01/2026 12:00").lacks(t, "1 dia")
	owner.post("/sandbox", "advance", "1 day").want(t, http.StatusConflict, "o relógio já está avançando")
}

func TestRealInstallationHasNoPageOfTheClock(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	office.Sandbox = nil
	owner := office.owner(t, "ana@example.com")
	owner.get("/sandbox").want(t, http.StatusNotFound)
	owner.post("/sandbox", "advance", "1 day").want(t, http.StatusNotFound)
}
