//go:build linux

package main

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ofTomorrow makes a process one of a newer version: it has a migration more.
const ofTomorrow = "CARTEIRA_TEST_MIGRATION=CREATE TABLE of_tomorrow (id BIGINT)"

// twoVersions leaves a process of an older version next to one of a newer, as every
// rolling deployment does. The older one must be red, write nothing and run no job,
// also when the newer one is gone and there is work that only it could do.
func twoVersions(lab *lab) error {
	older, err := lab.one()
	if err != nil {
		return err
	}
	lab.later(older.kill)
	lab.hurt()
	newer, err := lab.serve(lab.url, ofTomorrow)
	if err != nil {
		return err
	}
	lab.forget(older)
	migrated := time.Now()
	for older.ready() && time.Since(migrated) < lab.span(30*time.Second) {
		pause(lab.ctx, 50*time.Millisecond)
	}
	lab.value = time.Since(migrated)
	lab.measured = "/readyz of the older one red after " + seconds(lab.value)
	if older.ready() {
		return errors.New("/readyz of the older one stayed green")
	}
	if err := lab.writesNothing(older); err != nil {
		return err
	}
	held := time.Now()
	lab.receiver.hold(true) // what is to be delivered from now on is left to be done
	for lab.ackedSince(held) < writers && time.Since(held) < lab.house.wait {
		pause(lab.ctx, 50*time.Millisecond)
	}
	newer.kill()
	if err := lab.worksNothing(); err != nil {
		return err
	}
	next, err := lab.serve(lab.url, ofTomorrow)
	if err != nil {
		return err
	}
	lab.replace(newer, next)
	lab.hurt() // until here nothing could go on
	return lab.goOn()
}

// writesNothing wants a process to refuse all that would be written.
func (l *lab) writesNothing(older *proc) error {
	answers := map[int]int{}
	for i := range 50 {
		name := fmt.Sprintf("chaos-9-%d", i)
		status, _, err := l.load.send(l.ctx, older.addr, call{http.MethodPost, "/customers", name, map[string]any{"name": name}})
		if err != nil {
			return err
		}
		answers[status]++
	}
	if answers[http.StatusServiceUnavailable] != 50 {
		return fmt.Errorf("50 writes of the older one were answered %v", answers)
	}
	return nil
}

// worksNothing wants nothing to be delivered, and no bank to be asked, for longer
// than the leases of the process that is gone.
func (l *lab) worksNothing() error {
	pause(l.ctx, time.Second) // the requests of the process that is gone end
	_, looks := l.bank.counts()
	arrived := l.receiver.all()
	l.receiver.hold(false)
	pause(l.ctx, l.span(40*time.Second))
	_, looksNow := l.bank.counts()
	if now := l.receiver.all(); now != arrived || looksNow != looks {
		return fmt.Errorf("the older one delivered %d events and asked the bank %d times", now-arrived, looksNow-looks)
	}
	return nil
}

const cuts = 16

// powerCuts traces what a process writes and flushes, rebuilds what power cuts at
// moments after acknowledgements would have left, and starts the program on each.
func powerCuts(lab *lab) error {
	before, err := files(lab.data)
	if err != nil {
		return err
	}
	trace := filepath.Join(lab.dir, "trace")
	argv, err := traced(trace, lab.data, lab.house.binary, "serve")
	if err != nil {
		return err
	}
	proc, err := lab.serveWith(argv, lab.url)
	if err != nil {
		return err
	}
	if err := lab.begin(); err != nil {
		return err
	}
	lab.hurt()
	if err := lab.goOn(); err != nil {
		return err
	}
	lab.load.close() // no payer looks for an invoice at a process that is gone
	proc.kill()
	lab.forget(proc)
	lab.receiver.hold(true) // what the others deliver is not counted
	lab.gone = true
	ops, err := readTrace(trace)
	if err != nil {
		return err
	}
	writes, _ := lab.load.snapshot()
	writes = slices.DeleteFunc(writes, func(write write) bool { return write.acked.IsZero() })
	luck := rand.New(rand.NewPCG(1, 2))
	for i := range cuts {
		moment := writes[(i+1)*len(writes)/cuts-1].acked
		left := cut(before, ops, moment, luck)
		if err := lab.afterCut(i, moment, left); err != nil {
			return fmt.Errorf("power cut %d: %w", i, err)
		}
	}
	lab.measured = fmt.Sprintf("%d cuts among %d writes and flushes, %d things lost or doubled", cuts, len(ops), lab.lost)
	return nil
}

// files are those of a database that no process has open.
func files(data string) (map[string][]byte, error) {
	text, err := os.ReadFile(filepath.Join(data, databaseFile))
	return map[string][]byte{databaseFile: text}, err
}

// afterCut starts the program on what a power cut left, and compares.
func (l *lab) afterCut(n int, moment time.Time, left map[string][]byte) error {
	after := &lab{ctx: l.ctx, house: l.house, dir: l.dir, token: l.token, bank: l.bank, receiver: l.receiver}
	after.data = filepath.Join(l.dir, fmt.Sprint("cut-", n))
	after.env = append(slices.Clone(l.env), "CARTEIRA_DATA_DIR="+after.data)
	if err := os.Mkdir(after.data, 0o700); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		if err := os.WriteFile(filepath.Join(after.data, name), left[name], 0o600); err != nil {
			return err
		}
	}
	proc, err := after.serve("")
	if err != nil {
		return err
	}
	defer proc.kill()
	books, err := after.books()
	if err != nil {
		return err
	}
	writes, payments := l.load.snapshot()
	for i := range writes {
		if writes[i].acked.After(moment) {
			writes[i].acked = time.Time{}
		}
	}
	for i := range payments {
		if payments[i].settled.After(moment) {
			payments[i].settled = time.Time{}
		}
	}
	var r row
	r.compare(writes, payments, books)
	l.lost += r.lost + r.doubled
	for _, what := range r.wrong {
		l.wrong = append(l.wrong, fmt.Sprintf("after cut %d %s", n, strings.TrimSpace(what)))
	}
	return nil
}
