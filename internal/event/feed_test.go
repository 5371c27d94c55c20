package event

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// process is one of those that share a database.
type process struct {
	db   *sqldb.DB
	log  *Log
	feed *Feed
}

func newProcess(db *sqldb.DB) *process {
	log := &Log{}
	return &process{db, log, NewFeed(db, log)}
}

// write records events in one transaction; beforeCommit runs at its end.
func (p *process) write(ctx context.Context, from Source, beforeCommit func(), names ...Name) error {
	return p.db.Write(ctx, func(tx *sqldb.Tx) error {
		for _, name := range names {
			if err := p.log.Record(ctx, tx, from, name, nil); err != nil {
				return err
			}
		}
		// The events have their ids long before the commit.
		if _, err := sqldb.Value[int64](ctx, tx, `SELECT count(*) FROM events /* every company_id */`); err != nil {
			return err
		}
		beforeCommit()
		return nil
	})
}

func (p *process) mustWrite(t *testing.T, from Source, names ...Name) {
	t.Helper()
	if err := p.write(t.Context(), from, func() {}, names...); err != nil {
		t.Fatal(err)
	}
}

func (p *process) read(t *testing.T, from Source, query Query) Page {
	t.Helper()
	if query.Limit == 0 {
		query.Limit = 200
	}
	page, err := p.feed.Read(t.Context(), from.CompanyID, query)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// all reads the feed to its end, page by page.
func (p *process) all(t *testing.T, from Source, query Query) []string {
	t.Helper()
	var ids []string
	for {
		page := p.read(t, from, query)
		ids = append(ids, idsOf(page)...)
		if !page.More {
			return ids
		}
		query.After = page.LastID
	}
}

func idsOf(page Page) []string {
	var ids []string
	for _, body := range page.Bodies {
		var envelope struct{ ID string }
		if err := json.Unmarshal(body, &envelope); err != nil {
			panic(err)
		}
		ids = append(ids, envelope.ID)
	}
	return ids
}

// namesOf are the names of a page's events.
func namesOf(page Page) string {
	var names []string
	for _, body := range page.Bodies {
		var envelope struct{ Event string }
		if err := json.Unmarshal(body, &envelope); err != nil {
			panic(err)
		}
		names = append(names, envelope.Event)
	}
	return strings.Join(names, " ")
}

func TestFeedGivesEventsAsTheyWereRecordedAndContinuesFromTheLast(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		process, from, other := newProcess(db), inSaoPaulo(t, db), inSaoPaulo(t, db)
		if page := process.read(t, from, Query{}); len(page.Bodies) != 0 || page.LastID != "" || page.More {
			t.Errorf("an empty feed: %+v", page)
		}
		process.mustWrite(t, other, CustomerCreated)
		process.mustWrite(t, from, CustomerCreated, InvoiceCreated)
		process.mustWrite(t, from, InvoicePaid)
		first := process.read(t, from, Query{Limit: 2})
		if namesOf(first) != "customer.created invoice.created" || !first.More || first.LastID != idsOf(first)[1] {
			t.Errorf("first page: %s, %+v", namesOf(first), first)
		}
		second := process.read(t, from, Query{After: first.LastID, Limit: 2})
		if namesOf(second) != "invoice.paid" || second.More || second.LastID != idsOf(second)[0] {
			t.Errorf("second page: %s, %+v", namesOf(second), second)
		}
		end := process.read(t, from, Query{After: second.LastID})
		if len(end.Bodies) != 0 || end.More || end.LastID != second.LastID {
			t.Errorf("at the end: %+v", end)
		}
		stored := recorded(t, db, from)
		if body := process.read(t, from, Query{}).Bodies[2]; string(body) != string(stored[2].Body) {
			t.Errorf("handed out %s, recorded %s", body, stored[2].Body)
		}
	})
}

func TestReaderOfRareEventsMovesOnPastTheOthers(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		process, from := newProcess(db), inSaoPaulo(t, db)
		many := slices.Repeat([]Name{CustomerUpdated}, placeBatch+scanSpan)
		process.mustWrite(t, from, append(many, InvoicePaid)...)
		process.mustWrite(t, from, CustomerUpdated)
		wanted := Query{Names: []Name{InvoicePaid}}
		ids := process.all(t, from, wanted)
		stored := recorded(t, db, from)
		if len(ids) != 1 || ids[0] != stored[len(many)].ID {
			t.Errorf("found %v, want %s", ids, stored[len(many)].ID)
		}
		if all := process.all(t, from, Query{}); len(all) != len(stored) {
			t.Errorf("%d events, want %d", len(all), len(stored))
		}
		wanted.After = stored[len(many)].ID
		if page := process.read(t, from, wanted); len(page.Bodies) != 0 || page.LastID != stored[len(stored)-1].ID {
			t.Errorf("after it %s, last %s; want the very last event", namesOf(page), page.LastID)
		}
	})
}

