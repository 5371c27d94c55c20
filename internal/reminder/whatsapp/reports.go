package whatsapp

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"carteira/internal/reminder"
)

// reporter reads the calls of Meta's webhook, field messages.
type reporter struct{}

// maxChallenge is more than any challenge that Meta asks for.
const maxChallenge = 200

// Challenge implements reminder.Reporter. Meta asks once, when the address is
// entered in the app's configuration.
func (reporter) Challenge(token string, query url.Values) (string, error) {
	given, challenge := query.Get("hub.verify_token"), query.Get("hub.challenge")
	same := subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1
	if query.Get("hub.mode") != "subscribe" || token == "" || !same || len(challenge) > maxChallenge {
		return "", reminder.ErrForged
	}
	return challenge, nil
}

// Reports implements reminder.Reporter.
func (reporter) Reports(options map[string]string, call reminder.Call) ([]reminder.Report, error) {
	if options["app_secret"] == "" {
		return nil, reminder.ErrNotAwaited
	}
	if !signed([]byte(options["app_secret"]), call) {
		return nil, reminder.ErrForged
	}
	var told notification
	if err := json.Unmarshal(call.Body, &told); err != nil {
		return nil, reminder.ErrUnreadable
	}
	return told.reports(), nil
}

// signed checks the signature of the bytes as they came.
func signed(secret []byte, call reminder.Call) bool {
	text, ok := strings.CutPrefix(call.Header.Get("X-Hub-Signature-256"), "sha256=")
	given, err := hex.DecodeString(text)
	mac := hmac.New(sha256.New, secret)
	mac.Write(call.Body)
	return ok && err == nil && hmac.Equal(given, mac.Sum(nil))
}

// notification is a call of Meta's, as far as it is about messages that we sent.
// One call may have several entries, changes and statuses.
type notification struct {
	Object string `json:"object"`
	Entry  []struct {
		Changes []struct {
			Field string `json:"field"`
			Value struct {
				Statuses []status `json:"statuses"`
			} `json:"value"`
		} `json:"changes"`
	} `json:"entry"`
}

type status struct {
	ID        string  `json:"id"`
	Status    string  `json:"status"`
	Timestamp string  `json:"timestamp"` // seconds
	Mark      string  `json:"biz_opaque_callback_data"`
	Errors    []issue `json:"errors"`
}

// issue is Meta's error, in an answer or in a status.
type issue struct {
	Code    int    `json:"code"`
	Title   string `json:"title"`
	Message string `json:"message"`
	Data    struct {
		Details string `json:"details"`
	} `json:"error_data"`
}

func (n notification) reports() (list []reminder.Report) {
	if n.Object != "whatsapp_business_account" {
		return nil
	}
	for _, entry := range n.Entry {
		for _, change := range entry.Changes {
			if change.Field != "messages" {
				continue
			}
			for _, status := range change.Value.Statuses {
				if report, ok := status.report(); ok {
					list = append(list, report)
				}
			}
		}
	}
	return list
}

// arrivals are Meta's words. A voice message that was listened to is read;
// others, such as deleted and warning, say nothing about the arrival.
var arrivals = map[string]reminder.Arrival{
	"sent": reminder.ArrivalSent, "delivered": reminder.ArrivalDelivered,
	"read": reminder.ArrivalRead, "played": reminder.ArrivalRead, "failed": reminder.ArrivalFailed,
}

func (s status) report() (reminder.Report, bool) {
	arrival, known := arrivals[s.Status]
	if !known || s.ID == "" {
		return reminder.Report{}, false
	}
	report := reminder.Report{Mark: reminder.ParseMark(s.Mark), Receipt: s.ID, Arrival: arrival}
	if seconds, err := strconv.ParseInt(s.Timestamp, 10, 64); err == nil && seconds > 0 {
		report.At = time.Unix(seconds, 0)
	}
	if arrival == reminder.ArrivalFailed {
		report.Problem = s.problem()
	}
	return report, true
}

func (s status) problem() error {
	if len(s.Errors) == 0 {
		return &reminder.Refusal{Reason: "Meta reported a failure without a reason"}
	}
	return s.Errors[0].problem(0)
}
