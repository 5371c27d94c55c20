package app

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"testing"

	"carteira/internal/platform/config"
	"carteira/internal/platform/housetest"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

// What is begun beside the opening is there for whoever asks first.
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
