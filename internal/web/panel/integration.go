package panel

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/web/page"
	"carteira/internal/webhook"
)

type webhooksData struct {
	List   []webhook.Webhook
	Made   string // the secret of a new one, this once
	MadeID int64
}

func (s *Server) webhooks(req *request) error { return s.webhooksPage(req, webhooksData{}) }

func (s *Server) webhooksPage(req *request, data webhooksData) error {
	data.List = read(req, s.Webhooks.List)
	return req.show("webhooks", "Webhooks", data)
}

type webhookForm struct {
	recordForm
	Events []event.Entry
}

// webhookForm is the form of a webhook; a new one gets every event.
func (s *Server) webhookForm(req *request, form *page.Form, refusal error) error {
	hook := webhook.Webhook{Events: webhook.Subscribable()}
	if req.id != 0 {
		hook = readOf(req, s.Webhooks.Find, req.id)
	}
	if form == nil {
		form = page.NewForm("url", hook.URL, "description", hook.Description, "retry_refused", boolText(hook.RetryRefused))
		for _, name := range hook.Events {
			form.Add("events", string(name))
		}
	}
	data := webhookForm{recordForm: req.recordForm("/webhooks", form)}
	for _, entry := range event.Catalog {
		if entry.Name != event.Ping {
			data.Events = append(data.Events, entry)
		}
	}
	return req.showForm("webhook_form", data.title("New webhook", "Edit webhook"), refusal, data)
}

func (s *Server) createWebhook(req *request) error {
	hook, secret, err := s.Webhooks.Create(req.Context(), req.Actor, webhook.ReadNew(req.formWith([]string{"events"})))
	if err != nil {
		return req.again(err, s.webhookForm)
	}
	return s.webhooksPage(req, webhooksData{Made: secret, MadeID: hook.ID})
}

func webhookPath(id int64) string { return "/webhooks/" + idText(id) }

func (s *Server) updateWebhook(req *request) error {
	_, err := s.Webhooks.Update(req.Context(), req.Actor, req.id, webhook.ReadChanges(req.formWith([]string{"events"})))
	return req.sent(err, s.webhookForm, webhookPath(req.id), "The webhook was saved.")
}

// switchWebhook turns a webhook on or off.
func (s *Server) switchWebhook(req *request) error {
	back := req.back(webhookPath(req.id))
	hook, err := s.Webhooks.Update(req.Context(), req.Actor, req.id, webhook.Draft{Active: req.readActive()})
	return req.did(err, back, either(hook.Active, "The webhook is on. What was waiting is being sent.",
		"The webhook is off. What is pending waits."))
}

type webhookData struct {
	list
	Webhook webhook.Webhook
	List    []deliveryRow
	Events  []page.Option
	Tested  *tested
	Secret  string // the new one, this once
	Replay  *page.Form
}

type tested struct {
	webhook.Attempt
	Delivered bool
}

func (s *Server) webhook(req *request) error { return s.webhookPage(req, webhookData{}, nil) }

func (s *Server) webhookPage(req *request, data webhookData, refusal error) error {
	if req.Method == http.MethodPost { // the answer to a form is the page, and its links lead to the page
		req.Request = req.WithContext(req.Context()) // the log has the address as it came
		req.URL = &url.URL{Path: webhookPath(req.id)}
	}
	data.Webhook = readOf(req, s.Webhooks.Find, req.id)
	data.list = newList(req, webhookPath(req.id)+"/export", deliveryChips(req), "event", "from", "to")
	list, _ := fill(req, &data.list, s.deliveryList(req.id))
	for _, found := range list {
		data.List = append(data.List, deliveryRow{found})
	}
	data.Heads, data.Total = timeHeads(req), counted(req.lang, data.Pager.Total, "1 delivery", "%s deliveries")
	data.Events, data.Replay = eventOptions(req), cmp.Or(data.Replay, page.NewForm("since", req.today.String()))
	return req.showForm("webhook", "Webhook", refusal, data)
}

func (s *Server) testWebhook(req *request) error {
	attempt, delivered, err := s.Webhooks.Test(req.Context(), req.Actor, req.id)
	if err != nil {
		return req.complain(webhookPath(req.id), err)
	}
	return s.webhookPage(req, webhookData{Tested: &tested{attempt, delivered}}, nil)
}

