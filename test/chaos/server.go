//go:build linux

package main

import (
	"context"

	"carteira/test/kit/pgserver"
)

// server is a database server that a trial hurts.
type server interface {
	URL() string
	URLAt(addresses ...string) string
	Address() string
	Crash()
	Restart(ctx context.Context) error
	Standby(ctx context.Context) (server, error)
	Synchronous(ctx context.Context) error
	Promote(ctx context.Context) error
	Stop()
}

// proxy lies between processes and a server.
type proxy interface {
	Address() string
	Silence()
	Speak(to ...string)
	Close()
}

// postgresServer is a real one.
type postgresServer struct{ *pgserver.Server }

// Standby starts a standby of the server.
func (s postgresServer) Standby(ctx context.Context) (server, error) {
	standby, err := s.Server.Standby(ctx)
	return postgresServer{standby}, err
}

func startServer(ctx context.Context) (server, error) {
	started, err := pgserver.Start(ctx, pgserver.Options{Durable: true})
	return postgresServer{started}, err
}

func startProxy(to string) (proxy, error) { return pgserver.NewProxy(to) }
