package reminder

import (
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Arrival is what a carrier reports of a message after it has taken it.
type Arrival string

// What carriers report. A carrier that reports nothing leaves it empty.
const (
	ArrivalSent      Arrival = "sent" // it has left the carrier
	ArrivalFailed    Arrival = "failed"
	ArrivalDelivered Arrival = "delivered"
	ArrivalRead      Arrival = "read"
)

// Arrivals lists them from the one that says least to the one that says most.
// Reports come twice and in any order; the one that says most counts, so that an
// arrival never goes back. A delivery outweighs a failure: with several devices
// a carrier may report both, and then the customer has the message.
var Arrivals = []Arrival{ArrivalSent, ArrivalFailed, ArrivalDelivered, ArrivalRead}

// outweighs reports whether an arrival says more than another.
func (a Arrival) outweighs(other Arrival) bool {
	return slices.Index(Arrivals, a) > slices.Index(Arrivals, other)
}

// arrived reports whether the customer has the message.
func (a Arrival) arrived() bool { return a == ArrivalDelivered || a == ArrivalRead }

// Call is a request that a carrier made, as it came.
type Call struct {
	Header http.Header
	Body   []byte
}

// Report is what a carrier says of one attempt.
type Report struct {
	Mark    Mark   // what we gave the carrier along with the message; zero: it gave nothing back
	Receipt string // what the carrier calls the message
	Arrival Arrival
	At      time.Time // by the carrier's clock
	Problem error     // of a failure: a Refusal or a Passing
}

// Reporter understands a carrier that tells what became of messages after it has
// taken them.
type Reporter interface {
	// Challenge answers the question by which a carrier makes sure that an address
	// is ours. A question without the token is ErrForged.
	Challenge(token string, query url.Values) (string, error)
	// Reports checks that a call comes from the carrier and reads it. A call that
	// does not prove it is ErrForged, one that cannot be read ErrUnreadable. What
	// a call says of anything but messages of ours is left out.
	Reports(options map[string]string, call Call) ([]Report, error)
}
