//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"carteira/internal/event"
	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook"
)

const (
	laneCount = 32
	laneConns = 4   // what the engine sends to one webhook at once
	laneWarm  = 100 // deliveries of each before the count begins, so that connections are there
	pace      = 50  // events per second, for the latency

	drainTimeout  = 2 * time.Minute
	arriveTimeout = 30 * time.Second

	bareLoopShare = 0.35
	tailFloor     = 10 * time.Millisecond
)

// sampleData is the data of an event as the catalog of events shows it.
var sampleData = sync.OnceValue(func() json.RawMessage {
	var envelope struct{ Data json.RawMessage }
	if err := json.Unmarshal(webhook.Sample(event.CustomerCreated), &envelope); err != nil {
		panic(err) // a test of the product reads them all
	}
	return envelope.Data
})

// deliveries measures the engine against the bare loop, in turns, and then how
// long an event takes at a steady pace.
func (b *bench) deliveries(ctx context.Context, engine sqldb.Engine) (err error) {
	receivers, err := startReceivers(ctx, filepath.Join(b.dir, "roots.pem"), laneCount, false)
	if err != nil {
		return err
	}
	defer receivers.close()
	var urls []string
	for _, host := range receivers.hosts {
		urls = append(urls, "https://"+host+"/hook")
	}
	farm, err := b.newFarm(ctx, engine, urls)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.discard(context.WithoutCancel(ctx), []*dataset{farm.dataset})) }()
	loop := errand{
		URLs: urls, Roots: receivers.roots, Each: laneWarm + b.backlog(), Conns: laneConns, Body: webhook.Sample(event.CustomerCreated),
	}
	var us, them []sample
	for range b.rounds {
		theirs, err := b.sendBare(ctx, receivers, loop)
		if err != nil {
			return err
		}
		ours, err := b.drain(ctx, farm, receivers)
		if err != nil {
			return err
		}
		us, them = append(us, ours), append(them, theirs)
	}
	times, err := b.steady(ctx, farm, receivers)
	if err != nil {
		return err
	}
	b.reportDeliveries(engine, middle(us), middle(them), times)
	return nil
}

// backlog is how many deliveries of each lane are counted in one round: as many
// for each of its connections.
func (b *bench) backlog() int { return max(1, b.sends/(laneCount*laneConns)) * laneConns }

// drain queues a backlog while no server runs, then measures how one sends it.
func (b *bench) drain(ctx context.Context, farm *farm, receivers *receivers) (sample sample, err error) {
	if err := farm.queue(ctx, farm.lanes, laneWarm+b.backlog()); err != nil {
		return sample, err
	}
	receivers.reset(laneCount * laneWarm)
	process, err := b.startSending(ctx, farm, receivers)
	if err != nil {
		return sample, err
	}
	defer process.stop()
	spending := func() (map[int]time.Duration, error) { return b.used(ctx, process, farm.dataset) }
	count, err := receivers.measure(ctx, laneCount*b.backlog(), spending)
	if err != nil {
		return sample, err
	}
	for _, spent := range count.spent {
		sample.cpu += spent
	}
	sample.perSecond, sample.takeCPU = count.perSecond, count.taking
	return sample, nil
}

// steady measures the latency at a steady pace, when every lane has been sent to:
// the first call to a receiver is mostly its handshake.
func (b *bench) steady(ctx context.Context, farm *farm, receivers *receivers) (arrivals, error) {
	process, err := b.startSending(ctx, farm, receivers)
	if err != nil {
		return nil, err
	}
	defer process.stop()
	warmUp := max(b.warmUp(), 2*laneCount*time.Second/pace)
	if _, err := happen(ctx, process.addr, farm.lanes, receivers, pace, warmUp); err != nil {
		return nil, err
	}
	return happen(ctx, process.addr, farm.lanes, receivers, pace, time.Duration(b.rounds)*b.span)
}

// arrivals are how long events took to arrive, from the answer to the request that
// caused them, which comes after the commit. What arrived before the answer took no
// time.
type arrivals []time.Duration

// cause is one request.
type cause struct {
	user     string
	answered time.Time
	err      error
}

// happen creates customers at a pace, lane after lane, and waits for their
// events.
func happen(
	ctx context.Context,
	addr string,
	lanes []lane,
	receivers *receivers,
	perSecond int,
	span time.Duration,
) (arrivals arrivals, err error) {
	receivers.reset(0)
	const conns = 16
	clients := make(chan *client, conns)
	for range conns {
		client, err := dial(ctx, addr)
		if err != nil {
			return arrivals, err
		}
		defer client.close()
		clients <- client
	}
	causes := make([]cause, max(1, int(span.Seconds()*float64(perSecond))))
	beat := time.NewTicker(time.Second / time.Duration(perSecond))
	defer beat.Stop()
	var asking sync.WaitGroup
	for i := range causes {
		<-beat.C
		asking.Go(func() {
			client := <-clients
			causes[i] = ask(client, &lanes[i%len(lanes)])
			clients <- client
		})
	}
	asking.Wait()
	for _, cause := range causes {
		if cause.err != nil {
			return arrivals, cause.err
		}
	}
	if _, err := receivers.await(ctx, len(causes), arriveTimeout); err != nil {
		return arrivals, err
	}
	return receivers.since(causes)
}

func ask(client *client, lane *lane) cause {
	user := fmt.Sprintf("novo%0*d", numberDigits, created.Add(1))
	body := fmt.Sprintf(`{"name":"Cliente Novo","whatsapp":"5511987654321","usuario":%q}`, user)
	request := fmt.Appendf(nil, "POST /api/v1/customers HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", lane.token, len(body), body)
	_, err := client.do(request)
	return cause{user, time.Now(), err}
}

// since says how long after their causes events have arrived.
func (r *receivers) since(causes []cause) (arrivals arrivals, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, cause := range causes {
		at, ok := r.seen[`"`+cause.user+`"`]
		if !ok {
			return arrivals, fmt.Errorf("the event of %s has not arrived", cause.user)
		}
		arrivals = append(arrivals, max(0, at.Sub(cause.answered)))
	}
	return arrivals, nil
}

// part is the time within which a share of all arrived.
func part(times []time.Duration, share float64) time.Duration {
	if len(times) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(times))[int(share*float64(len(times)-1))]
}

func (b *bench) reportDeliveries(engine sqldb.Engine, us, them sample, times arrivals) {
	byRate, byCPU := us.perSecond/them.perSecond, (them.cpu+them.takeCPU)/(us.cpu+us.takeCPU)
	b.report.add(engine, "deliveries/s, and by CPU of both ends",
		fmt.Sprintf("%.2f and %.2f of the bare loop (%s/s, %s µs)", byRate, byCPU, rate(us.perSecond), rate(us.cpu)),
		fmt.Sprintf("≥ %.2f", bareLoopShare), byRate >= bareLoopShare, byCPU >= bareLoopShare)
	tail := part(times, 0.99)
	b.report.add(engine, fmt.Sprintf("from commit to arrival at %d events/s, p50 and p99", pace),
		millis(part(times, 0.5))+" and "+millis(tail), "p99 ≤ "+millis(tailFloor), tail <= tailFloor)
}
