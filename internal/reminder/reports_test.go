package reminder

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/billing"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// teller reads reports in the test carrier's own language: the region of the
// channel proves them.
type teller struct{}

type telling struct {
	Mark, Receipt, Arrival, Problem string
	Passing                         bool
	At                              int64
}

func (teller) Challenge(token string, query url.Values) (string, error) {
	if query.Get("token") != token {
		return "", ErrForged
	}
	return query.Get("challenge"), nil
}

func (teller) Reports(options map[string]string, call Call) (list []Report, err error) {
	if call.Header.Get("Proof") != options["region"] {
		return nil, ErrForged
	}
	var told []telling
	if err := json.Unmarshal(call.Body, &told); err != nil {
		return nil, ErrUnreadable
	}
	for _, one := range told {
		report := Report{Mark: ParseMark(one.Mark), Receipt: one.Receipt, Arrival: Arrival(one.Arrival)}
		if one.At != 0 {
			report.At = time.Unix(one.At, 0)
		}
		if one.Problem != "" {
			report.Problem = &Refusal{Reason: one.Problem}
		}
		if one.Passing {
			report.Problem = &Passing{Reason: one.Problem}
		}
		list = append(list, report)
	}
	return list, nil
}

// tell calls as the carrier of a kind of channel does.
func (h *house) tell(kind string, told ...telling) error {
	h.t.Helper()
	body, err := json.Marshal(told)
	must(h.t, err)
	key, err := sqldb.Value[string](h.t.Context(), h.db,
		`SELECT callback_key FROM reminder_channels WHERE company_id = ? AND kind = ?`, h.actor.Company.ID, kind)
	must(h.t, err)
	return h.ReceiveReports(h.t.Context(), kind, key, Call{Header: http.Header{}, Body: body})
}

// sentMessage is a message that WhatsApp has taken under a receipt, and that mail
// follows.
func (h *house) sentMessage() Message {
	h.t.Helper()
	h.carrier.answers(func(kind string, _ Letter) (string, error) { return kind + "-1", nil })
	h.due([]int64{h.channel("zap"), h.channel("mail")}, "Olá")
	h.send()
	message := h.only()
	h.want(message, Sent, "")
	if got := h.carrier.taken(); len(got) != 1 || message.Receipt != "zap-1" {
		h.t.Fatalf("%d letters, receipt %q", len(got), message.Receipt)
	}
	return message
}

func (h *house) wantArrival(arrival Arrival) {
	h.t.Helper()
	if got := h.only(); got.Arrival != arrival {
		h.t.Errorf("the arrival is %q, want %q", got.Arrival, arrival)
	}
}

// wantLetters wants what has come to these addresses since it was last looked at.
func (h *house) wantLetters(addresses ...string) {
	h.t.Helper()
	var got []string
	for _, letter := range h.carrier.taken() {
		got = append(got, letter.To)
	}
	if !slices.Equal(got, addresses) {
		h.t.Errorf("letters to %v, want %v", got, addresses)
	}
}

func TestArrivalNeverGoesBack(t *testing.T) {
	for _, order := range []string{
		"sent delivered read", "read delivered sent", "delivered sent read read", "sent sent", "delivered failed", "failed delivered",
		"failed sent delivered read", "read failed",
	} {
		t.Run(order, func(t *testing.T) {
			each(t, func(t *testing.T, house *house) {
				house.sentMessage()
				best := Arrival("")
				for arrival := range strings.FieldsSeq(order) {
					must(t, house.tell("zap", telling{Receipt: "zap-1", Arrival: arrival}))
					if Arrival(arrival).outweighs(best) {
						best = Arrival(arrival)
					}
					house.wantArrival(best)
				}
				house.send()
				house.want(house.only(), Sent, "")
				house.wantLetters() // a customer who has the message gets no other
			})
		})
	}
}

