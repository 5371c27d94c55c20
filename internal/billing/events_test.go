package billing

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"carteira/internal/customer"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
	"carteira/openapi/openapitest"
)

var rewrite = flag.Bool("update", false, "rewrite the golden files in testdata")

// What is random in an event: its id and the customer's UUID.
var (
	eventID = regexp.MustCompile(`evt_[0-9A-Z]{26}`)
	uuid    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)
)

func TestEventsAreAsIntegratorsKnowThem(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.plan(t, "1month", "35.00")
		record, err := world.customers.Create(t.Context(), world.actor, customer.ReadNew(values("name", "<João> & filhos", "plan_id", "1")))
		must(t, err)
		world.wantEvent(t, 1, "created")
		world.clock.Advance(90 * time.Minute)
		world.set(t, world.only(t, record.ID).ID, Paid, "paid_at", "2026-01-30")
		world.wantEvent(t, 2, "paid")
		world.set(t, world.only(t, record.ID).ID, Open)
		world.wantEvent(t, 4, "moved-back")
		extra, err := world.CreateExtra(t.Context(), world.actor, record.ID, ReadExtra(values("amount", "99999999.99", "due", "2027-12-31")))
		must(t, err)
		world.wantEvent(t, 5, "created-extra")
		_, err = world.payThrough(t, extra.ID, "woovi")
		must(t, err)
		world.wantEvent(t, 6, "paid-extra")
	})
}

// wantEvent compares an event with its golden file.
func (w *world) wantEvent(t *testing.T, n int, name string) {
	t.Helper()
	body := w.bodies(t)[n]
	openapitest.New(t).Event([]byte(body))
	body = eventID.ReplaceAllString(body, "evt_00000000000000000000000000")
	body = uuid.ReplaceAllString(body, "00000000-0000-4000-8000-000000000000")
	var got bytes.Buffer
	must(t, json.Indent(&got, []byte(body), "", "  "))
	got.WriteByte('\n')

	file := filepath.Join("testdata", name+".golden.json")
	if *rewrite {
		must(t, os.WriteFile(file, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(file)
	must(t, err)
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s: got\n%s\nwant\n%s", file, got.Bytes(), want)
	}
}
