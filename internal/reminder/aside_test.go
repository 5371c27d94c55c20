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
	each(t, func(t *testing.T, house *house) {
		asked := 0
		house.payments.asked = func() {
			asked++
			panic("nil map")
		}
		channel := house.channel("zap")
		house.remind(-3, "09:00", house.template("Olá"), channel)
		house.due([]int64{channel}, "{payment_link}", "plan_id", number(house.plan("35.00")))
		for range 10 {
			house.send()
			house.clock.Advance(lease + time.Second)
		}
		if asked != worker.MaxStrikes {
			t.Errorf("prepared %d times", asked)
		}
		if got := house.carrier.taken(); len(got) != 1 {
			t.Errorf("sent %+v", got)
		}
		for _, message := range house.log() {
			if message.Status != Sent {
				house.want(message, Failed, reasonAside)
			}
		}
		if got := house.scrape()["set_aside_total"]; got != 1 {
			t.Errorf("counted %v", got)
		}
	})
}

func TestChannelThatPanicsLeavesItToAPersonWhetherTheMessageWasSent(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.carrier.answers(panicking)
		house.due([]int64{house.channel("zap")}, "Olá")
		house.send()
		house.want(house.only(), Unknown, "it may or may not have been sent")
	})
}

func TestChannelThatPanicsAndKnowsRepeatsIsTriedAFewTimes(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.carrier.answers(panicking)
		house.due([]int64{house.channel("own")}, "Olá")
		for range 20 {
			house.send()
			house.clock.Advance(20 * time.Minute)
		}
		house.want(house.only(), Failed, "did not succeed")
		if n := house.only().Attempts; n != len(retryDelays)+1 {
			t.Errorf("%d attempts", n)
		}
	})
}

// Without a time zone, deciding panics.
func TestMessageOverWhichDecidingPanicsFailsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.due([]int64{house.channel("zap")}, "Olá")
		must(t, house.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			list, err := candidates(t.Context(), tx, house.actor.Company.ID, []int64{house.only().ID})
			must(t, err)
			state, err := house.companyStateOf(t.Context(), house.actor.In(tx))
			must(t, err)
			state.actor.Company.Zone = nil
			if decision := house.ruleSafely(t.Context(), tx, state, list[0]); decision.status != Failed || decision.reason != reasonAside {
				t.Errorf("decided %+v", decision)
			}
			return nil
		}))
	})
}
