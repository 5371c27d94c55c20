//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook"
)

const (
	hostileBacklog = 60  // deliveries of each hostile webhook
	healthyPace    = 100 // events per second
	soakSpan       = 8 * time.Second
	isolationFloor = 2.0
)

// isolation measures how long the events of healthy webhooks take together with
// as many hostile ones with a backlog, and without them: in turns, on one
// server.
func (b *bench) isolation(ctx context.Context, engine sqldb.Engine) (err error) {
	receivers, err := startReceivers(ctx, filepath.Join(b.dir, "roots.pem"), b.lanes, false)
	if err != nil {
		return err
	}
	defer receivers.close()
	hostile, err := b.startHostile(ctx, receivers.roots)
	if err != nil {
		return err
	}
	defer hostile.stop()
	var urls []string
	for _, host := range receivers.hosts {
		urls = append(urls, "https://"+host+"/hook")
	}
	for i, host := range hostile.hosts {
		urls = append(urls, "https://"+host+hostilePath(i))
	}
	farm, err := b.newFarm(ctx, engine, urls)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.discard(context.WithoutCancel(ctx), []*dataset{farm.dataset})) }()
	if err := farm.queue(ctx, farm.lanes[b.lanes:], hostileBacklog); err != nil {
		return err
	}
	process, err := b.startSending(ctx, farm, receivers)
	if err != nil {
		return err
	}
	defer process.stop()
	without, with, err := b.soakInTurns(ctx, process, farm, receivers)
	if err != nil {
		return err
	}
	b.reportIsolation(engine, without, with)
	return nil
}

// soakInTurns measures without, with, with, without the hostile webhooks and so
// on: what changes slowly evens out.
func (b *bench) soakInTurns(ctx context.Context, process *process, farm *farm, receivers *receivers) (without, with arrivals, err error) {
	healthy, hostile := farm.lanes[:b.lanes], farm.lanes[b.lanes:]
	if err := turnAll(ctx, process, hostile, false); err != nil {
		return without, with, err
	}
	// Both begin with connections and with what is known of the receivers.
	if _, err := happen(ctx, process.addr, healthy, receivers, healthyPace, time.Duration(2*b.lanes)*time.Second/healthyPace); err != nil {
		return without, with, err
	}
	on := false
	for turn := range 2 * b.rounds {
		want := turn%4 == 1 || turn%4 == 2
		if want != on {
			if err := turnAll(ctx, process, hostile, want); err != nil {
				return without, with, err
			}
			on = want
		}
		arrivals, err := happen(ctx, process.addr, healthy, receivers, healthyPace, soakSpan)
		if err != nil {
			return without, with, err
		}
		if want {
			with = append(with, arrivals...)
		} else {
			without = append(without, arrivals...)
		}
	}
	return without, with, nil
}

// turnAll switches webhooks, and waits until what was in flight has ended: after
// both kinds of switching for as long.
func turnAll(ctx context.Context, process *process, lanes []lane, on bool) error {
	failures := make([]error, len(lanes))
	var turning sync.WaitGroup
	free := make(chan struct{}, 16)
	for i := range lanes {
		turning.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			failures[i] = lanes[i].turn(ctx, process, on)
		})
	}
	turning.Wait()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(webhook.Timeout + time.Second):
		return errors.Join(failures...)
	}
}

func (l *lane) turn(ctx context.Context, process *process, on bool) error {
	client, err := dial(ctx, process.addr)
	if err != nil {
		return err
	}
	defer client.close()
	body := fmt.Sprintf(`{"active":%t}`, on)
	_, err = client.do(fmt.Appendf(nil, "PUT /api/v1/webhooks/%d HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", l.webhookID, l.token, len(body), body))
	return err
}

func (b *bench) reportIsolation(engine sqldb.Engine, without, with arrivals) {
	alone, beside := part(without, 0.99), part(with, 0.99)
	times := beside.Seconds() / alone.Seconds()
	b.report.add(engine, fmt.Sprintf("p99 of %d healthy webhooks next to %d hostile ones", b.lanes, b.lanes),
		fmt.Sprintf("%s alone, %s with them: %.2f ×", millis(alone), millis(beside), times),
		fmt.Sprintf("≤ %g ×", isolationFloor), times <= isolationFloor)
}
