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
	h.changeCompany(func(company *account.Company) { company.Zone = location })
}

func (h *house) quiet(from, to string) {
	h.t.Helper()
	_, err := h.SetSettings(h.t.Context(), h.actor, ReadSettings(values("quiet_from", from, "quiet_to", to)))
	must(h.t, err)
}

func (h *house) wantRunAt(message Message, want string) {
	h.t.Helper()
	if got := message.RunAt.In(h.actor.Company.Zone).Format("2006-01-02 15:04"); message.Status != Scheduled || got != want {
		h.t.Errorf("message is %s for %s, want it scheduled for %s", message.Status, got, want)
	}
}

func TestChangeOfTimeZoneMovesWhatIsPlanned(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.usual()
		house.customer("2026-01-24") // three days before is tomorrow
		house.work()
		if at := house.only().RunAt.UTC(); at != time.Date(2026, 1, 21, 12, 0, 0, 0, time.UTC) {
			t.Fatalf("planned for %v", at)
		}
		house.moveTo("America/Noronha") // an hour to the east
		house.work()
		if at := house.only().RunAt.UTC(); at != time.Date(2026, 1, 21, 11, 0, 0, 0, time.UTC) {
			t.Errorf("planned for %v, want 9:00 of the new zone", at)
		}
		house.at("2026-01-21 09:00")
		house.work()
		house.want(house.only(), Sent, "")
	})
}

// A time zone that leads past the hour of a message, or past its day, must not
// lose it without a record.
func TestMessageWhoseHourTheNewZoneHasPassedGoesOutAtOnce(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.remind(0, "20:00", house.template("Olá"), house.channel("zap"))
		house.customer("2026-01-20")
		house.work()
		house.at("2026-01-20 19:00") // 11:00 of the 21st in Auckland
		house.moveTo("Pacific/Auckland")
		house.work()
		house.want(house.only(), Sent, "")
		if n := len(house.carrier.taken()); n != 1 {
			t.Errorf("%d messages were sent", n)
		}
	})
}

func TestZoneThereAndBackSendsEachMessageOnce(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.usual()
		house.customer("2026-01-23")
		house.customer("2026-01-24")
		house.work()
		for _, zone := range []string{"Pacific/Auckland", "America/Los_Angeles", "America/Sao_Paulo"} {
			house.moveTo(zone)
			house.work()
		}
		for _, at := range []string{"2026-01-20 09:00", "2026-01-21 09:00", "2026-01-22 09:00"} {
			house.at(at)
			house.work()
		}
		sent := map[int64]int{}
		for _, letter := range house.carrier.taken() {
			sent[letter.CustomerID]++
		}
		if len(sent) != 2 || sent[1] != 1 || sent[2] != 1 {
			t.Errorf("sent by customer: %v, want one each", sent)
		}
	})
}

func TestQuietHoursChangedAtNightKeepWhatWaitsForTheMorning(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.remind(-3, "22:00", house.template("Olá"), house.channel("zap"))
		house.customer("2026-01-24")
		house.work()
		house.wantRunAt(house.only(), "2026-01-22 08:00")
		house.at("2026-01-21 23:30")
		house.quiet("23:00", "07:00") // 22:00 was none of these
		house.work()
		house.wantRunAt(house.only(), "2026-01-22 07:00")
		house.at("2026-01-22 06:59")
		house.work()
		house.wantRunAt(house.only(), "2026-01-22 07:00")
		house.at("2026-01-22 07:00")
		house.work()
		house.want(house.only(), Sent, "")
	})
}

func TestWhatWaitsForTheMorningIsStillTooLateTheDayAfter(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.remind(-3, "22:00", house.template("Olá"), house.channel("zap"))
		house.customer("2026-01-24")
		house.work()
		house.at("2026-01-21 23:30")
		house.quiet("23:00", "07:00")
		house.at("2026-01-23 07:00") // nothing ran on the 22nd
		house.work()
		house.want(house.only(), Skipped, "too late")
	})
}

func TestQuietHoursThatEndAtNightLetTheMessageGoAtOnce(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.remind(-3, "22:00", house.template("Olá"), house.channel("zap"))
		house.customer("2026-01-24")
		house.work()
		house.at("2026-01-21 23:30")
		house.quiet("03:00", "03:00") // none
		house.work()
		house.want(house.only(), Sent, "")
	})
}

// What a carrier refused for the moment waits for its next try, and the hours
// may change meanwhile.
func TestQuietHoursChangedBetweenTwoTriesKeepTheSecond(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.remind(-3, "22:00", house.template("Olá"), house.channel("zap"))
		house.customer("2026-01-24")
		house.work()
		house.carrier.answers(func(string, Letter) (string, error) { return "", &Passing{Reason: "busy"} })
		house.at("2026-01-22 08:00")
		house.work()
		house.quiet("23:00", "07:00")
		house.carrier.answers(nil)
		house.at("2026-01-22 08:30")
		house.work()
		house.want(house.only(), Sent, "")
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
		if err := h.accounts.SaveTx(h.t.Context(), program.In(tx), &change); err != nil {
			return err
		}
		return h.CompanyChanged(h.t.Context(), tx, account.Changes{Actor: program, List: []account.Change{change}})
	}))
}
