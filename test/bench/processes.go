//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"carteira/internal/platform/sqldb"
)

// processCounts are how many processes serve one PostgreSQL beside each other.
var processCounts = []int{1, 2, 4}

func (b *bench) spreading() bool { return b.only.MatchString("processes") }

// processes measures what an operation costs when several processes serve one
// PostgreSQL, by the server's own statistics. On a machine of a few cores more
// processes answer no more requests: what counts is that none of the costs grows
// with their number, and what they wait for.
func (b *bench) processes(ctx context.Context, engine sqldb.Engine) (err error) {
	if engine != sqldb.Postgres {
		return nil
	}
	lab, err := b.newLab(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lab.close()) }()
	if err := lab.measureAll(ctx); err != nil {
		return err
	}
	lab.print()
	for _, show := range []func(context.Context) error{lab.printStatements, lab.replica, lab.pruning, lab.printSizes} {
		if err := show(ctx); err != nil {
			return err
		}
	}
	return nil
}

// measureAll begins with midnight: it issues the invoices that are paid later.
func (l *lab) measureAll(ctx context.Context) error {
	operations := operations()
	bar := newProgress("measuring processes on one PostgreSQL")
	for i := range len(operations) + 1 {
		for _, count := range processCounts {
			measure := l.midnight
			if i > 0 {
				measure = func(ctx context.Context, count int) (cost, error) { return l.measure(ctx, operations[i-1], count) }
			}
			cost, err := measure(ctx, count)
			if err != nil {
				return fmt.Errorf("%s, %d processes: %w", cost.operation, count, err)
			}
			l.costs = append(l.costs, cost)
		}
		if i == 0 {
			if err := l.readFeeds(ctx); err != nil {
				return err
			}
		}
		bar.show(i+1, len(operations)+1)
	}
	return nil
}

// cost is what one operation takes.
type cost struct {
	operation string
	processes int
	perSecond float64
	cpu       float64 // µs of the processes
	dbCPU     float64 // µs of PostgreSQL's
	counters          // per operation
	waits     waits
}

// measure lets count processes answer for a while.
func (l *lab) measure(ctx context.Context, operation operation, count int) (cost cost, err error) {
	cost.operation = operation.name
	servers, err := l.start(ctx, count)
	defer stopAll(servers)
	if err != nil {
		return cost, err
	}
	if _, err := l.drive(ctx, servers, operation, l.bench.warmUp()); err != nil {
		return cost, err
	}
	return l.observe(ctx, &servers, operation.name, func(ctx context.Context) (int, error) {
		return l.drive(ctx, servers, operation, l.bench.span)
	})
}

// observe counts what the servers and PostgreSQL do while work runs, which may
// start them and returns how many operations it was.
func (l *lab) observe(
	ctx context.Context, servers *[]*process, name string, work func(context.Context) (int, error),
) (cost cost, err error) {
	before, err := l.look(ctx, *servers)
	if err != nil {
		return cost, err
	}
	watching := l.watch(ctx)
	began := time.Now()
	count, err := work(ctx)
	took := time.Since(began)
	waits := watching.stop()
	if err != nil {
		return cost, err
	}
	after, err := l.look(ctx, *servers)
	if err != nil {
		return cost, err
	}
	cost.operation, cost.processes, cost.waits = name, len(*servers), waits
	cost.perSecond = float64(count) / took.Seconds()
	cost.counters = after.counters.since(before.counters).per(count)
	for pid, cpu := range after.used {
		spent := float64((cpu - before.used[pid]).Microseconds()) / float64(count)
		if after.ours[pid] {
			cost.cpu += spent
		} else {
			cost.dbCPU += spent
		}
	}
	return cost, nil
}

// sight is the state of all counters at one moment.
type sight struct {
	counters

	used map[int]time.Duration // by process id
	ours map[int]bool
}

