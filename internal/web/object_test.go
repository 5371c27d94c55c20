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

func (i *inner) write(o *Object) {
	o.Int("id", i.ID)
	o.String("name", i.Name)
}

func (w *written) write(o *Object) {
	o.String("name", w.Name)
	o.String("empty", w.Empty)
	notes := ""
	if w.Notes != nil {
		notes = *w.Notes
	}
	o.Text("notes", notes)
	o.Int("count", w.Count)
	o.Bool("active", w.Active)
	o.Money("value", w.Value)
	o.Null("nothing")
	o.Object("inner", w.Inner.write)
	o.Object("none", func(*Object) {})
	Objects(o, "list", w.List, func(o *Object, i *inner) { i.write(o) })
	o.Data("made", JSON(w.Made))
	o.Data("unmade", nil)
}

func wantObject(t *testing.T, w written) {
	t.Helper()
	want, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	if got := One(w.write)(nil); string(got) != string(want) {
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
	got := AppendObject([]byte("x"), func(o *Object) {
		o.Date("day", civil.MustParse("2026-02-28"))
		o.Date("none", civil.Date{})
		o.Time("at", time.Date(2026, 2, 28, 12, 0, 0, 0, time.UTC), zone)
		o.Time("never", time.Time{}, zone)
	})
	want := `x{"day":"2026-02-28","none":null,"at":"2026-02-28T09:00:00-03:00","never":null}`
	if string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
}
