//go:build linux

package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// cluster is the PostgreSQL server in which databases are made for the run.
type cluster struct {
	db  *sql.DB
	url *url.URL
}

func connectCluster(ctx context.Context, address string) (*cluster, error) {
	if address == "" {
		return nil, errors.New(postgresVariable + " is not set: run `make bench`, which starts a PostgreSQL, or leave it out with -db sqlite")
	}
	target, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", postgresVariable, err)
	}
	db, err := sql.Open("pgx", address)
	if err != nil {
		return nil, err
	}
	var fsync string
	if err := db.QueryRowContext(ctx, "SELECT current_setting('fsync')").Scan(&fsync); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", postgresVariable, err), db.Close())
	}
	if fsync != "on" {
		fmt.Println("PostgreSQL runs with fsync=off: creating is faster here than it is in earnest.")
	}
	return &cluster{db, target}, nil
}

// create makes an empty database and returns its address.
func (c *cluster) create(ctx context.Context, name string) (string, error) {
	name = fmt.Sprintf("bench_%s_%s", name, strings.ToLower(rand.Text()[:8]))
	_, err := c.db.ExecContext(ctx, "CREATE DATABASE "+name)
	return c.addressOf(name), err
}

func (c *cluster) addressOf(name string) string {
	address := *c.url
	address.Path = "/" + name
	return address.String()
}

func (c *cluster) drop(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	_, err := c.db.ExecContext(ctx, "DROP DATABASE "+nameOf(address)+" WITH (FORCE)")
	return err
}

func nameOf(address string) string {
	target, _ := url.Parse(address)
	return strings.TrimPrefix(target.Path, "/")
}

// backends are the server's processes for a database, with the processor time
// of each. One that has come since another look has used all of its time since.
func (c *cluster) backends(ctx context.Context, address string) (map[int]time.Duration, error) {
	rows, err := c.db.QueryContext(ctx, "SELECT pid FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client "+
		"backend'", nameOf(address))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	used := map[int]time.Duration{}
	for rows.Next() {
		var pid int
		if err := rows.Scan(&pid); err != nil {
			return nil, err
		}
		used[pid] = cpuOf(pid)
	}
	return used, rows.Err()
}

func (c *cluster) close() { _ = c.db.Close() }
