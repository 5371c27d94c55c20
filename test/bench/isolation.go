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
	isolationGoal  = 1.5
)

// isolation measures how long the events of healthy webhooks take beside as many
// hostile ones with a backlog, and without them: in turns, on one server.
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
	b.printIsolation(engine, without, with)
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
	bar := newProgress(fmt.Sprintf("%d hostile receivers on %s", b.lanes, farm.engine))
	on := false
	for turn := range 2 * b.rounds {
		want := turn%4 == 1 || turn%4 == 2
		if want != on {
			if err := turnAll(ctx, process, hostile, want); err != nil {
				return without, with, err
			}
			on = want
		}
		began := cpuOf(process.pid())
		arrivals, err := happen(ctx, process.addr, healthy, receivers, healthyPace, soakSpan)
		if err != nil {
			return without, with, err
		}
		arrivals.cpu = cpuOf(process.pid()) - began
		if want {
			with.add(arrivals)
		} else {
			without.add(arrivals)
		}
		bar.show(turn+1, 2*b.rounds)
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

func (b *bench) printIsolation(engine sqldb.Engine, without, with arrivals) {
	var t table
	title := fmt.Sprintf("%s: ms until arrival at %d healthy webhooks, %d events/s", engineNames[engine], b.lanes, healthyPace)
	t.add(title, "p50", "p99", "most")
	hostile := fmt.Sprintf("beside %d hostile ones", b.lanes)
	t.addTimes("  alone, since the answer", without.fromAnswer)
	t.addTimes("  "+hostile+", since the answer", with.fromAnswer)
	t.addTimes("  alone, since the request", without.fromRequest)
	t.addTimes("  "+hostile+", since the request", with.fromRequest)
	t.print()
	t = nil
	share := func(arrivals arrivals) string {
		return fmt.Sprintf("%.0f %%", 100*arrivals.cpu.Seconds()/(float64(b.rounds)*soakSpan.Seconds()))
	}
	fmt.Printf("Processor time of the server, of one core: %s alone, %s %s\n\n", share(without), share(with), hostile)
	times := part(with.fromAnswer, 0.99).Seconds() / part(without.fromAnswer, 0.99).Seconds()
	t.add("Goals", "asked", "measured", "verdict")
	goal := fmt.Sprintf("≤ %.1f ×", isolationGoal)
	t.add("  "+engineNames[engine]+": p99 of healthy webhooks "+hostile, goal, ratio(times), met(times <= isolationGoal))
	t.print()
}
