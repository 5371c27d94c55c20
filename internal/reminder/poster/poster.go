// Package poster is the channel to a company's own sender: a signed POST of
// JSON through the same gate as webhooks, with the same headers. The receiver
// knows a repeated message by its id, so that one in doubt is sent again. What
// the receiver does with it is not its business.
package poster

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/outbound"
	"carteira/internal/reminder"
)

// Event is the name that the receiver sees.
const Event = "message.send"

// Kind is how companies choose it.
var Kind = reminder.Kind{
	Name:       "http",
	Title:      "HTTP",
	Reach:      reminder.ByAny,
	Idempotent: true,
	PerMinute:  600,
	About:      "Your own sender: each message is a signed POST of JSON to an https address of yours, with the same headers as webhooks.",
	Options: []reminder.Option{
		{Name: "url", Title: "URL", Help: "A public https address that takes a POST of JSON.", Required: true},
		{
			Name:      "secret",
			Title:     "Secret",
			Help:      "Signs each message. Left empty, one is made and shown once.",
			Secret:    true,
			Generated: true,
		},
	},
	Open:  open,
	Check: check,
}

func open(options map[string]string, env reminder.Env) (reminder.Sender, error) {
	if len(options["secret"]) < 16 {
		return nil, fault.Field("secret", "must have at least 16 characters")
	}
	return sender{url: options["url"], key: []byte(options["secret"]), client: env.Webhooks}, nil
}

func check(ctx context.Context, options map[string]string, env reminder.Env) error {
	if err := env.WebhookGate.CheckURL(ctx, options["url"]); err != nil {
		return fault.Field("url", outbound.Public(err))
	}
	return nil
}

type sender struct {
	url    string
	key    []byte
	client *outbound.Client
}

// envelope is what the receiver gets, in the form of an event.
type envelope struct {
	Event      string `json:"event"`
	Platform   string `json:"platform"`
	ID         string `json:"id"`
	APIVersion string `json:"api_version"`
	OccurredAt string `json:"occurred_at"`
	CompanyID  int64  `json:"company_id"`
	Data       data   `json:"data"`
}

type data struct {
	Test     bool      `json:"test"`
	To       string    `json:"to"`
	Subject  string    `json:"subject"`
	Text     string    `json:"text"`
	Template *approved `json:"template"`
	Customer recipient `json:"customer"`
	DueDate  *string   `json:"due_date"`
}

type approved struct {
	Name     string   `json:"name"`
	Language string   `json:"language"`
	Params   []string `json:"params"`
}

type recipient struct {
	ID       int64  `json:"id"`
	UUID     string `json:"uuid"`
	Name     string `json:"name"`
	Whatsapp string `json:"whatsapp"`
	Email    string `json:"email"`
}

func encode(letter reminder.Letter) ([]byte, error) {
	e := envelope{
		Event: Event, Platform: "carteira", ID: letter.ID, APIVersion: "v1",
		OccurredAt: civil.Timestamp(letter.At, letter.At.Location()), CompanyID: letter.CompanyID,
		Data: data{
			Test:     letter.Test,
			To:       letter.To,
			Subject:  letter.Subject,
			Text:     letter.Text,
			Customer: recipient{letter.CustomerID, letter.CustomerUUID, letter.Name, letter.Whatsapp, letter.Email},
		},
	}
	if !letter.DueOn.IsZero() {
		due := letter.DueOn.String()
		e.Data.DueDate = &due
	}
	if letter.Template.Name != "" {
		e.Data.Template = &approved{letter.Template.Name, letter.Template.Language, letter.Template.Params}
	}
	return json.Marshal(e)
}

// Send implements reminder.Sender.
func (s sender) Send(ctx context.Context, letter reminder.Letter) (string, error) {
	body, err := encode(letter)
	if err != nil {
		return "", err
	}
	answer, err := s.client.Post(ctx, s.url, s.headers(letter, letter.At, body), body)
	if err != nil {
		return "", reminder.CallFailed(err)
	}
	problem := fmt.Sprintf("the receiver answered %d", answer.Status)
	switch status := answer.Status; {
	case status >= 200 && status < 300:
		return letter.ID, nil
	case status >= 400 && status < 500 && status != http.StatusRequestTimeout && status != http.StatusTooManyRequests:
		return "", &reminder.Refusal{Reason: problem}
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		return "", &reminder.Passing{Reason: problem, After: answer.RetryAfter}
	}
	return "", &reminder.Doubt{Reason: problem}
}

// headers are those of webhooks.
func (s sender) headers(letter reminder.Letter, at time.Time, body []byte) http.Header {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	return http.Header{
		"Content-Type":        {"application/json"},
		"X-Service-Event":     {Event},
		"X-Service-Delivery":  {letter.ID},
		"X-Service-Timestamp": {timestamp},
		"X-Service-Signature": {"sha256=" + hex.EncodeToString(mac.Sum(nil))},
	}
}