func TestFeedSinceATime(t *testing.T) {
	clock := sqldbtest.NewClock(happened)
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		clock.Set(happened)
		db := sqldbtest.New(t, engine, sqldbtest.WithClock(clock))
		process, from := newProcess(db), inSaoPaulo(t, db)
		for _, name := range []Name{CustomerCreated, InvoiceCreated, InvoicePaid} {
			process.mustWrite(t, from, name)
			clock.Advance(time.Hour)
		}
		for since, want := range map[time.Duration]string{
			-time.Hour:                     "customer.created invoice.created invoice.paid",
			time.Hour:                      "invoice.created invoice.paid",
			time.Hour + time.Microsecond:   "invoice.paid",
			2*time.Hour + time.Microsecond: "",
			24 * time.Hour:                 "",
		} {
			page := process.read(t, from, Query{Since: happened.Add(since)})
			if namesOf(page) != want || page.LastID != recorded(t, db, from)[2].ID {
				t.Errorf("since %v: %q, last %s; want %q", since, namesOf(page), page.LastID, want)
			}
		}
	})
}

// On PostgreSQL ids are given before the commit, so the event with the smaller
// id can become visible later.
func TestEventThatCommitsLateIsNotMissed(t *testing.T) {
	db := sqldbtest.New(t, sqldb.Postgres)
	process, from := newProcess(db), inSaoPaulo(t, db)
	recordedFirst, mayCommit, committed := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		committed <- process.write(t.Context(), from, func() {
			close(recordedFirst)
			<-mayCommit
		}, CustomerCreated)
	}()
	<-recordedFirst
	process.mustWrite(t, from, InvoicePaid)
	page := process.read(t, from, Query{})
	if namesOf(page) != "invoice.paid" {
		t.Fatalf("before the commit: %q", namesOf(page))
	}
	close(mayCommit)
	if err := <-committed; err != nil {
		t.Fatal(err)
	}
	if late := process.read(t, from, Query{After: page.LastID}); namesOf(late) != "customer.created" {
		t.Errorf("after the commit: %q", namesOf(late))
	}
	if ids := recorded(t, db, from); ids[0].Name != CustomerCreated {
		t.Error("the late event does not have the smaller id: the test shows nothing")
	}
}

// shuffle lets transactions commit in an order of its own: each waits until a
// few others have come, and a random one of them goes.
type shuffle struct {
	mu      sync.Mutex
	waiting []chan struct{}
}

