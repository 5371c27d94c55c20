package app

import (
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/text"
	"carteira/internal/web"
	"carteira/internal/web/agent"
	"carteira/internal/web/api"
	"carteira/internal/web/callback"
	"carteira/internal/web/checkout"
	"carteira/internal/web/docs"
	"carteira/internal/web/page"
	"carteira/internal/web/panel"
)

// Handler answers everything the program serves.
func (a *App) Handler() http.Handler {
	reg := a.registry()
	mux := http.NewServeMux()
	docs.Register(mux, a.Config.PublicURL)
	page.Register(mux)
	mux.Handle("POST /preferences", http.NewCrossOriginProtection().Handler(http.HandlerFunc(page.Prefer)))
	callback.Register(mux, a.Payments)
	callback.RegisterChannels(mux, a.Reminders)
	checkout.Register(mux, a.Payments, a.DB.Now)
	checkout.RegisterOwn(mux, a.Payments, a.Reminders, a.DB.Now)
	checkout.RegisterOptOut(mux, a.Reminders)
	checkout.RegisterBrand(mux, a.Accounts)
	checkout.RegisterSignup(mux, a.Resellers)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		plain(w, http.StatusOK, "ok\n")
	})
	mux.Handle("GET /readyz", a.health)
	mux.Handle("GET /metrics", a.guardMetrics(promhttp.HandlerFor(reg, promhttp.HandlerOpts{})))
	apiServer := api.New(api.Deps{
		DB:          a.DB,
		Accounts:    a.Accounts,
		Catalog:     a.Catalog,
		Customers:   a.Customers,
		Billing:     a.Billing,
		Resellers:   a.Resellers,
		Dashboard:   a.Dashboard,
		Webhooks:    a.Webhooks,
		Events:      a.Events,
		Payments:    a.Payments,
		Idempotency: a.idempotency,
		PublicURL:   a.Config.PublicURL,
		Sandbox:     a.Sandbox,
	})
	mux.Handle("/mcp", agent.Handler(apiServer, a.Accounts.MayWrite))
	mux.Handle("/", a.panel())
	rest := named(mux)
	root := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.isPublicHTTPS() && r.URL.Scheme == "" { // no proxy that we trust says otherwise
			r.URL.Scheme = "https"
		}
		a.securityHeaders(w.Header())
		a.sandboxed(w, r)
		if r.URL.Path == api.Prefix || strings.HasPrefix(r.URL.Path, api.Prefix+"/") {
			apiServer.ServeHTTP(w, r)
			return
		}
		if !text.IsStorable(r.URL.Path) { // no page has such a name, and no database could look for it
			web.WriteFault(w, fault.NotFound("page"))
			return
		}
		rest.ServeHTTP(w, r)
	})
	return web.Observe(web.Forwarded(root, a.Config.TrustedProxies), a.Log, web.NewMetrics(reg))
}

// panel answers the web panel.
func (a *App) panel() http.Handler {
	return panel.New(panel.Deps{
		DB:        a.DB,
		Accounts:  a.Accounts,
		Catalog:   a.Catalog,
		Customers: a.Customers,
		Intake:    a.Intake,
		Billing:   a.Billing,
		Dashboard: a.Dashboard,
		Webhooks:  a.Webhooks,
		Payments:  a.Payments,
		Resellers: a.Resellers,
		Reminders: a.Reminders,
		Privacy:   a.Privacy,
		PublicURL: a.Config.PublicURL,
		Reach:     a.Config.Reach(),
		Sandbox:   a.Sandbox,
	})
}

// registry has the metrics of the program and of all its rooms.
func (a *App) registry() *prometheus.Registry {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		poolCollector{a.DB})
	reg.MustRegister(a.Webhooks.Metrics()...)
	reg.MustRegister(a.Payments.Metrics()...)
	reg.MustRegister(a.Reminders.Metrics()...)
	reg.MustRegister(a.sockets.refused, a.sockets.uncertified, a.sockets.expires)
	reg.MustRegister(a.Workers.Metrics()...)
	reg.MustRegister(a.backups.made, a.backups.size)
	reg.MustRegister(a.nightly.wrong, a.nightly.at)
	return reg
}

// named records which pattern matched for the access log and the metrics.
func named(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "/" {
			web.ExchangeOf(r.Context()).Route = pattern
		}
		mux.ServeHTTP(w, r)
	})
}

// securityHeaders are for every answer; a page that needs to load something
// sets a Content-Security-Policy of its own.
func (a *App) securityHeaders(header http.Header) {
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	if a.Config.HTTPS() || a.isPublicHTTPS() {
		header.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// isPublicHTTPS reports whether people reach the program by https, even if a proxy
// terminates it.
func (a *App) isPublicHTTPS() bool { return strings.HasPrefix(a.Config.PublicURL, "https://") }

// guardMetrics hides /metrics from unauthorised callers: without its own token it
// answers on a loopback address only, under a loopback name (a page of another
// site may have its own name lead here), and never to a request that a proxy
// passed on from elsewhere.
func (a *App) guardMetrics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := a.Config.MetricsToken
		given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		allowed := token != "" && subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1 ||
			token == "" && loopback(a.Config) && isLoopback(hostOf(r)) && !web.IsForwarded(r)
		if !allowed {
			web.WriteFault(w, fault.NotFound("page"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}
