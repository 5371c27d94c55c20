package evolution

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"carteira/internal/platform/outbound"
	"carteira/internal/reminder"
)

const (
	// openFor is how long an instance that was connected is believed to be.
	openFor = 30 * time.Second
	// stateTimeout leaves most of a sender's time to the sending.
	stateTimeout = 5 * time.Second
	// maxStates bounds what is remembered.
	maxStates = 1000
)

// states remembers for a short while which instances are connected, so that a
// busy channel does not ask before each message. It remembers no instance that is
// not: whoever reconnects it need not wait.
type states struct {
	mu   sync.Mutex
	open map[instance]time.Time // when it was asked
}

// instance is one of a bridge, as the holder of a key sees it.
type instance struct{ url, key string }

func newStates() *states { return &states{open: map[instance]time.Time{}} }

// isOpen reports whether an instance was connected a moment before at.
func (s *states) isOpen(which instance, at time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked, known := s.open[which]
	return known && !at.Before(asked) && at.Sub(asked) < openFor
}

func (s *states) remember(which instance, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) >= maxStates {
		clear(s.open)
	}
	s.open[which] = at
}

func (s *states) forget(which instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, which)
}

// stateAnswer is what the bridge says of an instance.
type stateAnswer struct {
	Instance struct {
		State string `json:"state"` // open, connecting, close
	} `json:"instance"`
}

// connected makes sure that the instance is connected to its phone. What goes
// wrong here goes wrong before anything is sent.
func (s sender) connected(ctx context.Context, letter reminder.Letter) error {
	if s.states.isOpen(s.instance, letter.At) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, stateTimeout)
	defer cancel()
	result, err := s.client.Get(ctx, s.instance.url, http.Header{"apikey": {s.key}})
	if err != nil {
		return unsent(err)
	}
	if err := s.judgeState(result); err != nil {
		return err
	}
	s.states.remember(s.instance, letter.At)
	return nil
}

// unsent is a failure of the question: nothing was sent, whatever became of it.
func unsent(err error) error {
	err = reminder.CallFailed(err)
	if doubt, ok := errors.AsType[*reminder.Doubt](err); ok {
		return &reminder.Passing{Reason: doubt.Reason}
	}
	return err
}

// judgeState reads the bridge's answer. One that is not understood does not keep
// a message back: sending tells.
func (s sender) judgeState(result outbound.Result) error {
	var failed answer
	var told stateAnswer
	switch status := result.Status; {
	case status == http.StatusTooManyRequests || status/100 == 5:
		return &reminder.Passing{Reason: failed.reason(status), After: result.RetryAfter}
	case status/100 == 4 && json.Unmarshal(result.Body, &failed) == nil && len(failed.Response.Message) > 0:
		return &reminder.Refusal{Reason: failed.reason(status)}
	case status/100 != 2 || json.Unmarshal(result.Body, &told) != nil:
		return nil
	}
	if state := told.Instance.State; state != "" && state != "open" {
		return &reminder.Passing{Reason: fmt.Sprintf(
			"the instance %s is not connected to WhatsApp (%s): open the bridge's manager and scan its QR code with the phone",
			s.name, state)}
	}
	return nil
}
