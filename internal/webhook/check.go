package webhook

import (
	"context"
	"crypto/hmac"
	_ "embed"
	"encoding/json"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/checkup"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// Step is one thing that a receiver must check, and how it came out.
type Step struct {
	Name   string // what is checked
	Passed bool
	Reason string // what is wrong, or worth knowing
}

// window is how far a receiver lets the timestamp be from its clock.
const window = 300 * time.Second

// Explain goes through a delivery as a receiver should, from the fields
// headers (a line each), body and webhook_id (0: the callback secret), and says
// at which step it fails. The secret does not leave this room.
func (s *Service) Explain(ctx context.Context, actor account.Actor, in *input.Form) ([]Step, error) {
	in.Require("headers")
	in.Require("body")
	in.Require("webhook_id")
	lines, _ := in.Text("headers", 20_000).Get()
	body, _ := in.Text("body", 1<<20).Get()
	webhookID, _ := in.Int("webhook_id", 0, 1<<62).Get()
	if err := in.Err(); err != nil {
		return nil, err
	}
	key, err := s.keyOf(ctx, actor, webhookID)
	if err != nil {
		return nil, err
	}
	return explain(key, readHeaders(lines), body, s.db.Real()), nil
}

func (s *Service) keyOf(ctx context.Context, actor account.Actor, webhookID int64) ([]byte, error) {
	if webhookID == 0 {
		plain, err := s.CallbackSecret(ctx, actor)
		return []byte(plain), err
	}
	_, plain, err := s.Created(ctx, actor, webhookID)
	return []byte(plain), err
}

// readHeaders takes lines of the form Name: value, however they are cased.
func readHeaders(lines string) map[string]string {
	headers := map[string]string{}
	for line := range strings.Lines(lines) {
		name, value, ok := strings.Cut(line, ":")
		if ok {
			headers[textproto.CanonicalMIMEHeaderKey(strings.Trim(name, " \t\"'-"))] = strings.Trim(strings.TrimSpace(value),
				"\"',")
		}
	}
	return headers
}

func explain(key []byte, headers map[string]string, body string, now time.Time) []Step {
	timestamp, signature := headers["X-Service-Timestamp"], headers["X-Service-Signature"]
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	steps := []Step{
		check("The header X-Service-Timestamp is there and is a number of seconds", err == nil, "it is missing, or not the number that was sent"),
		check("The header X-Service-Signature is sha256= and 64 hex digits", wellFormed(signature), "it is missing, cut, or lacks sha256="),
		check("The body is the JSON that was sent", json.Valid([]byte(body)), "it is not JSON: perhaps it was cut or decoded"),
	}
	genuine, advice := matches(key, timestamp, signature, body)
	steps = append(steps, check("The signature matches timestamp, body and secret", genuine, advice))
	if err == nil {
		age := now.Sub(time.Unix(seconds, 0)).Abs()
		steps = append(steps, check("The timestamp is no more than 300 seconds from now", age <= window,
			"it is older, as it should be for a delivery that you kept: a receiver that gets it now answers 408"))
	}
	return steps
}

func check(name string, passed bool, reason string) Step {
	if passed {
		reason = ""
	}
	return Step{name, passed, reason}
}

func wellFormed(signature string) bool {
	hex, ok := strings.CutPrefix(signature, "sha256=")
	return ok && len(hex) == 64 && strings.Trim(hex, "0123456789abcdef") == ""
}

// matches also tries what goes wrong most often, to say so.
func matches(key []byte, timestamp, signature, body string) (genuine bool, advice string) {
	fits := func(key []byte, body string) bool {
		return hmac.Equal([]byte("sha256="+Sign(key, timestamp, []byte(body))), []byte(signature))
	}
	switch {
	case fits(key, body):
		return true, ""
	case fits(key, strings.TrimSpace(body)), fits(key, body+"\n"), fits(key, strings.ReplaceAll(body, "\r\n", "\n")):
		return false, "it would with the body byte for byte: space or a line break was added or lost"
	case fits([]byte(strings.TrimPrefix(string(key), "whsec_")), body):
		return false, "it was computed without whsec_: the whole secret is the key"
	}
	return false, "another secret, another body or another timestamp was signed"
}

// CheckQueue compares the queue with the deliveries that are pending. A
// delivery missing from the queue is never sent; a queue entry without a
// delivery has no receiver.
func (s *Service) CheckQueue(ctx context.Context) (checkup.Finding, error) {
	unqueued, err := sqldb.Value[int64](sqldb.WithoutDeadline(ctx), s.db, `
		SELECT count(*) FROM deliveries d WHERE d.status = 'pending'
			AND NOT EXISTS (SELECT 1 FROM delivery_queue q WHERE q.delivery_id = d.id) /* every company_id */`)
	if err != nil {
		return checkup.Finding{}, err
	}
	unneeded, err := sqldb.Value[int64](sqldb.WithoutDeadline(ctx), s.db, `
		SELECT count(*) FROM delivery_queue q WHERE NOT EXISTS (
			SELECT 1 FROM deliveries d WHERE d.id = q.delivery_id AND d.status = 'pending') /* every company_id */`)
	if err != nil {
		return checkup.Finding{}, err
	}
	if unqueued+unneeded > 0 {
		return checkup.Bad("resend what is pending with POST /webhooks/deliveries/{id}/resend",
			"%d pending deliveries are not in the queue, and %d in the queue are not pending", unqueued, unneeded), nil
	}
	return checkup.Good("queue and deliveries agree"), nil
}

// CheckWebhooks looks for webhooks that were switched off because they failed.
func (s *Service) CheckWebhooks(ctx context.Context) (checkup.Finding, error) {
	off, err := sqldb.Values[int64](ctx, s.db, `
		SELECT id FROM webhooks WHERE disabled_at IS NOT NULL AND notice <> '' ORDER BY id /* every company_id */`)
	if err != nil {
		return checkup.Finding{}, err
	}
	if len(off) > 0 {
		return checkup.Warn("repair their receivers and switch them on again in the panel",
			"%d webhooks were switched off by their failures, the first are %v", len(off), off[:min(len(off), 5)]), nil
	}
	return checkup.Good("no webhook was switched off by failures"), nil
}

// NextDue is when the next delivery is to be sent; zero: never, as things are.
func (s *Service) NextDue(ctx context.Context) (time.Time, error) { return s.sender.NextDue(ctx) }

// AwaitDue waits a while for what is due to be sent, by this process or another,
// and returns 1 when something was due. The clock of the installation must stand.
func (s *Service) AwaitDue(ctx context.Context) (int, error) { return 1, s.sender.AwaitDue(ctx) }

//go:embed samples.json
var samplesJSON []byte

// Sample is what a receiver of the event gets, with invented data. Field
// pickers of automation platforms are built from it.
func Sample(name event.Name) json.RawMessage { return samples[name] }

var samples = readSamples()

func readSamples() map[event.Name]json.RawMessage {
	var all map[event.Name]json.RawMessage
	if err := json.Unmarshal(samplesJSON, &all); err != nil {
		panic(err) // a test reads them all
	}
	return all
}
