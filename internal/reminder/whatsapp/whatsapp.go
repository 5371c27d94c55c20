// Package whatsapp is the channel to Meta's WhatsApp Cloud API. It sends
// template messages, the only ones that may begin a conversation, and reads what
// Meta's webhook reports of them. Meta takes no key by which it would know a
// repeated message, so nothing is sent twice by itself. What customers answer is
// not its business.
package whatsapp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/outbound"
	"carteira/internal/reminder"
)

// graph is where Meta listens.
const graph = "https://graph.facebook.com"

// Kind is how companies choose it.
var Kind = kindAt(graph)

// kindAt is the kind with another address in the place of Meta's.
func kindAt(base string) reminder.Kind {
	return reminder.Kind{
		Name:      "whatsapp_cloud",
		Title:     "WhatsApp (Meta)",
		Reach:     reminder.ByWhatsapp,
		Approved:  true,
		PerMinute: 600,
		About: "Meta's official way, the Cloud API. It needs a business account with a verified number, a token that does not " +
			"expire, and templates that Meta has approved.",
		Options: []reminder.Option{
			{
				Name:     "phone_number_id",
				Title:    "Phone number ID",
				Help:     "The id of the number that sends, from WhatsApp Manager: digits only, not the number itself.",
				Required: true,
			},
			{
				Name:     "token",
				Title:    "Token",
				Secret:   true,
				Required: true,
				Help:     "The access token of a system user with the permission whatsapp_business_messaging.",
			},
			{Name: "api_version", Title: "API version", Help: "Of the Graph API.", Default: "v23.0"},
			{
				Name:   "app_secret",
				Title:  "App secret",
				Secret: true,
				Help:   "Of the app at Meta, under Settings, Basic. With it Meta's reports are heard: delivered, read, failed.",
			},
		},
		Reporter: reporter{},
		Open: func(options map[string]string, env reminder.Env) (reminder.Sender, error) {
			return open(base, options, env)
		},
	}
}

var (
	digits  = regexp.MustCompile(`^[0-9]{5,30}$`)
	version = regexp.MustCompile(`^v[0-9]{1,3}\.[0-9]{1,2}$`)
)

func open(base string, options map[string]string, env reminder.Env) (reminder.Sender, error) {
	var wrong fault.Fields
	if !digits.MatchString(options["phone_number_id"]) {
		wrong.Add("phone_number_id", "must be the number's id at Meta, digits only")
	}
	if !version.MatchString(options["api_version"]) {
		wrong.Add("api_version", "must look like v23.0")
	}
	if strings.ContainsAny(options["token"], " \t\r\n") || options["token"] == "" {
		wrong.Add("token", "must be an access token, without spaces")
	}
	if strings.ContainsAny(options["app_secret"], " \t\r\n") {
		wrong.Add("app_secret", "must be the app's secret, without spaces")
	}
	return sender{
		url:    fmt.Sprintf("%s/%s/%s/messages", base, options["api_version"], options["phone_number_id"]),
		token:  options["token"],
		client: env.Once,
	}, wrong.Err()
}

type sender struct {
	url    string
	token  string
	client *outbound.Client
}

type request struct {
	Product   string   `json:"messaging_product"`
	Recipient string   `json:"recipient_type"`
	To        string   `json:"to"`
	Type      string   `json:"type"`
	Template  template `json:"template"`
	Mark      string   `json:"biz_opaque_callback_data,omitempty"` // Meta gives it back in its reports
}

type template struct {
	Name       string      `json:"name"`
	Language   language    `json:"language"`
	Components []component `json:"components,omitempty"`
}

type language struct {
	Code string `json:"code"`
}

type component struct {
	Type       string      `json:"type"`
	Parameters []parameter `json:"parameters"`
}

type parameter struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func encode(letter reminder.Letter) ([]byte, error) {
	r := request{
		Product:   "whatsapp",
		Recipient: "individual",
		To:        letter.To,
		Type:      "template",
		Template: template{
			Name:     letter.Template.Name,
			Language: language{letter.Template.Language},
		},
		Mark: letter.Mark.String(),
	}
	if len(letter.Template.Params) > 0 {
		body := component{Type: "body"}
		for _, param := range letter.Template.Params {
			if param == "" {
				param = "-" // Meta refuses a parameter without text
			}
			body.Parameters = append(body.Parameters, parameter{Type: "text", Text: param})
		}
		r.Template.Components = []component{body}
	}
	return json.Marshal(r)
}

// answer is what Meta says, whether it took the message or not.
type answer struct {
	Messages []struct {
		ID string `json:"id"`
	} `json:"messages"`
	Error *issue `json:"error"`
}

// Send implements reminder.Sender.
func (s sender) Send(ctx context.Context, letter reminder.Letter) (string, error) {
	body, err := encode(letter)
	if err != nil {
		return "", err
	}
	result, err := s.client.Post(ctx, s.url, http.Header{
		"Content-Type": {"application/json"}, "Authorization": {"Bearer " + s.token},
	}, body)
	if err != nil {
		return "", reminder.CallFailed(err)
	}
	var a answer
	readable := json.Unmarshal(result.Body, &a) == nil
	switch {
	case readable && a.Error != nil:
		return "", a.refusal(result)
	case result.Status == http.StatusTooManyRequests || result.Status == http.StatusServiceUnavailable:
		return "", &reminder.Passing{
			Reason: fmt.Sprintf("Meta answered %d", result.Status),
			After:  result.RetryAfter,
		}
	case result.Status/100 == 2 && readable && len(a.Messages) > 0:
		return a.Messages[0].ID, nil
	case result.Status/100 == 4:
		return "", &reminder.Refusal{Reason: fmt.Sprintf("Meta answered %d", result.Status)}
	}
	return "", &reminder.Doubt{Reason: fmt.Sprintf("Meta answered %d, without saying what it did", result.Status)}
}

// refusal is Meta's error: it has not taken the message.
func (a answer) refusal(result outbound.Result) error {
	if result.Status == http.StatusTooManyRequests {
		return &reminder.Passing{Reason: a.Error.reason(), After: result.RetryAfter}
	}
	return a.Error.problem(result.RetryAfter)
}