func (l *lab) look(ctx context.Context, servers []*process) (sight sight, err error) {
	if sight.used, err = l.cluster.backends(ctx, l.url); err != nil {
		return sight, err
	}
	sight.ours = map[int]bool{}
	for _, server := range servers {
		sight.used[server.pid()] = cpuOf(server.pid())
		sight.ours[server.pid()] = true
	}
	sight.counters, err = l.read(ctx)
	return sight, err
}

func (l *lab) start(ctx context.Context, count int) (servers []*process, err error) {
	for range count {
		server, err := l.bench.startProduct(ctx, &dataset{engine: sqldb.Postgres, url: l.url})
		if err != nil {
			return servers, err
		}
		servers = append(servers, server)
	}
	return servers, nil
}

func stopAll(servers []*process) {
	for _, server := range servers {
		server.stop()
	}
}

// drive spreads the connections over the servers.
func (l *lab) drive(ctx context.Context, servers []*process, operation operation, span time.Duration) (int, error) {
	each := max(1, l.bench.conns/len(servers))
	counts, failures := make([]int, len(servers)), make([]error, len(servers))
	var running sync.WaitGroup
	for i, server := range servers {
		running.Go(func() {
			counts[i], failures[i] = load(ctx, server.addr, each, span, func(conn int) requests {
				return operation.requests(l, i*each+conn)
			})
		})
	}
	running.Wait()
	all := 0
	for _, count := range counts {
		all += count
	}
	return all, errors.Join(failures...)
}

// operation is something that is asked of one of many companies.
type operation struct {
	name     string
	requests func(l *lab, conn int) requests
}

// creatingAt is the place of "create" among the operations.
const creatingAt = 3

func operations() []operation {
	return []operation{
		{"list 50", func(l *lab, conn int) requests { return always(get(l.tenant(conn), "/customers?per_page=50")) }},
		{"read one", func(l *lab, conn int) requests {
			return always(get(l.tenant(conn), "/customers/"+strconv.FormatInt(l.customerOf(conn), 10)))
		}},
		{"read on in the feed, nothing new", func(l *lab, conn int) requests {
			return always(get(l.tenant(conn), "/events?after="+l.lastEvents[conn%len(l.tenants)]))
		}},
		{"create", func(l *lab, conn int) requests { return creating(l, l.tenant(conn)) }},
		{"create, all in one company", func(l *lab, _ int) requests { return creating(l, l.tenant(0)) }},
		{"change", func(l *lab, conn int) requests { return changing(l, conn) }},
		{"pay and renew", func(l *lab, conn int) requests { return renewing(l, conn%len(l.tenants), "paid") }},
		{"renew", func(l *lab, conn int) requests { return renewing(l, conn%len(l.tenants), "keep") }},
		{"renew, all in one company", func(l *lab, _ int) requests { return renewing(l, 0, "keep") }},
	}
}

func creating(l *lab, tenant *tenant) requests {
	return create(&dataset{today: l.today, created: *tenant}, 0)
}

func changing(l *lab, conn int) requests {
	path := fmt.Sprintf("PUT /api/v1/customers/%d HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s",
		l.customerOf(conn), l.tenant(conn).token)
	return counting(func(number string) (head, body string) { return path, `{"notes":"` + number + `"}` })
}

// renewing renews customer after customer of a company; each is paid for once,
// with the invoice of midnight.
func renewing(l *lab, company int, invoice string) requests {
	tenant, ids := &l.tenants[company], l.customers[company]
	next := &l.renewed[company]
	return func() []byte {
		id := ids[int(next.Add(1))%len(ids)]
		return fmt.Appendf(nil, "POST /api/v1/customers/%d/renew-due-date?invoice=%s HTTP/1.1\r\nHost: bench\r\n"+
			"Authorization: Bearer %s\r\nContent-Length: 0\r\n\r\n", id, invoice, tenant.token)
	}
}

func (l *lab) tenant(conn int) *tenant { return &l.tenants[conn%len(l.tenants)] }

func (l *lab) customerOf(conn int) int64 {
	ids := l.customers[conn%len(l.tenants)]
	return ids[(conn*31)%len(ids)]
}
