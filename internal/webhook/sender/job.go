package sender

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"carteira/internal/event"
	"carteira/internal/platform/secret"
)

// Job is a claimed delivery with what is needed to send it.
type Job struct {
	id        int64
	companyID int64
	lane      int64
	webhookID int64 // 0: a notification of a single invoice
	eventID   string
	event     event.Name
	body      []byte
	url       string
	to        *recipient
	test      bool
	begun     int // attempts that have begun: the fence, which must be unchanged when this one is recorded
	number    int // of this attempt
	step      int // of the schedule of retries
	panics    int
	waited    time.Duration // since it was due, when it was claimed
	claimedAt time.Duration // by the dispatcher's clock
	lateClaim bool          // a person waited for it and was not answered in time
}

// recipient is where the deliveries of a lane go.
type recipient struct {
	url      string // of a webhook; each notification has its own
	sealed   string
	old      string    // the sealed secret before the last rotation; empty: there is none
	oldUntil time.Time // it signs too until then
	active   bool
	failures int
	retry4xx bool // a refusal by the receiver is retried
	once     sync.Once
	key      []byte
	oldKey   []byte
	err      error
}

// open opens the secrets of the lane, once for all deliveries that were claimed
// together.
func (r *recipient) open(box *secret.Box, purpose string) error {
	r.once.Do(func() {
		if r.key, r.err = box.Open(r.sealed, purpose); r.err == nil && r.old != "" {
			r.oldKey, r.err = box.Open(r.old, purpose)
		}
	})
	return r.err
}

func (j Job) secretContext() string {
	if j.webhookID == 0 {
		return CallbackContext(j.companyID)
	}
	return SecretContext(j.webhookID)
}

// SecretContext is what the secret of a webhook is sealed for.
func SecretContext(webhookID int64) string {
	return fmt.Sprintf("webhook:%d", webhookID)
}

// CallbackContext is what the callback secret of a company is sealed for.
func CallbackContext(companyID int64) string {
	return fmt.Sprintf("callback:%d", companyID)
}

// headers are those of the contract, spelled as it spells them. Until the overlap
// of a rotation ends, the old secret signs too: in a header of its own, and as the
// second of the signatures that Standard Webhooks has in one.
func (j Job) headers(at time.Time) http.Header {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	header := http.Header{}
	header.Set("Content-Type", "application/json")
	header.Set("X-Service-Event", string(j.event))
	header.Set("X-Service-Delivery", j.eventID)
	header.Set("X-Service-Timestamp", timestamp)
	header.Set("X-Service-Signature", "sha256="+Sign(j.to.key, timestamp, j.body))
	signature := signStandard(j.to.key, j.eventID, timestamp, j.body)
	if j.to.oldKey != nil && at.Before(j.to.oldUntil) {
		header.Set("X-Service-Signature-Old", "sha256="+Sign(j.to.oldKey, timestamp, j.body))
		if signature != "" {
			signature = strings.TrimSpace(signature + " " + signStandard(j.to.oldKey, j.eventID, timestamp, j.body))
		}
	}
	if signature != "" {
		header.Set("Webhook-Id", j.eventID)
		header.Set("Webhook-Timestamp", timestamp)
		header.Set("Webhook-Signature", signature)
	}
	return header
}

// state is where a lane is in this process. The row in delivery_lanes is the
// truth about which process has the lane; a state says what this process does
// about it.
type state uint8

const (
	// idle: this process does not have the lane.
	idle state = iota
	// claiming: a claim is on its way to the database.
	claiming
	// sending: the lane is leased, and its deliveries are being sent.
	sending
	// finishing: this process stops. Nothing more is sent; what has begun is recorded.
	finishing
	// draining: an attempt failed. Nothing more is sent, and when nothing is in
	// flight any more the outcomes are recorded one by one.
	draining
	// releasing: all is recorded, and the lease is being given back.
	releasing
	// abandoned: the lease has expired, or must expire by itself because an
	// outcome could not be recorded. It is neither renewed nor given back.
	abandoned
)

// input is something that happens to a lane.
type input uint8

const (
	asked        input = iota // this process asks for the lane
	granted                   // the claim brought deliveries
	denied                    // the claim brought none, or failed
	stopped                   // this process stops
	failed                    // an attempt was not accepted
	unrecordable              // the outcome of an attempt could not be recorded
	expired                   // the lease was not renewed in time
	drained                   // nothing is ready, and everything that has begun is recorded
	released                  // the lease was given back
)

// transitions is the whole life of a lane; docs/webhooks.md has the picture.
// An input that is not listed for a state leaves it as it is.
var transitions = map[state]map[input]state{
	idle:     {asked: claiming},
	claiming: {granted: sending, denied: idle},
	sending: {
		drained:      releasing,
		stopped:      finishing,
		failed:       draining,
		unrecordable: abandoned,
		expired:      abandoned,
	},
	finishing: {failed: draining, drained: releasing, unrecordable: abandoned, expired: abandoned},
	draining:  {drained: releasing, unrecordable: abandoned, expired: abandoned},
	releasing: {released: idle, expired: idle},
	abandoned: {drained: idle},
}

// on returns the state after an input.
func (s state) on(in input) state {
	if next, ok := transitions[s][in]; ok {
		return next
	}
	return s
}

// leased reports whether this process keeps the lane's lease alive.
func (s state) leased() bool {
	return s == sending || s == finishing || s == draining || s == releasing
}

var stateNames = [...]string{
	"idle", "claiming", "sending", "finishing", "draining", "releasing", "abandoned",
}

func (s state) String() string { return stateNames[s] }
