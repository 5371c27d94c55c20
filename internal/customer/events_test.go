package customer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/openapitest"
	"carteira/test/kit/sqldbtest"
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
		world.offers(t, world.actor, "1month")
		whole := world.create(t, `{"name":"João da Silva","whatsapp":"(11) 98765-4321","email":"joao@example.com","usuario":"joao.silva","plan_id":1}`)
		world.wantEvent(t, "created")
		bare := world.create(t, `{"name":"<Maria> & filhos"}`)
		world.wantEvent(t, "created-bare")
		world.clock.Advance(90 * time.Minute)
		world.update(t, whole.ID, `{"usuario":"joao","plan_id":null,"product_id":null,"data_de_vencimento":"2026-01-30"}`)
		world.wantEvent(t, "updated")
		world.update(t, whole.ID, `{"plan_id":1}`)
		world.renew(t, whole.ID)
		world.wantEvent(t, "renewed")
		world.update(t, bare.ID, `{"plan_id":1}`)
		world.renew(t, bare.ID)
		world.wantEvent(t, "renewed-first")
		must(t, world.Delete(t.Context(), world.actor, whole.ID))
		world.wantEvent(t, "deleted")
		must(t, world.Delete(t.Context(), world.actor, bare.ID))
		world.wantEvent(t, "deleted-bare")
	})
}

// wantEvent compares the newest event with its golden file.
func (w *world) wantEvent(t *testing.T, name string) {
	t.Helper()
	body, err := sqldb.Value[string](t.Context(), w.db, `SELECT body FROM events ORDER BY id DESC LIMIT 1`)
	must(t, err)
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

var errSubscriber = errors.New("the subscriber could not")

// An event that cannot be recorded takes its change back with it.
func TestChangeAndEventStandOrFallTogether(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := newWorld(t, engine)
		world.offers(t, world.actor, "1month")
		before := world.create(t, `{"name":"Ana","plan_id":1}`)
		failing := &event.Log{}
		failing.Watch(func(context.Context, *sqldb.Tx, event.Event) error { return errSubscriber })
		service := New(world.db, failing)
		for name, change := range map[string]func(context.Context, account.Actor) error{
			"create": func(ctx context.Context, actor account.Actor) error {
				_, err := service.Create(ctx, actor, ReadNew(form(t, `{"name":"Bia"}`)))
				return err
			},
			"update": func(ctx context.Context, actor account.Actor) error {
				_, err := service.Update(ctx, actor, before.ID, ReadChanges(form(t, `{"name":"Bia"}`)))
				return err
			},
			"renew": func(ctx context.Context, actor account.Actor) error {
				_, err := service.Renew(ctx, actor, before.ID)
				return err
			},
			"delete": func(ctx context.Context, actor account.Actor) error { return service.Delete(ctx, actor, before.ID) },
		} {
			if err := change(t.Context(), world.actor); !errors.Is(err, errSubscriber) {
				t.Errorf("%s: %v, want the subscriber's error", name, err)
			}
		}
		list, total, err := world.List(t.Context(), world.actor, Filter{}, firstPage)
		if err != nil || total != 1 || len(list) != 1 {
			t.Fatalf("customers %v of %d, %v; want the one", list, total, err)
		}
		found, err := world.Find(t.Context(), world.actor, list[0].ID)
		found.CreatedAt, found.UpdatedAt = found.CreatedAt.UTC(), found.UpdatedAt.UTC()
		if err != nil || found != before {
			t.Errorf("customer %+v, %v\nwant %+v", found, err, before)
		}
		if got := world.recorded(t); len(got) != 1 {
			t.Errorf("events %v, want the first creation alone", got)
		}
	})
}