func (s *Server) rotateWebhookSecret(req *request) error {
	secret, err := s.Webhooks.RotateSecret(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	return s.webhookPage(req, webhookData{Secret: secret}, nil)
}

func (s *Server) replayWebhook(req *request) error {
	since, err := readSince(req)
	if err == nil {
		_, err = s.Webhooks.StartReplay(req.Context(), req.Actor, req.id, since)
	}
	again := func(req *request, form *page.Form, refusal error) error {
		return s.webhookPage(req, webhookData{Replay: form}, refusal)
	}
	return req.sent(err, again, webhookPath(req.id), "What happened since %s is being sent again.",
		page.FormatDate(civil.Of(since.In(req.Actor.Company.Zone))))
}

func readSince(req *request) (time.Time, error) {
	in := req.form()
	in.Require("since")
	day, _ := in.Date("since").Get()
	if err := in.Err(); err != nil {
		return time.Time{}, err
	}
	return day.Start(req.Actor.Company.Zone), nil
}

type signatureData struct {
	Form    *page.Form
	Secrets []page.Option
	Steps   []webhook.Step
}

func (s *Server) signatureForm(req *request, form *page.Form, refusal error) error {
	return s.signaturePage(req, signatureData{Form: cmp.Or(form, page.NewForm("webhook_id", req.URL.Query().Get("webhook_id")))}, refusal)
}

func (s *Server) signaturePage(req *request, data signatureData, refusal error) error {
	data.Secrets = append(namedOptions(read(req, s.Webhooks.List), hookName), req.option("0", "Callback secret (single invoices)"))
	return req.showForm("signature", "Signature checker", refusal, data)
}

func (s *Server) checkSignature(req *request) error {
	steps, err := s.Webhooks.Explain(req.Context(), req.Actor, req.form())
	if err != nil && !refused(err) {
		return err
	}
	return s.signaturePage(req, signatureData{Form: page.Sent(req.Request, err), Steps: steps}, err)
}

func (s *Server) callbackSecret(req *request) error {
	secret := read(req, s.Webhooks.CallbackSecret)
	return req.show("callback_secret", "Callback secret", secret)
}

func (s *Server) rotateCallbackSecret(req *request) error {
	_, err := s.Webhooks.RotateCallbackSecret(req.Context(), req.Actor)
	return req.did(err, "/webhooks/callback-secret", "There is a new callback secret. The old one signs too for 24 hours.")
}

// deliveryStatuses are the statuses of deliveries, as lists offer them.
var deliveryStatuses = []webhook.Status{
	webhook.Pending, webhook.Delivered, webhook.Failed, webhook.Refused, webhook.Parked,
}

func deliveryChips(req *request) []chipLine {
	statuses := wordOptions(req, deliveryStatuses, nil, req.option("", "All deliveries"))
	return []chipLine{choiceChips(req, "Status", "status", statuses), dateChips(req, "from", "to", false)}
}

// eventOptions are the events, for a filter.
func eventOptions(req *request) []page.Option {
	return optionsOf(event.Catalog, func(entry event.Entry) page.Option {
		return page.Option{Value: string(entry.Name), Label: string(entry.Name)}
	}, req.option("", "All events"))
}

// deliveryRow is a delivery as the list and its own page show it.
type deliveryRow struct{ webhook.Delivery }

type deliveryData struct {
	deliveryRow
	Place place
}

// Last is the last attempt; nil when there was none.
func (d deliveryRow) Last() *webhook.Attempt {
	if len(d.Attempts) == 0 {
		return nil
	}
	return &d.Attempts[len(d.Attempts)-1]
}

func (s *Server) delivery(req *request, found webhook.Delivery) error {
	data := deliveryData{deliveryRow{found}, s.deliveryPlace(req, found.WebhookID)}
	return req.show("delivery", "Delivery", data)
}

// deliveryPlace is where a delivery is in the list of its webhook. The notification
// of a single invoice is in none.
func (s *Server) deliveryPlace(req *request, webhookID int64) place {
	if webhookID == 0 {
		return place{Back: "/webhooks"}
	}
	at := listed{List: webhookPath(webhookID), Records: "/deliveries"}
	return at.place(req, s.deliveryList(webhookID).nth(req, func(record webhook.Delivery) int64 { return record.ID }))
}

// deliveryList is how the deliveries of a webhook are listed.
func (s *Server) deliveryList(webhookID int64) source[webhook.DeliveryFilter, webhook.Delivery] {
	rows := func(ctx context.Context, actor account.Actor, filter webhook.DeliveryFilter, at input.Page) ([]webhook.Delivery, int64, error) {
		return s.Webhooks.Deliveries(ctx, actor, webhookID, filter, at)
	}
	return source[webhook.DeliveryFilter, webhook.Delivery]{account.DeliveryList, webhook.ReadDeliveryFilter, byTime, rows}
}

func (s *Server) resendDelivery(req *request) error {
	delivery, err := s.Webhooks.Resend(context.WithoutCancel(req.Context()), req.Actor, "", req.id)
	if err == nil && delivery.Status != webhook.Delivered {
		err = fault.Upstream("it was sent again, and not accepted; see its attempts", nil)
	}
	return req.did(err, req.back("/webhooks"), "It was delivered.")
}

type tokensData struct {
	Form *page.Form
	List []tokenRow
	Made string // the text of a new one, this once
	Name string
	Curl string // a call that works when pasted

	Scopes []page.Option
}

type tokenRow struct {
	account.Token
	Used    string
	Reads   bool // and nothing else
	Expired bool
}

// tokens shows the tokens, and the form of a new one.
func (s *Server) tokens(req *request, form *page.Form, refusal error) error {
	return s.tokensPage(req, tokensData{Form: cmp.Or(form, page.NewForm())}, refusal)
}

func (s *Server) tokensPage(req *request, data tokensData, refusal error) error {
	for _, t := range read(req, s.Accounts.Tokens) {
		data.List = append(data.List, tokenRow{
			t, req.lang.Ago(t.LastUsedAt, s.DB.Real()), t.Scope == account.ScopeRead, t.Expired(s.DB.Real()),
		})
	}
	data.Scopes = req.options(string(account.ScopeFull), "Read and change everything", string(account.ScopeRead), "Only read")
	if data.Made != "" {
		data.Curl = "curl -H 'Authorization: Bearer " + data.Made + "' '" + s.PublicURL + "/api/v1/customers?per_page=3'"
	}
	return req.showForm("tokens", "API tokens", refusal, data)
}

func (s *Server) createToken(req *request) error {
	t, plain, err := s.Accounts.CreateToken(req.Context(), req.Actor, account.ReadNewToken(req.form()))
	if err != nil {
		return req.again(err, s.tokens)
	}
	return s.tokensPage(req, tokensData{Form: page.NewForm(), Made: plain, Name: t.Name}, nil)
}
