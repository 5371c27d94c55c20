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
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			name := []string{strings.TrimPrefix(family.GetName(), "carteira_reminder_")}
			for _, pair := range metric.GetLabel() {
				name = append(name, pair.GetValue())
			}
			values[strings.Join(name, " ")] = metric.GetGauge().GetValue() + metric.GetCounter().GetValue() + float64(metric.GetHistogram().GetSampleCount())
		}
	}
	return values
}

func TestMetricsTellWhatBecameOfMessages(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.carrier.answers(func(kind string, letter Letter) (string, error) {
			switch letter.Name {
			case "Doubtful":
				return hanging(kind, letter)
			case "Refused":
				return refusing(kind, letter)
			case "Refused once":
				return only("zap", refusing)(kind, letter)
			}
			return "", nil
		})
		house.usual()
		for _, name := range []string{"Ana", "Bia", "Doubtful", "Refused", "Refused once"} {
			house.customer("2026-01-24", "name", name)
		}
		house.customer("2026-01-24", "whatsapp", "", "email", "")
		house.work()
		house.at("2026-01-21 09:00")
		house.clock.Advance(7 * time.Second)
		if got := house.scrape()["oldest_due_seconds"]; got != 7 {
			t.Errorf("the oldest is due for %v seconds", got)
		}
		house.send()
		got := house.scrape()
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
