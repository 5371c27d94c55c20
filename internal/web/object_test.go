package web

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

// written has a field of every kind that Object writes.
type written struct {
	Name    string      `json:"name"`
	Empty   string      `json:"empty"`
	Notes   *string     `json:"notes"`
	Count   int64       `json:"count"`
	Active  bool        `json:"active"`
	Value   money.Cents `json:"value"`
	Nothing any         `json:"nothing"`
	Inner   inner       `json:"inner"`
	None    struct{}    `json:"none"`
	List    []inner     `json:"list"`
	Made    any         `json:"made"`
	Unmade  any         `json:"unmade"`
}

type inner struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

func (i *inner) write(object *Object) {
	object.Int("id", i.ID)
	object.String("name", i.Name)
}

func (w *written) write(object *Object) {
	object.String("name", w.Name)
	object.String("empty", w.Empty)
	notes := ""
	if w.Notes != nil {
		notes = *w.Notes
	}
	object.Text("notes", notes)
	object.Int("count", w.Count)
	object.Bool("active", w.Active)
	object.Money("value", w.Value)
	object.Null("nothing")
	object.Object("inner", w.Inner.write)
	object.Object("none", func(*Object) {})
	Objects(object, "list", w.List, func(object *Object, inner *inner) { inner.write(object) })
	object.Data("made", JSON(w.Made))
	object.Data("unmade", nil)
}

func wantObject(t *testing.T, written written) {
	t.Helper()
	want, err := json.Marshal(written)
	if err != nil {
		t.Fatal(err)
	}
	if got := One(written.write)(nil); string(got) != string(want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func FuzzObjectIsWhatEncodingJSONWrites(f *testing.F) {
	f.Add("João {", "<b>&\"\\,", int64(math.MinInt64), int64(-1050), true, 3)
	f.Add("", "", int64(0), int64(0), false, 0)
	f.Fuzz(func(t *testing.T, name, notes string, count, cents int64, active bool, n int) {
		w := written{
			Name: name, Count: count, Active: active, Value: money.Cents(cents),
			Inner: inner{count, notes}, List: []inner{}, Made: map[string]any{"a": []string{name}},
		}
		if notes != "" {
			w.Notes = &notes
		}
		for i := range n % 4 {
			w.List = append(w.List, inner{int64(i), name})
		}
		wantObject(t, w)
	})
}

func TestDatesAndTimesOfAnObject(t *testing.T) {
	zone, err := civil.LoadZone("America/Sao_Paulo")
	if err != nil {
		t.Fatal(err)
	}
	got := AppendObject([]byte("x"), func(object *Object) {
		object.Date("day", civil.MustParse("2026-02-28"))
		object.Date("none", civil.Date{})
		object.Time("at", time.Date(2026, 2, 28, 12, 0, 0, 0, time.UTC), zone)
		object.Time("never", time.Time{}, zone)
	})
	want := `x{"day":"2026-02-28","none":null,"at":"2026-02-28T09:00:00-03:00","never":null}`
	if string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
}