func TestSeveralReportsInOneCall(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		message := house.sentMessage()
		at := house.clock.Now().Add(-time.Minute)
		must(t, house.tell("zap", telling{Receipt: "somebody else's", Arrival: "read"},
			telling{Receipt: "", Arrival: "read"}, telling{Receipt: "zap-1", Arrival: "delivered", At: at.Unix()},
			telling{Receipt: "zap-1", Arrival: "read", At: house.clock.Now().Add(time.Hour).Unix()}))
		_, tries, err := house.FindMessage(t.Context(), house.actor, message.ID)
		must(t, err)
		if len(tries) != 1 || tries[0].Arrival != ArrivalRead || tries[0].ArrivalAt.After(house.clock.Now()) {
			t.Errorf("attempts %+v", tries)
		}
		read, _, err := house.Messages(t.Context(), house.actor, Filter{Arrival: ArrivalRead}, pageOf(5))
		must(t, err)
		none, _, err := house.Messages(t.Context(), house.actor, Filter{Arrival: ArrivalDelivered}, pageOf(5))
		must(t, err)
		if len(read) != 1 || len(none) != 0 {
			t.Errorf("%d read, %d delivered", len(read), len(none))
		}
		got := house.scrape()
		for name, want := range map[string]float64{
			"reports_total delivered zap": 1, "reports_total read zap": 1, "reports_total ignored zap": 2,
			"carrier_calls_total zap accepted": 1,
		} {
			if got[name] != want {
				t.Errorf("%s is %v, want %v; all: %v", name, got[name], want, got)
			}
		}
	})
}

func TestCallsThatAreNotTheCarriersAreRefused(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		house.sentMessage()
		list, err := house.Channels(t.Context(), house.actor)
		must(t, err)
		zap := list[0]
		call := Call{Header: http.Header{"Proof": {"forged"}}, Body: []byte(`[{"Receipt":"zap-1","Arrival":"read"}]`)}
		wantKind(t, house.ReceiveReports(t.Context(), "zap", zap.CallbackKey, call), fault.KindUnauthenticated)
		wantKind(t, house.ReceiveReports(t.Context(), "mail", zap.CallbackKey, call), fault.KindNotFound)
		wantKind(t, house.ReceiveReports(t.Context(), "zap", "", call), fault.KindNotFound)
		wantKind(t, house.ReceiveReports(t.Context(), "zap", "guess", call), fault.KindNotFound)
		call = Call{Header: http.Header{}, Body: []byte(`nonsense`)}
		wantKind(t, house.ReceiveReports(t.Context(), "zap", zap.CallbackKey, call), fault.KindInvalid)
		house.wantArrival("")
		answer, err := house.ConfirmCallback(t.Context(), "zap", zap.CallbackKey, url.Values{"token": {zap.VerifyToken}, "challenge": {"42"}})
		if err != nil || answer != "42" {
			t.Errorf("%q, %v", answer, err)
		}
		_, err = house.ConfirmCallback(t.Context(), "zap", zap.CallbackKey, url.Values{"token": {"guess"}})
		wantKind(t, err, fault.KindForbidden)
	})
}

// A company's carrier says nothing about another company's messages, and nothing
// about attempts that were never made.
func TestReportsOfStrangersChangeNothing(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		message := house.sentMessage()
		other := *house
		other.actor = house.company("America/Sao_Paulo")
		other.channel("zap")
		mark := Mark{MessageID: message.ID, Key: message.Key, Number: 1}
		must(t, other.tell("zap", telling{Receipt: "zap-1", Arrival: "failed"}, telling{Mark: mark.String(), Arrival: "failed"}))
		for _, wrong := range []Mark{
			{message.ID, "msg_guessed", 1}, {message.ID, message.Key, 2}, {message.ID + 1, message.Key, 1},
		} {
			must(t, house.tell("zap", telling{Mark: wrong.String(), Receipt: "zap-1", Arrival: "failed"}))
		}
		must(t, house.tell("zap", telling{Mark: mark.String(), Receipt: "another receipt", Arrival: "failed"}))
		must(t, house.tell("mail", telling{Receipt: "zap-1", Arrival: "failed"}, telling{Mark: mark.String(), Arrival: "failed"}))
		house.wantArrival("")
		house.want(house.only(), Sent, "")
	})
}

