package sender

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
	draining: {
		drained:      releasing,
		released:     idle,
		unrecordable: abandoned,
		expired:      abandoned,
	},
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

// leased says whether this process keeps the lane's lease alive.
func (s state) leased() bool {
	return s == sending || s == finishing || s == draining || s == releasing
}

var stateNames = [...]string{
	"idle", "claiming", "sending", "finishing", "draining", "releasing", "abandoned",
}

func (s state) String() string { return stateNames[s] }