func (s *shuffle) pass(open int) {
	s.mu.Lock()
	mine := make(chan struct{})
	s.waiting = append(s.waiting, mine)
	for len(s.waiting) >= open {
		i := rand.IntN(len(s.waiting))
		close(s.waiting[i])
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
	s.mu.Unlock()
	select {
	case <-mine:
	case <-time.After(20 * time.Millisecond): // the last ones wait for no one
	}
}

func TestThreeProcessesSeeEveryEventOnce(t *testing.T) {
	const writers, transactions = 4, 40
	databaseURL := sqldbtest.URL(t, sqldb.Postgres)
	var processes []*process
	for range 3 {
		processes = append(processes, newProcess(sqldbtest.Open(t, databaseURL)))
	}
	from := inSaoPaulo(t, processes[0].db)
	total := 3 * writers * transactions * 3 / 2 // every second transaction records two
	var order shuffle
	var group sync.WaitGroup
	failures := make(chan error, 100)
	for _, process := range processes {
		for range writers {
			group.Go(func() {
				for i := range transactions {
					names := []Name{CustomerCreated, InvoiceCreated}[:1+i%2]
					if err := process.write(t.Context(), from, func() { order.pass(4) }, names...); err != nil {
						failures <- err
					}
				}
			})
		}
	}
	results := make([][]string, len(processes))
	for i, process := range processes {
		group.Go(func() {
			var err error
			if results[i], err = process.follow(t.Context(), Reader{from.CompanyID, int64(i)}, total); err != nil {
				failures <- err
			}
		})
	}
	group.Wait()
	close(failures)
	for err := range failures {
		t.Error(err)
	}
	wantEachOnce(t, recorded(t, processes[0].db, from), results)
	late := 0
	for i, event := range recorded(t, processes[0].db, from) {
		if i < len(results[0]) && results[0][i] != event.ID {
			late++
		}
	}
	if late == 0 {
		t.Error("the feed was in the order of the ids: no transaction committed out of order")
	}
}

// follow reads until it has seen so many events.
func (p *process) follow(ctx context.Context, reader Reader, total int) ([]string, error) {
	var seen []string
	query := Query{Limit: 7}
	for len(seen) < total {
		page, err := p.feed.Wait(ctx, reader, query, 20*time.Millisecond)
		if err != nil {
			return seen, err
		}
		if len(page.Bodies) == 0 {
			if err := p.feed.Poll(ctx); err != nil {
				return seen, err
			}
		}
		seen = append(seen, idsOf(page)...)
		query.After = page.LastID
	}
	return seen, nil
}

func wantEachOnce(t *testing.T, stored []storedEvent, results [][]string) {
	t.Helper()
	var want []string
	for _, event := range stored {
		want = append(want, event.ID)
	}
	slices.Sort(want)
	for i, seen := range results {
		if !slices.Equal(seen, results[0]) {
			t.Errorf("reader %d saw another order than reader 0", i)
		}
		sorted := slices.Sorted(slices.Values(seen))
		if !slices.Equal(sorted, want) {
			t.Errorf("reader %d saw %d events, %d of them different; %d were recorded",
				i, len(sorted), len(slices.Compact(sorted)), len(want))
		}
	}
}

// remove deletes events as the room that prunes them does.
func (p *process) remove(t *testing.T, from Source, then func(context.Context, *sqldb.Tx, int64, []Removed) error, ids ...string) {
	t.Helper()
	err := p.db.Write(t.Context(), func(tx *sqldb.Tx) error {
		if err := LockFeedTx(t.Context(), tx, from.CompanyID); err != nil {
			return err
		}
		removed, err := sqldb.All(t.Context(), tx, ScanRemoved,
			`DELETE FROM events WHERE company_id = ? AND event_id {in ?} RETURNING event_id, position`, from.CompanyID, ids)
		if err != nil {
			return err
		}
		return then(t.Context(), tx, from.CompanyID, removed)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (p *process) wantGone(t *testing.T, from Source, after string) {
	t.Helper()
	page, err := p.feed.Read(t.Context(), from.CompanyID, Query{After: after, Limit: 10})
	if fault.KindOf(err) != fault.KindGone {
		t.Errorf("after %s: %+v, %v; want that it is gone", after, page, err)
	}
}

func TestReaderThatMissedPrunedEventsIsTold(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		process, from := newProcess(db), inSaoPaulo(t, db)
		process.mustWrite(t, from, CustomerCreated, InvoiceCreated, InvoicePaid, CustomerRenewed)
		ids := process.all(t, from, Query{})
		process.remove(t, from, PrunedTx, ids[0], ids[1])
		process.wantGone(t, from, ids[0])
		process.wantGone(t, from, "evt_00000000000000000000000000")
		for _, after := range []string{"", ids[1]} { // a reader of the last removed one has missed nothing
			if page := process.read(t, from, Query{After: after}); namesOf(page) != "invoice.paid customer.renewed" {
				t.Errorf("after %q: %q", after, namesOf(page))
			}
		}
		process.remove(t, from, PrunedTx, ids[2], ids[3])
		process.wantGone(t, from, ids[1])
		if page := process.read(t, from, Query{After: ids[3]}); len(page.Bodies) != 0 || page.LastID != ids[3] {
			t.Errorf("at the end of a feed that was pruned whole: %+v", page)
		}
		process.mustWrite(t, from, CustomerDeleted)
		if page := process.read(t, from, Query{After: ids[3]}); namesOf(page) != "customer.deleted" {
			t.Errorf("after the last event: %q", namesOf(page))
		}
	})
}

func TestReaderThatMissedEventsPrunedUnreadIsTold(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		process, from := newProcess(db), inSaoPaulo(t, db)
		process.mustWrite(t, from, CustomerCreated)
		last := process.all(t, from, Query{})[0]
		process.mustWrite(t, from, InvoicePaid, CustomerRenewed)
		process.remove(t, from, PrunedTx, recorded(t, db, from)[1].ID)
		process.wantGone(t, from, last)
		if page := process.read(t, from, Query{}); namesOf(page) != "customer.renewed" {
			t.Errorf("from the beginning: %q", namesOf(page))
		}
	})
}

func TestErasedEventsAreNoGapForReaders(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		process, from := newProcess(db), inSaoPaulo(t, db)
		process.mustWrite(t, from, CustomerCreated, InvoiceCreated, InvoicePaid)
		ids := process.all(t, from, Query{})
		process.mustWrite(t, from, CustomerDeleted)
		process.remove(t, from, ErasedTx, ids[0], ids[1], recorded(t, db, from)[3].ID)
		for _, after := range []string{"", ids[0], ids[1]} {
			if page := process.read(t, from, Query{After: after}); namesOf(page) != "invoice.paid" {
				t.Errorf("after %q: %q", after, namesOf(page))
			}
		}
	})
}

