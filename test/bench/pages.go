//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"carteira/internal/platform/sqldb"
)

// What a page of the panel may cost with the most customers, bytes before they
// are packed.
const (
	pageCPUGoal   = 15 * time.Millisecond
	pageBytesGoal = 40_000
)

// pageCost is what one page of the panel costs.
type pageCost struct {
	path          string
	sample        sample
	bytes, packed int
}

func (c pageCost) met() bool {
	return c.sample.allCPU() <= float64(pageCPUGoal.Microseconds()) && c.bytes <= pageBytesGoal
}

func (b *bench) paging() bool { return b.only.MatchString("pages of the panel") }

// pages measures every page of the panel that shows something of the company, for
// its owner, with the most customers that were asked for.
func (b *bench) pages(ctx context.Context, engine sqldb.Engine) (err error) {
	size := b.sizes[len(b.sizes)-1]
	set, err := b.dataset(ctx, engine, size)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.discard(context.WithoutCancel(ctx), []*dataset{set})) }()
	desk, err := b.furnish(ctx, set)
	if err != nil {
		return fmt.Errorf("furnish the company: %w", err)
	}
	process, err := b.startProduct(ctx, set)
	if err != nil {
		return err
	}
	defer process.stop()
	if err := process.calmDown(ctx); err != nil {
		return err
	}
	costs := make([]pageCost, len(desk.paths))
	for n, path := range desk.paths {
		if costs[n], err = b.pageCost(ctx, process, set, desk, path); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	bare, err := b.barePage(ctx, set)
	if err != nil {
		return err
	}
	b.panel[engine] = costs
	b.printPages(set, costs, bare)
	return nil
}

// calmDown waits until a server has done what it does after its start.
func (p *process) calmDown(ctx context.Context) error {
	const calm, most = 50 * time.Millisecond, 2 * time.Minute
	for began := time.Now(); time.Since(began) < most; {
		before := cpuOf(p.pid())
		if err := pause(ctx, 2*time.Second); err != nil {
			return err
		}
		if cpuOf(p.pid())-before <= calm {
			return nil
		}
	}
	return errors.New("the server does not come to rest")
}

// pageConns is how many browsers ask at once: enough for both cores.
const pageConns = 2

func (b *bench) pageCost(ctx context.Context, process *process, set *dataset, desk desk, path string) (cost pageCost, err error) {
	cost.path = path
	client, err := dial(ctx, process.addr)
	if err != nil {
		return cost, err
	}
	defer client.close()
	plain, err := client.do(desk.get(path, ""))
	if err != nil {
		return cost, err
	}
	cost.bytes = len(plain)
	if path == "/customers" {
		if err := b.keepPage(plain); err != nil {
			return cost, err
		}
	}
	request := desk.get(path, "Accept-Encoding: gzip\r\n")
	packed, err := client.do(request)
	if err != nil {
		return cost, err
	}
	cost.packed = len(packed)
	few := *b
	few.conns, few.span = pageConns, b.span/3
	cost.sample, err = few.sample(ctx, process, func(int) requests { return always(request) }, set)
	return cost, err
}

// keepPage keeps a page for the bare handler to repeat.
func (b *bench) keepPage(body []byte) error {
	var failures []error
	for _, work := range works() {
		failures = append(failures, os.WriteFile(filepath.Join(b.dir, work.answer+".json"), body, 0o600))
	}
	return errors.Join(failures...)
}

// barePage is what net/http takes to write the page of customers.
func (b *bench) barePage(ctx context.Context, set *dataset) (sample, error) {
	process, err := b.startBaseline(ctx, bare, set)
	if err != nil {
		return sample{}, err
	}
	defer process.stop()
	few := *b
	few.conns, few.span = pageConns, b.span/3
	return few.sample(ctx, process, func(conn int) requests { return firstPage(set, conn) }, set)
}

func (b *bench) printPages(set *dataset, costs []pageCost, bare sample) {
	var t table
	t.add(fmt.Sprintf("%s: pages of the panel, %s customers", engineNames[set.engine], grouped(set.size)),
		"CPU ms", "× bare", "bytes", "packed", "")
	t.add("  the page of customers by the bare handler", cpuMillis(bare), "1", "", "", "")
	for _, cost := range costs {
		t.add("  "+cost.path, cpuMillis(cost.sample), fmt.Sprintf("%.0f", cost.sample.allCPU()/bare.allCPU()),
			grouped(cost.bytes), grouped(cost.packed), met(cost.met()))
	}
	t.print()
}

func cpuMillis(sample sample) string { return fmt.Sprintf("%.2f", sample.allCPU()/1000) }

func (b *bench) judgePages(table *table, engine sqldb.Engine) {
	costs := b.panel[engine]
	if len(costs) == 0 {
		return
	}
	above := 0
	for _, cost := range costs {
		if !cost.met() {
			above++
		}
	}
	table.add(fmt.Sprintf("  %s: each of %d pages of the panel", engineNames[engine], len(costs)),
		fmt.Sprintf("≤ %s CPU and %s bytes", pageCPUGoal, grouped(pageBytesGoal)), fmt.Sprintf("%d above", above), met(above == 0))
}
