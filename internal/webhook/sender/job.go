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
	signers  sync.Pool
}

// signer signs the deliveries of the lane. Their secret is opened once for all
// that were claimed together. The caller puts it back into signers.
func (r *recipient) signer(box *secret.Box, purpose func() string) (*signer, error) {
	r.once.Do(func() {
		if r.key, r.err = box.Open(r.sealed, purpose()); r.err == nil && r.old != "" {
			r.oldKey, r.err = box.Open(r.old, purpose())
		}
	})
	if r.err != nil {
		return nil, r.err
	}
	if known, ok := r.signers.Get().(*signer); ok {
		return known, nil
	}
	made := newSigner(r.key)
	if r.oldKey != nil {
		made.old, made.oldUntil = newSigner(r.oldKey), r.oldUntil
	}
	return made, nil
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
func (j Job) headers(at time.Time, signer *signer) http.Header {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	header, values := make(http.Header, maxHeaders), make([]string, 0, maxHeaders)
	set := func(name, value string) {
		values = append(values, value)
		header[name] = values[len(values)-1 : len(values) : len(values)]
	}
	set("Content-Type", "application/json")
	set("X-Service-Event", string(j.event))
	set("X-Service-Delivery", j.eventID)
	set("X-Service-Timestamp", timestamp)
	set("X-Service-Signature", "sha256="+signer.sign(timestamp, j.body))
	old := signer.old
	if old != nil && !at.Before(signer.oldUntil) {
		old = nil
	}
	if old != nil {
		set("X-Service-Signature-Old", "sha256="+old.sign(timestamp, j.body))
	}
	if signature := signer.signStandard(j.eventID, timestamp, j.body); signature != "" {
		if old != nil {
			signature = strings.TrimSpace(signature + " " + old.signStandard(j.eventID, timestamp, j.body))
		}
		set("Webhook-Id", j.eventID)
		set("Webhook-Timestamp", timestamp)
		set("Webhook-Signature", signature)
	}
	return header
}

// maxHeaders is how many a delivery may have.
const maxHeaders = 9

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
	// finishing: nothing more is sent; accepted attempts are still being recorded.
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
	emptied                   // there is nothing left to send
	stopped                   // this process stops
	failed                    // an attempt was not accepted
	unrecordable              // the outcome of an attempt could not be recorded
	expired                   // the lease was not renewed in time
	drained                   // everything that has begun is recorded
	released                  // the lease was given back
)

// transitions is the whole life of a lane; docs/webhooks.md has the picture.
// An input that is not listed for a state leaves it as it is.
var transitions = map[state]map[input]state{
	idle:     {asked: claiming},
	claiming: {granted: sending, denied: idle},
	sending: {
		emptied:      finishing,
		stopped:      finishing,
		failed:       draining,
		unrecordable: abandoned,
		expired:      abandoned,
	},
	finishing: {
		failed:       draining,
		drained:      releasing,
		released:     idle,
		unrecordable: abandoned,
		expired:      abandoned,
	},
	draining:  {drained: releasing, released: idle, unrecordable: abandoned, expired: abandoned},
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
