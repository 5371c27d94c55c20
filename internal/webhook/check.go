package webhook

import (
	"context"
	"crypto/hmac"
	"encoding/json"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/input"
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
	webhook, err := s.Find(ctx, actor, webhookID)
	if err != nil {
		return nil, err
	}
	return s.box.Open(webhook.sealed, secretContext(webhook.ID))
}

// readHeaders takes lines of the form Name: value, however they are cased.
func readHeaders(lines string) map[string]string {
	headers := map[string]string{}
	for line := range strings.Lines(lines) {
		name, value, ok := strings.Cut(line, ":")
		if ok {
			headers[textproto.CanonicalMIMEHeaderKey(strings.Trim(name, " \t\"'-"))] = strings.Trim(
				strings.TrimSpace(value),
				"\"',",
			)
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
		steps = append(steps, check("The timestamp is no more than 300 seconds from now",
			age <= window,
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
