package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"

	"carteira/internal/platform/config"
	"carteira/internal/platform/sqldb"
)

// serveMigrating answers while migrations run that may take long: /healthz says
// that the process lives, and /readyz what it does. Without it whoever watches the
// process would end it in the middle. done closes the address, which Serve opens
// again.
func serveMigrating(ctx context.Context, log *slog.Logger, db *sqldb.DB, listen func() (net.Listener, error)) (done func()) {
	done = func() {}
	pending, err := db.Pending(ctx)
	if err != nil || pending == 0 { // Migrate meets the error again; a new database has no table yet
		return done
	}
	log.InfoContext(ctx, "the database has to be migrated first", "migrations", pending)
	listener, err := listen()
	if err != nil {
		log.WarnContext(ctx, "nothing is answered while the database is migrated", "error", err)
		return done
	}
	server := &http.Server{Handler: migrating(), ReadHeaderTimeout: headerTimeout}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener) // until it is closed
	}()
	return func() {
		_ = server.Close()
		<-ended
		log.InfoContext(ctx, "the database is migrated")
	}
}

// listenPlainly opens the address of a server that needs no certificate: there is
// none yet.
func listenPlainly(ctx context.Context, cfg config.Config) (net.Listener, error) {
	if len(cfg.TLSDomains) > 0 || cfg.TLSCert != "" {
		return nil, errors.New("the certificates are not there yet")
	}
	return (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.Listen)
}

// migrating answers before there is anything else that could.
func migrating() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok\n") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		plain(w, http.StatusServiceUnavailable, "not ready: migrating\n")
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "10")
		plain(w, http.StatusServiceUnavailable, "the database is being migrated\n")
	})
	return mux
}
