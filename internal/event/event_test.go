package event

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var (
	happened   = time.Date(2026, 3, 1, 2, 30, 0, 123_456_000, time.UTC)
	errRefused = errors.New("refused")
)

func withClock() sqldbtest.Option { return sqldbtest.WithClock(sqldbtest.NewClock(happened)) }

// inSaoPaulo writes a company and is the source of its events.
func inSaoPaulo(t *testing.T, db *sqldb.DB) Source {
	t.Helper()
	source := Source{Zone: zone(t, "America/Sao_Paulo")}
	err := db.Write(t.Context(), func(tx *sqldb.Tx) (err error) {
		source.CompanyID, err = sqldb.Value[int64](t.Context(), tx, `
			INSERT INTO companies (name, level, timezone, renew_from, renew_on_payment, lead_days, created_at, updated_at)
			VALUES ('Company', 'user', 'America/Sao_Paulo', 'today', ?, 5, 0, 0) RETURNING id`, true)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return source
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := civil.LoadZone(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func record(t *testing.T, db *sqldb.DB, log *Log, from Source, data any) error {
	t.Helper()
	return db.Write(t.Context(), func(tx *sqldb.Tx) error {
		return log.Record(t.Context(), tx, from, CustomerCreated, data)
	})
}

// storedEvent is an event with its body.
type storedEvent struct {
	Event
	Body []byte
}

// recorded returns the events that are in the table.
func recorded(t *testing.T, querier sqldb.Querier, from Source) []storedEvent {
	t.Helper()
	events, err := sqldb.All(t.Context(), querier, func(row sqldb.Row) (event storedEvent, err error) {
		var at int64
		err = row.Scan(&event.CompanyID, &event.ID, &event.Name, &at, &event.Body)
		event.At = time.UnixMicro(at).UTC()
		return event, err
	}, "SELECT company_id, event_id, name, occurred_at, body FROM events WHERE company_id = ? ORDER BY id", from.CompanyID)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func TestRecordWritesTheEnvelopeThatReceiversSee(t *testing.T) {
	data := map[string]any{
		"customer": map[string]any{"id": 7, "name": "João & <Filhos>", "email": nil, "due_date": "2026-03-31"},
		"changed":  []string{"usuario", "plan_id"},
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := sqldbtest.New(t, engine, withClock())
		from := inSaoPaulo(t, db)
		if err := record(t, db, &Log{}, from, data); err != nil {
			t.Fatal(err)
		}
		events := recorded(t, db, from)
		if len(events) != 1 {
			t.Fatalf("%d events, want 1", len(events))
		}
		event := events[0]
		if event.CompanyID != from.CompanyID || event.Name != CustomerCreated || !event.At.Equal(happened) {
			t.Errorf("recorded %+v", event)
		}
		if !regexp.MustCompile(`^evt_[0-9A-Z]{26}$`).MatchString(event.ID) {
			t.Errorf("id %q", event.ID)
		}
		wantGolden(t, "customer.created.json", withoutChance(event))
	})
}

// withoutChance is the body with the random half of the id blanked; the other
// half is the time.
func withoutChance(event storedEvent) []byte {
	half := len("evt_") + 10
	blank := event.ID[:half] + strings.Repeat("0", len(event.ID)-half)
	return append(bytes.ReplaceAll(event.Body, []byte(event.ID), []byte(blank)), '\n')
}

func wantGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s has changed (-update accepts it):\n got %s\nwant %s", name, got, want)
	}
}

// about is data that knows the record it is about.
type about int64

func (a about) SubjectID() int64 { return int64(a) }

func TestSubscribersActInTheTransactionOfTheEvent(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		from := inSaoPaulo(t, db)
		var log Log
		var told []Event
		for range 2 {
			log.Watch(func(_ context.Context, tx *sqldb.Tx, event Event) error {
				told = append(told, event)
				if within, outside := recorded(t, tx, from), recorded(t, db, from); len(within) != 1 || len(outside) != 0 {
					t.Errorf("%d events within the transaction and %d outside, want 1 and 0", len(within), len(outside))
				}
				return nil
			})
		}
		if err := record(t, db, &log, from, about(7)); err != nil {
			t.Fatal(err)
		}
		want := recorded(t, db, from)[0]
		if len(told) != 2 {
			t.Fatalf("told %d times, want 2", len(told))
		}
		for _, event := range told {
			same := event.ID == want.ID && event.CompanyID == want.CompanyID && event.Name == want.Name &&
				event.At.Equal(want.At) && event.Data == about(7) && event.Subject == 7
			if !same {
				t.Errorf("told %+v, recorded %+v", event, want)
			}
		}
	})
}

func TestFailingSubscriberUndoesTheWholeTransaction(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		from := inSaoPaulo(t, db)
		var log Log
		log.Watch(func(context.Context, *sqldb.Tx, Event) error { return errRefused })
		log.Watch(func(context.Context, *sqldb.Tx, Event) error {
			t.Error("the next subscriber was told all the same")
			return nil
		})
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			if _, err := tx.Exec(t.Context(), "UPDATE companies SET name = 'changed' WHERE id = ?", from.CompanyID); err != nil {
				return err
			}
			return log.Record(t.Context(), tx, from, CustomerCreated, nil)
		})
		if !errors.Is(err, errRefused) {
			t.Errorf("got %v, want the error of the subscriber", err)
		}
		name, err := sqldb.Value[string](t.Context(), db, "SELECT name FROM companies WHERE id = ?", from.CompanyID)
		if err != nil || name != "Company" || len(recorded(t, db, from)) != 0 {
			t.Errorf("company %q, %d events, %v; want nothing changed", name, len(recorded(t, db, from)), err)
		}
	})
}

func TestEventThatCannotBeWrittenFailsItsCaller(t *testing.T) {
	db := sqldbtest.New(t, sqldb.SQLite)
	from := inSaoPaulo(t, db)
	if err := record(t, db, &Log{}, from, func() {}); err == nil {
		t.Error("data that JSON cannot hold was recorded")
	}
	from.CompanyID++
	if err := record(t, db, &Log{}, from, nil); !errors.Is(err, sqldb.ErrForeignKey) {
		t.Errorf("an event of no company: %v", err)
	}
}

func TestCatalogHasTheEventsOfTheContractInOrder(t *testing.T) {
	var names []Name
	for _, entry := range Catalog {
		names = append(names, entry.Name)
		if entry.Description == "" {
			t.Errorf("%s is not described", entry.Name)
		}
	}
	want := []Name{
		"customer.created", "customer.updated", "customer.deleted", "customer.renewed", "customer.expired",
		"invoice.created", "invoice.updated", "invoice.paid", "invoice.cancelled",
		"payment.received", "payment.refunded", "payment.undone", "autopay.changed", "ping",
	}
	if !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}
