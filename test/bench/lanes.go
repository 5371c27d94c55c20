//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"strconv"
	"strings"
	"sync"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/input"
	"carteira/internal/platform/outbound"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook"
)

// lane is a company with one webhook.
type lane struct {
	tenant

	webhookID int64
	url       string
}

// farm is a database of lanes.
type farm struct {
	*dataset

	lanes []lane
}

// secretKey is that of all servers here.
var secretKey = strings.Repeat("00", 32)

const loopback = "127.0.0.0/8"

// newFarm makes a database with a company and a webhook for each address.
func (b *bench) newFarm(ctx context.Context, engine sqldb.Engine, urls []string) (f *farm, err error) {
	f = &farm{dataset: &dataset{engine: engine}, lanes: make([]lane, len(urls))}
	if f.url, err = b.address(ctx, engine, "lanes"); err != nil {
		return nil, err
	}
	err = f.open(ctx, func(db *sqldb.DB, hooks *webhook.Service, _ *event.Log) error {
		if err := db.Migrate(ctx); err != nil {
			return err
		}
		accounts := account.New(db, account.Config{})
		failures := make([]error, len(urls))
		var making sync.WaitGroup
		free := make(chan struct{}, 16)
		for i, url := range urls {
			making.Go(func() {
				free <- struct{}{}
				defer func() { <-free }()
				f.lanes[i], failures[i] = newLane(ctx, accounts, hooks, i, url)
			})
		}
		making.Wait()
		return errors.Join(failures...)
	})
	return f, err
}

func newLane(ctx context.Context, accounts *account.Service, hooks *webhook.Service, number int, url string) (lane lane, err error) {
	name := "lane" + strconv.Itoa(number)
	lane.url = url
	company := account.NewCompany{Name: name, Email: name + "@example.com"}
	if lane.Company, _, err = accounts.CreateCompany(ctx, company); err != nil {
		return lane, err
	}
	lane.Actor = account.Operator(lane.Company)
	if _, lane.token, err = accounts.CreateToken(ctx, lane.Actor, account.NewToken{Name: "bench"}); err != nil {
		return lane, err
	}
	form, err := input.FromJSON(fmt.Appendf(nil, `{"url":%q,"events":[%q]}`, url, event.CustomerCreated))
	if err != nil {
		return lane, err
	}
	made, _, err := hooks.Create(ctx, lane.Actor, webhook.ReadNew(form))
	lane.webhookID = made.ID
	return lane, err
}

// open works on the database while no server does.
func (f *farm) open(ctx context.Context, do func(*sqldb.DB, *webhook.Service, *event.Log) error) (err error) {
	key, err := secret.ParseKey(secretKey)
	if err != nil {
		return err
	}
	db, err := sqldb.Open(ctx, f.url, sqldb.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	events := &event.Log{}
	gate := outbound.NewGate([]netip.Prefix{netip.MustParsePrefix(loopback)}, nil)
	hooks := webhook.New(db, events, secret.NewBox(key), gate, outbound.NewClient(gate, outbound.Options{}), webhook.Options{PerCompany: 2})
	return do(db, hooks, events)
}

// queue writes n events of each lane, and so their deliveries.
func (f *farm) queue(ctx context.Context, lanes []lane, n int) error {
	err := f.open(ctx, func(db *sqldb.DB, _ *webhook.Service, events *event.Log) error {
		for _, lane := range lanes {
			err := db.Write(ctx, func(tx *sqldb.Tx) error {
				for range n {
					if err := events.Record(ctx, tx, lane.Source(), event.CustomerCreated, sampleData()); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, f.settle(ctx))
}

// startSending serves the lanes with the real program.
func (b *bench) startSending(ctx context.Context, farm *farm, receivers *receivers) (*process, error) {
	return b.start(ctx, exec.Command(b.product, "serve"), func(addr string) []string {
		return []string{
			"CARTEIRA_LISTEN=" + addr, "CARTEIRA_DATABASE_URL=" + farm.url, "CARTEIRA_DATA_DIR=" + b.dir,
			"CARTEIRA_SECRET_KEY=" + secretKey, "CARTEIRA_RATE_LIMIT=0",
			"CARTEIRA_WEBHOOK_ALLOW_NETWORKS=" + loopback, "SSL_CERT_FILE=" + receivers.roots,
		}
	})
}
