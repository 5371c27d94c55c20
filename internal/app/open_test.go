package app

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carteira/internal/platform/config"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// Work started during the opening is available to the first request.
func TestServerThatWasOpenedToServeIsReady(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		program, err := OpenToServe(t.Context(), config.Config{
			Listen: "127.0.0.1:0", PublicURL: "http://127.0.0.1", DataDir: t.TempDir(), DatabaseURL: sqldbtest.URL(t, engine),
			SecretKeys: []secret.Key{secret.NewKey()}, WebhooksPerCompany: 2, WebhookHistoryDays: 30, MessageHistoryDays: 30, AuditDays: 30,
		}, slog.New(slog.DiscardHandler))
		housetest.Must(t, err)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		status := 0
		housetest.Must(t, program.Serve(ctx, func(addr net.Addr) {
			defer stop()
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr.String()+"/readyz", nil)
			housetest.Must(t, err)
			response, err := http.DefaultClient.Do(request)
			housetest.Must(t, err)
			status = response.StatusCode
			housetest.Must(t, response.Body.Close())
		}))
		if status != http.StatusOK {
			t.Errorf("/readyz answered %d", status)
		}
		housetest.Must(t, program.Close(t.Context()))
	})
}

// A program that is closed at once has begun nothing that outlives its database.
func TestServerThatDoesNotServeCloses(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		program, err := OpenToServe(t.Context(), config.Config{
			Listen: "127.0.0.1:0", PublicURL: "http://127.0.0.1", DataDir: t.TempDir(), DatabaseURL: sqldbtest.URL(t, engine),
			SecretKeys: []secret.Key{secret.NewKey()},
		}, slog.New(slog.DiscardHandler))
		housetest.Must(t, err)
		housetest.Must(t, program.Close(t.Context()))
	})
}

// What a crash of a file system leaves is not a new installation.
func TestEmptyDatabaseWithItsKeyIsRefused(t *testing.T) {
	dir := t.TempDir()
	cfg := config.Config{DataDir: dir, DatabaseURL: "sqlite:" + filepath.Join(dir, "carteira.db"), PublicURL: "http://127.0.0.1"}
	program, err := Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
	housetest.Must(t, err)
	housetest.Must(t, program.Close(t.Context()))
	housetest.Must(t, os.Truncate(filepath.Join(dir, "carteira.db"), 0))
	if _, err := Open(t.Context(), cfg, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "is empty") {
		t.Errorf("opened: %v, want it refused", err)
	}
	finding := missingDatabase(cfg)
	if finding == nil || !strings.Contains(finding.Advice, "restore FILE") {
		t.Errorf("doctor says %+v", finding)
	}
}

// A newer version that is refused would else leave the one that serves without the
// schema that it knows, and so without a write.
func TestServerThatIsRefusedHasNotMigrated(t *testing.T) {
	dir := t.TempDir()
	cfg := config.Config{DataDir: dir, DatabaseURL: "sqlite:" + filepath.Join(dir, "carteira.db"), PublicURL: "http://127.0.0.1"}
	first, err := lockServe(cfg)
	housetest.Must(t, err)
	defer first.release()
	if _, err := OpenToServe(t.Context(), cfg, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "another carteira") {
		t.Errorf("opened: %v, want it refused", err)
	}
	db, err := sqldb.Open(t.Context(), cfg.DatabaseURL, sqldb.Options{})
	housetest.Must(t, err)
	defer func() { _ = db.Close() }()
	if tables, err := sqldb.Value[int](t.Context(), db, "SELECT count(*) FROM sqlite_schema"); err != nil || tables != 0 {
		t.Errorf("%d tables were made, %v", tables, err)
	}
}
