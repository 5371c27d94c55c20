//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook"
)

const (
	healthyLanes   = 500
	hangingBacklog = 10_000
	healthyPace    = 100 // events per second
	soakSpan       = 8 * time.Second
	isolationGoal  = 1.5
)

// isolation measures how long the events of healthy webhooks take while one
// receiver hangs on a backlog, and while it does not: in turns, on one server.
func (b *bench) isolation(ctx context.Context, engine sqldb.Engine) (err error) {
	r, err := startReceivers(ctx, b.dir, healthyLanes+1)
	if err != nil {
		return err
	}
	defer r.close()
	var urls []string
	for _, host := range r.hosts {
		urls = append(urls, "https://"+host+"/hook")
	}
	urls[healthyLanes] = "https://" + r.hosts[healthyLanes] + hangPath
	f, err := b.newFarm(ctx, engine, urls)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.discard(context.WithoutCancel(ctx), []*dataset{f.dataset})) }()
	healthy, hanging := f.lanes[:healthyLanes], f.lanes[healthyLanes:]
	if err := f.queue(ctx, hanging, hangingBacklog); err != nil {
		return err
	}
	p, err := b.startSending(ctx, f, r)
	if err != nil {
		return err
	}
	defer p.stop()
	var took [2]arrivals // without and with
	bar := newProgress(fmt.Sprintf("a receiver hangs on %s", engine))
	on := true // as it was made
	for turn := range 2 * b.rounds {
		// Without, with, with, without: what changes slowly evens out.
		want := turn%4 == 1 || turn%4 == 2
		if want != on {
			if err := hanging[0].turn(ctx, p, want); err != nil {
				return err
			}
			on = want
		}
		a, err := happen(ctx, p.addr, healthy, r, healthyPace, soakSpan)
		if err != nil {
			return err
		}
		if want {
			took[1].add(a)
		} else {
			took[0].add(a)
		}
		bar.show(turn+1, 2*b.rounds)
	}
	printIsolation(engine, took[0], took[1])
	return nil
}

// turn switches the webhook, and waits until what it hangs in is so too.
func (l *lane) turn(ctx context.Context, p *process, on bool) error {
	c, err := dial(ctx, p.addr)
	if err != nil {
		return err
	}
	defer c.close()
	body := fmt.Sprintf(`{"active":%t}`, on)
	if _, err := c.do(fmt.Appendf(nil, "PUT /api/v1/webhooks/%d HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", l.webhookID, l.token, len(body), body)); err != nil {
		return err
	}
	settling := time.Second
	if !on {
		settling += webhook.Timeout
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(settling):
		return nil
	}
}

func printIsolation(engine sqldb.Engine, without, with arrivals) {
	var t table
	t.add(fmt.Sprintf("%s: ms until arrival at %d healthy webhooks, %d events/s", engineNames[engine], healthyLanes, healthyPace), "p50", "p99", "most")
	t.addTimes("  no receiver hangs, since the answer", without.fromAnswer)
	t.addTimes(fmt.Sprintf("  one hangs on %s, since the answer", grouped(hangingBacklog)), with.fromAnswer)
	t.addTimes("  no receiver hangs, since the request", without.fromRequest)
	t.addTimes(fmt.Sprintf("  one hangs on %s, since the request", grouped(hangingBacklog)), with.fromRequest)
	t.print()
	t = nil
	times := part(with.fromAnswer, 0.99).Seconds() / part(without.fromAnswer, 0.99).Seconds()
	t.add("Goals", "asked", "measured", "verdict")
	t.add("  "+engineNames[engine]+": p99 of healthy webhooks beside one that hangs", fmt.Sprintf("≤ %.1f ×", isolationGoal), ratio(times), met(times <= isolationGoal))
	t.print()
}
