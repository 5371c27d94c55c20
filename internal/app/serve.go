package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"carteira/internal/platform/config"
	"carteira/internal/platform/sqldb"
	"carteira/internal/sandbox"
)

// A caller that is slow to send or to read is cut off: these bound how long a
// connection may be held for nothing.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = 60 * time.Second
	idleTimeout   = 2 * time.Minute
	// stopTimeout is how long a stop waits for requests in flight.
	stopTimeout = 25 * time.Second
	// settleTime is how long a server waits to be asked whether it is ready before
	// it begins what it does by itself, for which it makes connections.
	settleTime = 50 * time.Millisecond
)

// Serve serves until ctx ends, then finishes what is in flight. The program was
// opened by OpenToServe. ready is called with the address once connections are accepted.
func (a *App) Serve(ctx context.Context, ready func(addr net.Addr)) error {
	a.fitMemory()
	for _, warning := range a.Config.Warnings() {
		a.Log.Warn(warning)
	}
	if a.Sandbox != nil && !a.Config.Sandbox {
		return sandbox.ErrSandbox
	}
	if err := a.inherit(ctx); err != nil {
		return err
	}
	listeners, err := a.listen(ctx)
	if err != nil {
		return err
	}
	background, stopTasks := context.WithCancel(context.WithoutCancel(ctx))
	defer a.Workers.Wait()
	defer stopTasks()

	failed := make(chan error, len(listeners))
	for _, listener := range listeners {
		go func() { failed <- listener.server.Serve(listener.Listener) }()
	}
	a.warnings()
	ready(listeners[0].Addr())
	a.health.awaitAsked(ctx, settleTime)
	a.Workers.Start(background, a.tasks()...)
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	a.leave(listeners)
	a.Log.Info("stopping: finishing requests in flight")
	a.Events.Stop()
	return shutdown(background, listeners)
}

// inherit ends what a process before this one left under way. Only with an
// embedded database is it certain that there is none any more.
func (a *App) inherit(ctx context.Context) error {
	if !a.Config.Embedded() {
		return nil
	}
	return errors.Join(a.Webhooks.Inherit(ctx), a.idempotency.Inherit(ctx), a.Payments.Inherit(ctx))
}

// leave turns /readyz red, and serves on for a while, so that balancers can
// send their requests elsewhere.
func (a *App) leave(listeners []listener) {
	a.health.stopping.Store(true)
	if a.Config.ShutdownDelay == 0 {
		return
	}
	a.Log.Info("stopping: not ready any more, and serving on", "for", a.Config.ShutdownDelay.String())
	for _, listener := range listeners {
		listener.server.SetKeepAlivesEnabled(false)
	}
	time.Sleep(a.Config.ShutdownDelay)
}

func shutdown(ctx context.Context, listeners []listener) error {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	var failures []error
	for _, listener := range listeners {
		failures = append(failures, listener.server.Shutdown(ctx))
	}
	return errors.Join(failures...)
}

// warnings says aloud what is allowed and should not be in earnest.
func (a *App) warnings() {
	if nets := a.Config.WebhookAllowNetworks; len(nets) > 0 {
		a.Log.Warn("webhooks may reach internal networks; use this for trials only", "networks", nets)
	}
	if nets := a.Config.MessageAllowNetworks; len(nets) > 0 {
		a.Log.Warn(
			"message channels may reach internal networks: every company can name a mail server or a bridge there",
			"networks",
			nets,
		)
	}
	if a.Config.RateLimit == 0 {
		a.Log.Warn("the rate limit is switched off")
	}
}

// loopback reports whether the server can be reached from this machine only.
func loopback(cfg config.Config) bool {
	host, _, err := net.SplitHostPort(cfg.Listen)
	if err != nil || len(cfg.TLSDomains) > 0 {
		return false
	}
	return isLoopback(host)
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// hostOf is the name that a request was sent to, without its port.
func hostOf(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.Host); err == nil {
		return host
	}
	return strings.Trim(r.Host, "[]")
}

// serveMigrating answers while migrations run that may take long: /healthz says
// that the process lives, and /readyz what it does. Without it a supervisor would
// kill the process in the middle of a migration. done closes the address, which
// Serve opens again.
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
