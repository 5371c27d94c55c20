package reminder

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// scrape reads the engine's counters and gauges, by name and labels.
func (h *house) scrape() map[string]float64 {
	h.t.Helper()
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(h.Metrics()...)
	families, err := reg.Gather()
	must(h.t, err)
	values := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := []string{strings.TrimPrefix(f.GetName(), "carteira_reminder_")}
			for _, l := range m.GetLabel() {
				name = append(name, l.GetValue())
			}
			values[strings.Join(name, " ")] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return values
}

func TestMetricsTellWhatBecameOfMessages(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.carrier.answers(func(kind string, l Letter) (string, error) {
			switch l.Name {
			case "Doubtful":
				return hanging(kind, l)
			case "Refused":
				return refusing(kind, l)
			case "Refused once":
				return only("zap", refusing)(kind, l)
			}
			return "", nil
		})
		h.usual()
		for _, name := range []string{"Ana", "Bia", "Doubtful", "Refused", "Refused once"} {
			h.customer("2026-01-24", "name", name)
		}
		h.customer("2026-01-24", "whatsapp", "", "email", "")
		h.work()
		h.at("2026-01-21 09:00")
		h.clock.Advance(7 * time.Second)
		if got := h.scrape()["oldest_due_seconds"]; got != 7 {
			t.Errorf("the oldest is due for %v seconds", got)
		}
		h.send()
		got := h.scrape()
		for name, want := range map[string]float64{
			"messages_total zap sent": 2, "messages_total zap unknown": 1, "messages_total zap retried": 2, "messages_total mail sent": 1,
			"messages_total mail failed": 1, "messages_total zap skipped": 1, "unknown": 1, "oldest_due_seconds": 0, "lag_seconds": 7,
		} {
			if got[name] != want {
				t.Errorf("%s is %v, want %v; all: %v", name, got[name], want, got)
			}
		}
	})
}
