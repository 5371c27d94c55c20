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
		w := newWorld(t, engine)
		w.plan(t, "1month", "35.00")
		c, err := w.customers.Create(t.Context(), w.actor, customer.ReadNew(values("name", "<João> & filhos", "plan_id", "1")))
		must(t, err)
		w.wantEvent(t, 1, "created")
		w.clock.Advance(90 * time.Minute)
		w.set(t, w.only(t, c.ID).ID, Paid, "paid_at", "2026-01-30")
		w.wantEvent(t, 2, "paid")
		w.set(t, w.only(t, c.ID).ID, Open)
		w.wantEvent(t, 4, "moved-back")
		extra, err := w.CreateExtra(t.Context(), w.actor, c.ID, ReadExtra(values("amount", "99999999.99", "due", "2027-12-31")))
		must(t, err)
		w.wantEvent(t, 5, "created-extra")
		_, err = w.payThrough(t, extra.ID, "woovi")
		must(t, err)
		w.wantEvent(t, 6, "paid-extra")
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
