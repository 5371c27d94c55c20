// Package evolution is the channel to Evolution API, the WhatsApp bridge that
// companies run themselves. It sends plain texts through one of its instances.
// The bridge knows no repeated message, so nothing is sent twice by itself. It asks
// first whether the instance is connected to its phone. It also connects it: it makes
// the instance and shows the QR code that the phone scans.
package evolution

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/outbound"
	"carteira/internal/reminder"
)

// NewKind is how companies choose it; what is known of connections is remembered
// by each kind for itself. It is slow by itself: numbers that send as fast as a
// machine get banned.
func NewKind() reminder.Kind {
	states := newStates()
	kind := description
	kind.Open = func(options map[string]string, env reminder.Env) (reminder.Sender, error) {
		return open(states, options, env)
	}
	return kind
}

var description = reminder.Kind{
	Name:      "evolution",
	Title:     "WhatsApp (Evolution API)",
	Reach:     reminder.ByWhatsapp,
	PerMinute: 12,
	About: "A bridge that you run yourself, connected to a phone as WhatsApp Web is. It sends any text. Numbers that send " +
		"too fast are banned: keep it slow.",
	Options: []reminder.Option{
		{Name: "base_url", Title: "URL", Help: "Where the bridge answers, such as https://evolution.example.com", Required: true},
		{
			Name:     "instance",
			Title:    "Instance",
			Help:     "A name for this phone at the bridge, one for each phone. It is made when you connect, if it is not there yet.",
			Required: true,
		},
		{
			Name:     "apikey",
			Title:    "API key",
			Help:     "The key of the bridge (AUTHENTICATION_API_KEY), or that of an instance that is there already.",
			Secret:   true,
			Required: true,
		},
		{
			Name:    "version",
			Title:   "Version",
			Help:    "Of the bridge: 2, or 1 for the older form of requests.",
			Default: "2",
			Choices: []string{"2", "1"},
		},
	},
	Check: check,
	Phone: openPhone,
}

func open(states *states, options map[string]string, env reminder.Env) (reminder.Sender, error) {
	var wrong fault.Fields
	address, err := url.Parse(options["base_url"])
	if err != nil || address.Host == "" || address.RawQuery != "" || address.Fragment != "" {
		wrong.Add("base_url", "must be an address such as https://evolution.example.com")
	}
	if i := options["instance"]; i == "" || i == "." || i == ".." {
		wrong.Add("instance", "must be the name of an instance")
	}
	if strings.ContainsAny(options["apikey"], " \t\r\n") || options["apikey"] == "" {
		wrong.Add("apikey", "must be a key, without spaces")
	}
	base, name := strings.TrimRight(options["base_url"], "/"), url.PathEscape(options["instance"])
	return sender{
		url:      base + "/message/sendText/" + name,
		key:      options["apikey"],
		old:      options["version"] == "1",
		client:   env.Once,
		name:     options["instance"],
		instance: instance{base + "/instance/connectionState/" + name, options["apikey"]},
		states:   states,
	}, wrong.Err()
}

func check(ctx context.Context, options map[string]string, env reminder.Env) error {
	if err := env.Gate.CheckURL(ctx, options["base_url"]); err != nil {
		return fault.Field("base_url", outbound.Public(err))
	}
	return nil
}

type sender struct {
	url    string
	key    string
	old    bool
	client *outbound.Client

	name     string // of the instance
	instance instance
	states   *states
}

// request is of version 2; version 1 wants the text one floor deeper.
type request struct {
	Number string   `json:"number"`
	Text   string   `json:"text,omitempty"`
	Inner  *message `json:"textMessage,omitempty"`
}

type message struct {
	Text string `json:"text"`
}

func (s sender) encode(letter reminder.Letter) ([]byte, error) {
	r := request{Number: letter.To, Text: letter.Text}
	if s.old {
		r = request{Number: letter.To, Inner: &message{letter.Text}}
	}
	return json.Marshal(r)
}

// answer is what the bridge says.
type answer struct {
	Key struct {
		ID string `json:"id"`
	} `json:"key"`
	Error    string `json:"error"`
	Response struct {
		Message json.RawMessage `json:"message"`
	} `json:"response"`
}

// Send implements reminder.Sender.
func (s sender) Send(ctx context.Context, letter reminder.Letter) (string, error) {
	body, err := s.encode(letter)
	if err != nil {
		return "", err
	}
	if err := s.connected(ctx, letter); err != nil {
		return "", err
	}
	receipt, err := s.post(ctx, body)
	if err != nil { // the phone may be the reason: ask again before the next one
		s.states.forget(s.instance)
	}
	return receipt, err
}

func (s sender) post(ctx context.Context, body []byte) (string, error) {
	result, err := s.client.Post(ctx, s.url, http.Header{"Content-Type": {"application/json"}, "apikey": {s.key}}, body)
	if err != nil {
		return "", reminder.CallFailed(err)
	}
	var a answer
	readable := json.Unmarshal(result.Body, &a) == nil
	reason := a.reason(result.Status)
	switch status := result.Status; {
	case status/100 == 2 && readable && a.Key.ID != "":
		return a.Key.ID, nil
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable || status == http.StatusRequestTimeout:
		return "", &reminder.Passing{Reason: reason, After: result.RetryAfter}
	case status/100 == 4:
		return "", &reminder.Refusal{Reason: reason}
	case status == http.StatusInternalServerError && readable && a.Error != "":
		return "", &reminder.Passing{Reason: reason} // the bridge itself says that it failed, as when the phone is away
	default: // a proxy's word, or none
		return "", &reminder.Doubt{Reason: reason}
	}
}

// reason puts the bridge's answer into a line.
func (a answer) reason(status int) string {
	var texts []string
	var numbers []struct {
		Exists *bool `json:"exists"`
	}
	var one string
	switch raw := a.Response.Message; {
	case json.Unmarshal(raw, &texts) == nil && len(texts) > 0:
		one = strings.Join(texts, "; ")
	case json.Unmarshal(raw, &numbers) == nil && len(numbers) > 0 && numbers[0].Exists != nil && !*numbers[0].Exists:
		return "the number is not on WhatsApp"
	case json.Unmarshal(raw, &one) == nil:
	}
	if one == "" {
		return fmt.Sprintf("the bridge answered %d", status)
	}
	return fmt.Sprintf("%s (%d)", one, status)
}

const (
	// openFor is how long an instance that was connected is believed to be.
	openFor = 30 * time.Second
	// stateTimeout leaves most of a sender's time to the sending.
	stateTimeout = 5 * time.Second
	// maxStates bounds what is remembered.
	maxStates = 1000
)

// states remembers for a short while which instances are connected, so that a
// busy channel does not ask before each message. It remembers no disconnected
// instance: after a reconnection there is no wait.
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
// a message back: the sending will show.
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
			"the instance %s is not connected to WhatsApp (%s): open the channel and scan its QR code with the phone",
			s.name, state)}
	}
	return nil
}
