// Package whatsapp is the channel to Meta's WhatsApp Cloud API. It sends
// template messages, the only ones that may begin a conversation, and reads what
// Meta's webhook reports of them. Meta takes no key by which it would know a
// repeated message, so nothing is sent twice by itself. What customers answer is
// not its business.
package whatsapp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

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
			{Name: "api_version", Title: "API version", Help: "Of the Graph API.", Default: "v26.0"},
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
		wrong.Add("api_version", "must look like v26.0")
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

// pixCode begins every PIX code: what a payment link becomes where customers cannot
// open it.
const pixCode = "000201"

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
	SubType    string      `json:"sub_type,omitempty"` // of a button
	Index      string      `json:"index,omitempty"`
	Parameters []parameter `json:"parameters"`
}

// parameter has the name that a template of named gaps gives it.
type parameter struct {
	Type     string `json:"type"`
	Name     string `json:"parameter_name,omitempty"`
	Text     string `json:"text,omitempty"`
	Image    *media `json:"image,omitempty"`
	Document *media `json:"document,omitempty"`
	Video    *media `json:"video,omitempty"`
}

// media is a file that Meta fetches.
type media struct {
	Link string `json:"link"`
}

func encode(letter reminder.Letter) ([]byte, error) {
	r := request{
		Product:   "whatsapp",
		Recipient: "individual",
		To:        letter.To,
		Type:      "template",
		Template:  template{Name: letter.Template.Name, Language: language{letter.Template.Language}},
		Mark:      letter.Mark.String(),
	}
	r.Template.Components = components(letter.Template)
	return json.Marshal(r)
}

// components fill the gaps of header, body and button, of which a template may
// lack each.
func components(approved reminder.ApprovedTemplate) (list []component) {
	if approved.Header != "" {
		list = append(list, component{Type: "header", Parameters: []parameter{headerOf(approved.Header)}})
	}
	if len(approved.Params) > 0 {
		body := component{Type: "body"}
		for n, param := range approved.Params {
			filled := parameter{Type: "text", Text: cmp.Or(param, reminder.NoGap)}
			if n < len(approved.Names) {
				filled.Name = approved.Names[n]
			}
			body.Parameters = append(body.Parameters, filled)
		}
		list = append(list, body)
	}
	if approved.Button != "" {
		_, code, link := strings.Cut(approved.Button, "/pay/")
		if !link {
			code = approved.Button
		}
		list = append(list, component{
			Type:       "button",
			SubType:    "url",
			Index:      "0",
			Parameters: []parameter{{Type: "text", Text: code}},
		})
	}
	return list
}

// headerOf is a text, or the picture, document or video at an address.
func headerOf(header string) parameter {
	if address, err := url.Parse(header); err == nil && address.Scheme == "https" && address.Host != "" {
		file := &media{header}
		switch strings.ToLower(path.Ext(address.Path)) {
		case ".png", ".jpg", ".jpeg":
			return parameter{Type: "image", Image: file}
		case ".pdf":
			return parameter{Type: "document", Document: file}
		case ".mp4", ".3gp":
			return parameter{Type: "video", Video: file}
		}
	}
	return parameter{Type: "text", Text: header}
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
	if button := letter.Template.Button; button == reminder.NoGap || strings.HasPrefix(button, pixCode) {
		return "", &reminder.Refusal{Reason: "the template's button has no payment link to lead to"}
	}
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
		return "", &reminder.Passing{Reason: fmt.Sprintf("Meta answered %d", result.Status), After: result.RetryAfter}
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

// advice says what an error of Meta's means and what to do about it. The panel
// has the same words in Portuguese. Codes that are not here keep Meta's own words.
var advice = map[int]string{
	190:    "the access token has expired: make one that does not expire and save it in the channel",
	368:    "Meta has blocked the account for breaking its policies: see the account's quality in WhatsApp Manager",
	130472: "Meta left this customer out of marketing messages: have the template approved as utility, or use another channel",
	130497: "the account may not write to customers of this country: see the business policy at Meta",
	131005: "the token lacks a permission: give the system user whatsapp_business_messaging",
	131021: "the number is the sender's own: correct the customer's WhatsApp number",
	131026: "the number cannot get the message: it is not on WhatsApp, or its app is too old, so check it with the customer",
	131030: "the number is not in the list of the test account: add it at Meta, or send from a real number",
	131031: "Meta has locked the account: open WhatsApp Manager and follow what it asks for",
	131037: "the sending number has no approved display name: ask for one in WhatsApp Manager",
	131042: "Meta cannot charge the account: correct the payment method in the billing settings of WhatsApp Manager",
	131045: "the sending number is not registered: register it at Meta",
	131047: "more than 24 hours have passed since the customer wrote: only an approved template may be sent",
	131048: "too many of your messages were blocked or marked as spam: see the number's quality in WhatsApp Manager and send less",
	131049: "Meta held the message back so as not to tire the customer: try another day, or use another channel",
	131050: "the customer has stopped marketing messages of yours on WhatsApp: use another channel",
	131051: "Meta does not know this type of message: check the template",
	131056: "too many messages to the same number in a short time",
	132000: "the template has another number of gaps at Meta: correct what fills the gaps",
	132001: "the template does not exist at Meta in this language, or is not approved yet: check its name and language",
	132005: "the text is too long once the gaps are filled: shorten the template",
	132007: "the template breaks a policy of Meta's: edit it there and have it approved again",
	132012: "what fills the gaps has not the form that the template wants: check it at Meta",
	132015: "Meta has paused the template for its low quality: edit it, or choose another one",
	132016: "Meta has disabled the template for good: choose another one",
	133010: "the sending number is not registered: register it at Meta",
}

// passing are the codes of errors that go away by themselves: limits, and Meta
// being down.
var passing = []int{1, 2, 4, 80007, 130429, 131000, 131016, 131048, 131056, 131057, 133004}

// problem is what an error means for the message.
func (i issue) problem(after time.Duration) error {
	reason := i.reason()
	if slices.Contains(passing, i.Code) {
		return &reminder.Passing{Reason: reason, After: after}
	}
	return &reminder.Refusal{Reason: reason}
}

// reason is the advice, or Meta's own words, with the code to look up.
func (i issue) reason() string {
	text := advice[i.Code]
	for _, words := range []string{i.Data.Details, i.Message, i.Title, "Meta reported an error"} {
		if text == "" {
			text = words
		}
	}
	return fmt.Sprintf("%s (Meta %d)", text, i.Code)
}