func TestReadingWithNothingNewUsesIndexesAlone(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		from := inSaoPaulo(t, db)
		process := newProcess(db)
		process.mustWrite(t, from, slices.Repeat([]Name{CustomerUpdated}, 300)...)
		process.all(t, from, Query{})
		sqldbtest.WantIndex(t, db, "events_position",
			`SELECT position, event_id, body FROM events WHERE company_id = ? AND position > ? AND position <= ? ORDER BY position LIMIT ?`,
			from.CompanyID, 290, 2000, 51)
		sqldbtest.WantIndex(t, db, "events_since",
			`SELECT MIN(position) FROM events WHERE company_id = ? AND occurred_at >= ? AND position IS NOT NULL`, from.CompanyID, 1)
		sqldbtest.WantIndex(t, db, "events_unplaced",
			`SELECT 1 FROM events WHERE company_id = ? AND position IS NULL`, from.CompanyID)
	})
}

var errUnexpected = errors.New("unexpected")

// waited is what came of a Wait.
type waited struct {
	page Page
	err  error
}

// waits begins to wait and returns when the reader is in the waiting room.
func (p *process) waits(t *testing.T, reader Reader, query Query) <-chan waited {
	t.Helper()
	query.Limit = 10
	before := p.seated(reader)
	done := make(chan waited, 1)
	go func() {
		page, err := p.feed.Wait(t.Context(), reader, query, time.Minute)
		done <- waited{page, err}
	}()
	for deadline := time.Now().Add(time.Minute); p.seated(reader) == before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the reader does not wait")
		}
	}
	return done
}

// seated is how many readers of a token wait, once one of the company has looked
// and found nothing.
func (p *process) seated(reader Reader) int {
	room := p.feed.waiting
	room.mu.Lock()
	defer room.mu.Unlock()
	if row := room.rows[reader.CompanyID]; row == nil || row.seen < 0 {
		return 0
	}
	return room.byToken[reader.TokenID]
}

func (w waited) want(names string) error {
	if w.err != nil || namesOf(w.page) != names {
		return fmt.Errorf("%w: %q, %w; want %q", errUnexpected, namesOf(w.page), w.err, names)
	}
	return nil
}

func TestWaitingReaderIsWokenByTheCommit(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		process, from := newProcess(db), inSaoPaulo(t, db)
		one := process.waits(t, Reader{from.CompanyID, 1}, Query{})
		paid := process.waits(t, Reader{from.CompanyID, 2}, Query{Names: []Name{InvoicePaid}})
		process.mustWrite(t, from, CustomerCreated)
		if err := (<-one).want("customer.created"); err != nil {
			t.Error(err)
		}
		process.mustWrite(t, from, InvoicePaid)
		if err := (<-paid).want("invoice.paid"); err != nil {
			t.Error(err)
		}
	})
}

func TestWaitingReadersAreWokenForEventsOfAnotherProcess(t *testing.T) {
	databaseURL := sqldbtest.URL(t, sqldb.Postgres)
	here, there := newProcess(sqldbtest.Open(t, databaseURL)), newProcess(sqldbtest.Open(t, databaseURL))
	from := inSaoPaulo(t, here.db)
	first, second := here.waits(t, Reader{from.CompanyID, 1}, Query{}), here.waits(t, Reader{from.CompanyID, 2}, Query{})
	there.mustWrite(t, from, CustomerCreated)
	there.read(t, from, Query{}) // gives it its position, so that the other process finds none without one
	if err := here.feed.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, done := range []<-chan waited{first, second} {
		if err := (<-done).want("customer.created"); err != nil {
			t.Error(err)
		}
	}
}

func TestWaitingEndsWhenTheProgramStops(t *testing.T) {
	db := sqldbtest.New(t, sqldb.SQLite)
	process, from := newProcess(db), inSaoPaulo(t, db)
	done := process.waits(t, Reader{from.CompanyID, 1}, Query{})
	process.feed.Stop()
	if err := (<-done).want(""); err != nil {
		t.Error(err)
	}
	late, err := process.feed.Wait(t.Context(), Reader{from.CompanyID, 1}, Query{Limit: 1}, time.Hour)
	if err := (waited{late, err}).want(""); err != nil {
		t.Error(err)
	}
}

func TestOneReaderTooManyIsAnsweredAtOnce(t *testing.T) {
	db := sqldbtest.New(t, sqldb.SQLite)
	process, from := newProcess(db), inSaoPaulo(t, db)
	for token := range int64(WaitersPerCompany / WaitersPerToken) {
		for range WaitersPerToken {
			process.waits(t, Reader{from.CompanyID, token}, Query{})
		}
		_, err := process.feed.Wait(t.Context(), Reader{from.CompanyID, token}, Query{Limit: 1}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := process.feed.Wait(t.Context(), Reader{from.CompanyID, 99}, Query{Limit: 1}, time.Hour); err != nil {
		t.Fatal(err)
	}
	process.feed.Stop()
}
