package reminder

import (
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
)

func panicking(string, Letter) (string, error) { panic("index out of range") }

// Preparing panics, before anything was sent: nothing ends the claim but its
// lease, and the message fails in the end. The others go out.
func TestMessageThatKeepsPanickingIsSetAside(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		asked := 0
		h.payments.asked = func() {
			asked++
			panic("nil map")
		}
		channel := h.channel("zap")
		h.remind(-3, "09:00", h.template("Olá"), channel)
		h.due([]int64{channel}, "{payment_link}", "plan_id", number(h.plan("35.00")))
		for range 10 {
			h.send()
			h.clock.Advance(lease + time.Second)
		}
		if asked != worker.MaxStrikes {
			t.Errorf("prepared %d times", asked)
		}
		if got := h.carrier.taken(); len(got) != 1 {
			t.Errorf("sent %+v", got)
		}
		for _, m := range h.log() {
			if m.Status != Sent {
				h.want(m, Failed, reasonAside)
			}
		}
		if got := h.scrape()["set_aside_total"]; got != 1 {
			t.Errorf("counted %v", got)
		}
	})
}

func TestChannelThatPanicsLeavesItToAPersonWhetherTheMessageWasSent(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.carrier.answers(panicking)
		h.due([]int64{h.channel("zap")}, "Olá")
		h.send()
		h.want(h.only(), Unknown, "it may or may not have been sent")
	})
}

func TestChannelThatPanicsAndKnowsRepeatsIsTriedAFewTimes(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.carrier.answers(panicking)
		h.due([]int64{h.channel("own")}, "Olá")
		for range 20 {
			h.send()
			h.clock.Advance(20 * time.Minute)
		}
		h.want(h.only(), Failed, "did not succeed")
		if n := h.only().Attempts; n != len(retryDelays)+1 {
			t.Errorf("%d attempts", n)
		}
	})
}

// Without a time zone, deciding panics.
func TestMessageOverWhichDecidingPanicsFailsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.due([]int64{h.channel("zap")}, "Olá")
		must(t, h.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			list, err := candidates(t.Context(), tx, h.actor.Company.ID, []int64{h.only().ID})
			must(t, err)
			w, err := h.companyStateOf(t.Context(), tx, h.actor)
			must(t, err)
			w.actor.Company.Zone = nil
			if r := h.ruleSafely(t.Context(), tx, w, list[0]); r.status != Failed || r.reason != reasonAside {
				t.Errorf("decided %+v", r)
			}
			return nil
		}))
	})
}