func TestFailureToldLaterGoesToTheNextChannelOnce(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		message := house.sentMessage()
		second := house.process(t)
		failed := telling{Receipt: "zap-1", Arrival: "failed", Problem: "not on WhatsApp"}
		marked := failed
		marked.Mark = Mark{message.ID, message.Key, 1}.String()
		var all sync.WaitGroup
		for i, process := range slices.Repeat([]*testHouse{house, second}, 5) {
			all.Go(func() {
				told := failed
				if i%3 == 0 {
					told = marked
				}
				if err := process.tell("zap", told); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		house.want(house.only(), Scheduled, "channel refused: not on WhatsApp")
		all.Go(house.send)
		all.Go(second.send)
		all.Wait()
		must(t, house.tell("zap", failed))
		house.send()
		house.wantLetters("ana@example.com")
		message = house.only()
		house.want(message, Sent, "")
		_, tries, err := house.FindMessage(t.Context(), house.actor, message.ID)
		must(t, err)
		if len(tries) != 2 || tries[0].Outcome != "accepted" || tries[0].Arrival != ArrivalFailed ||
			tries[0].ArrivalProblem != "not on WhatsApp" || tries[1].Kind != "mail" || message.Arrival != "" {
			t.Errorf("attempts %+v of %+v", tries, message)
		}
	})
}

type testHouse = house

func TestFailureToldLaterObeysWhatIsTrueThen(t *testing.T) {
	failed := telling{Receipt: "zap-1", Arrival: "failed", Problem: "not on WhatsApp"}
	for name, tt := range map[string]struct {
		before func(h *house)
		told   telling
		status Status
		reason string
		mails  []string
	}{
		"paid meanwhile": {before: func(h *house) {
			h.exec(`UPDATE invoices SET status = ?`, string(billing.Paid))
		}, told: failed, status: Skipped, reason: "already paid"},
		"opted out": {before: func(h *house) {
			must(h.t, h.SetOptOut(h.t.Context(), h.actor, 1, true))
		}, told: failed, status: Skipped, reason: "opted out"},
		"the next day": {
			before: func(h *house) { h.at("2026-01-22 09:00") }, told: failed,
			status: Failed, reason: "not sent in time: channel refused: not on WhatsApp",
		},
		"no next channel": {before: func(h *house) {
			h.exec(`UPDATE reminder_rules SET channels = ',1,'`)
		}, told: failed, status: Failed, reason: "channel refused: not on WhatsApp"},
		"the rule was deleted": {before: func(h *house) {
			h.exec(`DELETE FROM reminder_rules`)
		}, told: failed, status: Failed, reason: "channel refused: not on WhatsApp"},
		"a limit that passes": {
			told:   telling{Receipt: "zap-1", Arrival: "failed", Problem: "too many", Passing: true},
			status: Scheduled, reason: "too many",
		},
		"without a reason": {told: telling{Receipt: "zap-1", Arrival: "failed"}, status: Sent, mails: []string{"ana@example.com"}},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, house *house) {
				house.plan("35.00")
				house.sentMessageOfInvoice()
				if tt.before != nil {
					tt.before(house)
				}
				must(t, house.tell("zap", tt.told))
				house.send()
				house.want(house.only(), tt.status, tt.reason)
				house.wantLetters(tt.mails...)
			})
		})
	}
}

// sentMessageOfInvoice is sentMessage to a customer who owes an invoice.
func (h *house) sentMessageOfInvoice() {
	h.t.Helper()
	h.carrier.answers(func(kind string, _ Letter) (string, error) { return kind + "-1", nil })
	h.remind(-3, "09:00", h.template("Olá"), h.channel("zap"), h.channel("mail"))
	h.customer("2026-01-24", "plan_id", "1")
	_, err := h.billing.Issue(h.t.Context(), h.actor)
	must(h.t, err)
	h.work()
	h.at("2026-01-21 09:00")
	h.send()
	h.want(h.only(), Sent, "")
	h.carrier.taken()
}

// A carrier may call before its answer is written down here, and after the
// process that sent the message has died.
func TestReportOvertakesTheOutcome(t *testing.T) {
	for name, tt := range map[string]struct {
		told   string
		answer error
		status Status
		last   Arrival
		mails  []string
	}{
		"delivered":                     {told: "delivered", status: Sent, last: ArrivalDelivered},
		"delivered, and no answer":      {told: "delivered", answer: &Doubt{Reason: "no answer"}, status: Sent, last: ArrivalDelivered},
		"failed":                        {told: "failed", status: Sent, mails: []string{"ana@example.com"}},
		"failed, and no answer":         {told: "failed", answer: &Doubt{Reason: "no answer"}, status: Sent, mails: []string{"ana@example.com"}},
		"refused, whatever is reported": {told: "sent", answer: &Refusal{Reason: "no"}, status: Sent, mails: []string{"ana@example.com"}},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, house *house) {
				house.carrier.answers(func(kind string, letter Letter) (string, error) {
					if kind == "mail" {
						return "mail-1", nil
					}
					must(t, house.tell("zap", telling{Mark: letter.Mark.String(), Receipt: "zap-1", Arrival: tt.told}))
					return "zap-1", tt.answer
				})
				house.due([]int64{house.channel("zap"), house.channel("mail")}, "Olá")
				house.send()
				house.want(house.only(), tt.status, "")
				house.wantArrival(tt.last)
				var mails []string
				for _, letter := range house.carrier.taken() {
					if strings.Contains(letter.To, "@") {
						mails = append(mails, letter.To)
					}
				}
				if !slices.Equal(mails, tt.mails) {
					t.Errorf("mails to %v, want %v", mails, tt.mails)
				}
			})
		})
	}
}

