package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
)

// listener is an address and the server behind it.
type listener struct {
	net.Listener
	server *http.Server
}

// listen opens the addresses: one, or with ACME the two that it needs.
func (a *App) listen(ctx context.Context) ([]listener, error) {
	if len(a.Config.TLSDomains) > 0 {
		return a.listenACME(ctx)
	}
	l, err := a.listenOn(ctx, a.Config.Listen, a.handler())
	if err != nil {
		return nil, err
	}
	if a.Config.TLSCert != "" {
		files, err := newCertFiles(a.Config.TLSCert, a.Config.TLSKey, a.Log)
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		l.Listener = tls.NewListener(l.Listener, &tls.Config{
			MinVersion:     tls.VersionTLS12,
			NextProtos:     []string{"h2", "http/1.1"},
			GetCertificate: a.sockets.watch(nil, files.get),
		})
	}
	return []listener{l}, nil
}

func (a *App) listenOn(ctx context.Context, addr string, handler http.Handler) (listener, error) {
	l, err := a.open(ctx, addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return listener{}, fmt.Errorf(
			"%s is in use, perhaps by another carteira; choose another address with --listen",
			addr,
		)
	}
	if err != nil {
		return listener{}, fmt.Errorf("cannot serve on %s: %w", addr, err)
	}
	return listener{a.sockets.count(l), &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(a.Log.Handler(), slog.LevelDebug),
	}}, nil
}

func (a *App) open(ctx context.Context, addr string) (net.Listener, error) {
	if a.Listener != nil && addr == a.Config.Listen {
		return a.Listener, nil
	}
	return (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
}
