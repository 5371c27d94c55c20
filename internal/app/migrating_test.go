package app

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
)

func TestServerThatMigratesSaysSo(t *testing.T) {
	var lines bytes.Buffer
	log := slog.New(slog.NewTextHandler(&lines, nil))
	db, err := sqldb.Open(t.Context(), "sqlite:"+t.TempDir()+"/carteira.db", sqldb.Options{Log: log})
	housetest.Must(t, err)
	defer func() { _ = db.Close() }()
	housetest.Must(t, db.Write(t.Context(), func(tx *sqldb.Tx) error { // a database of which a migration is missing
		_, err := tx.Exec(t.Context(), `CREATE TABLE schema_migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL,
			applied_at BIGINT NOT NULL, hash TEXT NOT NULL DEFAULT '', probed_at BIGINT NOT NULL DEFAULT 0)`)
		return err
	}))
	var address string
	done := serveMigrating(t.Context(), log, db, func() (net.Listener, error) {
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		address = listener.Addr().String()
		return listener, err
	})
	want := func(path string, status int, text string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
		housetest.Must(t, err)
		response, err := http.DefaultClient.Do(request)
		housetest.Must(t, err)
		body, err := io.ReadAll(response.Body)
		housetest.Must(t, err)
		housetest.Must(t, response.Body.Close())
		if response.StatusCode != status || !strings.Contains(string(body), text) {
			t.Errorf("%s: %d %s", path, response.StatusCode, body)
		}
	}
	want("/healthz", http.StatusOK, "ok")
	want("/readyz", http.StatusServiceUnavailable, "migrating")
	want("/api/v1/customers", http.StatusServiceUnavailable, "migrated")
	housetest.Must(t, db.Migrate(t.Context()))
	done()
	pending, err := db.Pending(t.Context())
	if err != nil || pending != 0 {
		t.Errorf("%d migrations are left, %v", pending, err)
	}
	for _, said := range []string{"has to be migrated first", "the database is migrated"} {
		if !strings.Contains(lines.String(), said) {
			t.Errorf("the log does not say %q:\n%s", said, lines.String())
		}
	}
	serveMigrating(t.Context(), log, db, func() (net.Listener, error) {
		t.Error("a port was opened though there is nothing to migrate")
		return nil, net.ErrClosed
	})()
}