func TestReportSettlesWhatADeadProcessLeft(t *testing.T) {
	for _, early := range []bool{true, false} {
		for told, want := range map[string]Status{"delivered": Sent, "sent": Sent, "failed": Scheduled} {
			t.Run(fmt.Sprintf("%s early %v", told, early), func(t *testing.T) {
				each(t, func(t *testing.T, house *house) {
					house.sentMessage()
					// As it is after a death between the carrier's answer and the record.
					house.exec(`DELETE FROM reminder_attempts`)
					house.exec(`UPDATE reminder_messages SET status = 'sending', receipt = '', claim = 'gone', run_at = ?`,
						house.clock.Now().Add(lease).UnixMicro())
					message := house.only()
					report := telling{Mark: Mark{message.ID, message.Key, 1}.String(), Receipt: "zap-1", Arrival: told, Problem: "no"}
					if early {
						must(t, house.tell("zap", report))
						house.want(house.only(), Sending, "")
					}
					house.clock.Advance(lease + time.Second)
					must(t, house.recover(t.Context()))
					if !early {
						house.want(house.only(), Unknown, "interrupted")
						must(t, house.tell("zap", report))
					}
					if got := house.only(); got.Status != want {
						t.Errorf("it is %s: %s", got.Status, got.Reason)
					}
					must(t, house.tell("zap", report))
					house.send()
					house.want(house.only(), Sent, "")
					if want == Scheduled {
						house.wantLetters("ana@example.com")
					} else {
						house.wantLetters()
					}
				})
			})
		}
	}
}

// A channel that takes messages which then fail is as broken as one that
// refuses them.
func TestChannelThatFailsLaterIsFailing(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		count := 0
		house.carrier.answers(func(string, Letter) (string, error) {
			count++
			return fmt.Sprintf("zap-%d", count), nil
		})
		house.remind(-3, "09:00", house.template("Olá"), house.channel("zap"))
		for i := range 4 {
			house.customer("2026-01-24", "name", fmt.Sprint(i))
		}
		house.work()
		house.at("2026-01-21 09:00")
		house.exec(`UPDATE reminder_channels SET per_minute = 1`)
		for number := range 3 {
			house.send()
			must(t, house.tell("zap", telling{Receipt: fmt.Sprintf("zap-%d", number+1), Arrival: "failed", Problem: "no payment method"}))
			house.clock.Advance(time.Minute)
		}
		house.send()
		channel := house.channelNamed("zap")
		if !channel.Failing() || channel.Problem != "no payment method" || channel.HeardAt.IsZero() {
			t.Errorf("channel %+v", channel)
		}
		must(t, house.tell("zap", telling{Receipt: "zap-4", Arrival: "delivered"}))
		if channel = house.channelNamed("zap"); channel.Failures != 0 {
			t.Errorf("channel %+v", channel)
		}
	})
}

func (h *house) channelNamed(kind string) Channel {
	h.t.Helper()
	list, err := h.Channels(h.t.Context(), h.actor)
	must(h.t, err)
	return list[slices.IndexFunc(list, func(channel Channel) bool { return channel.Kind == kind })]
}

func TestMarksAreReadAsTheyWereWritten(t *testing.T) {
	mark := Mark{MessageID: 12, Key: "msg_0123", Number: 3}
	for text, want := range maps.All(map[string]Mark{
		mark.String(): mark, "": {}, "order:12": {}, "carteira:": {}, "carteira:0:1:x": {}, "carteira:1:-1:x": {},
		"carteira:1:1:": {}, "carteira:1": {}, "carteira:99999999999999999999:1:x": {},
	}) {
		if got := ParseMark(text); got != want {
			t.Errorf("%q is %+v, want %+v", text, got, want)
		}
	}
	if (Mark{}).String() != "" {
		t.Error("the zero mark has a text")
	}
}
