package reminder

import (
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/sqldb"
)

// moveTo gives the company another time zone, and has the room watch as the
// program does.
func (h *house) moveTo(zone string) {
	h.t.Helper()
	location, err := civil.LoadZone(zone)
	must(h.t, err)
	h.changeCompany(func(c *account.Company) { c.Zone = location })
}

func (h *house) quiet(from, to string) {
	h.t.Helper()
	_, err := h.SetSettings(h.t.Context(), h.actor, ReadSettings(values("quiet_from", from, "quiet_to", to)))
	must(h.t, err)
}

func (h *house) wantRunAt(m Message, want string) {
	h.t.Helper()
	if got := m.RunAt.In(h.actor.Company.Zone).Format("2006-01-02 15:04"); m.Status != Scheduled || got != want {
		h.t.Errorf("message is %s for %s, want it scheduled for %s", m.Status, got, want)
	}
}

func TestChangeOfTimeZoneMovesWhatIsPlanned(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.usual()
		h.customer("2026-01-24") // three days before is tomorrow
		h.work()
		if at := h.only().RunAt.UTC(); at != time.Date(2026, 1, 21, 12, 0, 0, 0, time.UTC) {
			t.Fatalf("planned for %v", at)
		}
		h.moveTo("America/Noronha") // an hour to the east
		h.work()
		if at := h.only().RunAt.UTC(); at != time.Date(2026, 1, 21, 11, 0, 0, 0, time.UTC) {
			t.Errorf("planned for %v, want 9:00 of the new zone", at)
		}
		h.at("2026-01-21 09:00")
		h.work()
		h.want(h.only(), Sent, "")
	})
}

// A zone that leads past the hour of a message, or past its day, must not lose
// it: nobody has seen it go by.
func TestMessageWhoseHourTheNewZoneHasPassedGoesOutAtOnce(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.remind(0, "20:00", h.template("Olá"), h.channel("zap"))
		h.customer("2026-01-20")
		h.work()
		h.at("2026-01-20 19:00") // 11:00 of the 21st in Auckland
		h.moveTo("Pacific/Auckland")
		h.work()
		h.want(h.only(), Sent, "")
		if n := len(h.carrier.taken()); n != 1 {
			t.Errorf("%d messages were sent", n)
		}
	})
}

func TestZoneThereAndBackSendsEachMessageOnce(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.usual()
		h.customer("2026-01-23")
		h.customer("2026-01-24")
		h.work()
		for _, zone := range []string{"Pacific/Auckland", "America/Los_Angeles", "America/Sao_Paulo"} {
			h.moveTo(zone)
			h.work()
		}
		for _, at := range []string{"2026-01-20 09:00", "2026-01-21 09:00", "2026-01-22 09:00"} {
			h.at(at)
			h.work()
		}
		sent := map[int64]int{}
		for _, letter := range h.carrier.taken() {
			sent[letter.CustomerID]++
		}
		if len(sent) != 2 || sent[1] != 1 || sent[2] != 1 {
			t.Errorf("sent by customer: %v, want one each", sent)
		}
	})
}

func TestQuietHoursChangedAtNightKeepWhatWaitsForTheMorning(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.remind(-3, "22:00", h.template("Olá"), h.channel("zap"))
		h.customer("2026-01-24")
		h.work()
		h.wantRunAt(h.only(), "2026-01-22 08:00")
		h.at("2026-01-21 23:30")
		h.quiet("23:00", "07:00") // 22:00 was none of these
		h.work()
		h.wantRunAt(h.only(), "2026-01-22 07:00")
		h.at("2026-01-22 06:59")
		h.work()
		h.wantRunAt(h.only(), "2026-01-22 07:00")
		h.at("2026-01-22 07:00")
		h.work()
		h.want(h.only(), Sent, "")
	})
}

func TestWhatWaitsForTheMorningIsStillTooLateTheDayAfter(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.remind(-3, "22:00", h.template("Olá"), h.channel("zap"))
		h.customer("2026-01-24")
		h.work()
		h.at("2026-01-21 23:30")
		h.quiet("23:00", "07:00")
		h.at("2026-01-23 07:00") // nothing ran on the 22nd
		h.work()
		h.want(h.only(), Skipped, "too late")
	})
}

func TestQuietHoursThatEndAtNightLetTheMessageGoAtOnce(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.remind(-3, "22:00", h.template("Olá"), h.channel("zap"))
		h.customer("2026-01-24")
		h.work()
		h.at("2026-01-21 23:30")
		h.quiet("03:00", "03:00") // none
		h.work()
		h.want(h.only(), Sent, "")
	})
}

// What a carrier refused for the moment waits for its next try, and the hours
// may change meanwhile.
func TestQuietHoursChangedBetweenTwoTriesKeepTheSecond(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.remind(-3, "22:00", h.template("Olá"), h.channel("zap"))
		h.customer("2026-01-24")
		h.work()
		h.carrier.answers(func(string, Letter) (string, error) { return "", &Passing{Reason: "busy"} })
		h.at("2026-01-22 08:00")
		h.work()
		h.quiet("23:00", "07:00")
		h.carrier.answers(nil)
		h.at("2026-01-22 08:30")
		h.work()
		h.want(h.only(), Sent, "")
	})
}

// changeCompany changes the company's row and calls the room as the program
// does.
func (h *house) changeCompany(change func(*account.Company)) {
	h.t.Helper()
	must(h.t, h.db.Write(h.t.Context(), func(tx *sqldb.Tx) error {
		before, err := account.FindCompany(h.t.Context(), tx, h.actor.Company.ID)
		if err != nil {
			return err
		}
		after := before
		change(&after)
		h.actor.Company = after
		change := account.Change{
			Action: account.CompanyUpdated, Before: account.Profile{Company: before}, After: account.Profile{Company: after},
		}
		program := account.System(after, "test")
		if err := h.accounts.SaveTx(h.t.Context(), tx, program, &change); err != nil {
			return err
		}
		return h.CompanyChanged(h.t.Context(), tx, account.Changes{Actor: program, List: []account.Change{change}})
	}))
}
