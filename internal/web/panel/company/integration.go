package company

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
	"carteira/internal/web/panel/kit"
	"carteira/internal/webhook"
)

type webhooksData struct {
	List   []webhook.Webhook
	Made   string // the secret of a new one, this once
	MadeID int64
}

// WebhookList lists the webhooks.
func (s *Pages) WebhookList(req *kit.Request) error { return s.webhooksPage(req, webhooksData{}) }

func (s *Pages) webhooksPage(req *kit.Request, data webhooksData) error {
	data.List = kit.Read(req, s.Webhooks.List)
	return req.Show("webhooks", "Webhooks", data)
}

type webhookForm struct {
	kit.RecordForm
	Events []event.Entry
}

// WebhookForm is the form of a webhook; a new one gets every event.
func (s *Pages) WebhookForm(req *kit.Request, form *page.Form, refusal error) error {
	hook := webhook.Webhook{Events: webhook.Subscribable()}
	if req.ID != 0 {
		hook = kit.ReadOf(req, s.Webhooks.Find, req.ID)
	}
	if form == nil {
		form = page.NewForm("url", hook.URL, "description", hook.Description, "retry_refused", kit.BoolText(hook.RetryRefused))
		for _, name := range hook.Events {
			form.Add("events", string(name))
		}
	}
	data := webhookForm{RecordForm: req.RecordForm("/webhooks", form)}
	for _, entry := range event.Catalog {
		if entry.Name != event.Ping {
			data.Events = append(data.Events, entry)
		}
	}
	return req.ShowForm("webhook_form", data.Title("New webhook", "Edit webhook"), refusal, data)
}

// CreateWebhook makes a webhook, and shows its secret this once.
func (s *Pages) CreateWebhook(req *kit.Request) error {
	hook, secret, err := s.Webhooks.Create(req.Context(), req.Actor, webhook.ReadNew(req.InputWith([]string{"events"})))
	if err != nil {
		return req.Again(err, s.WebhookForm)
	}
	return s.webhooksPage(req, webhooksData{Made: secret, MadeID: hook.ID})
}

// WebhookPath is the address of a webhook.
func WebhookPath(id int64) string { return "/webhooks/" + kit.IDText(id) }

// UpdateWebhook changes a webhook.
func (s *Pages) UpdateWebhook(req *kit.Request) error {
	_, err := s.Webhooks.Update(req.Context(), req.Actor, req.ID, webhook.ReadChanges(req.InputWith([]string{"events"})))
	return req.Sent(err, s.WebhookForm, WebhookPath(req.ID), "The webhook was saved.")
}

// SwitchWebhook turns a webhook on or off.
func (s *Pages) SwitchWebhook(req *kit.Request) error {
	back := req.Back(WebhookPath(req.ID))
	hook, err := s.Webhooks.Update(req.Context(), req.Actor, req.ID, webhook.Draft{Active: req.ReadActive()})
	return req.Did(err, back, kit.Either(hook.Active, "The webhook is on. What was waiting is being sent.",
		"The webhook is off. What is pending waits."))
}

type webhookData struct {
	kit.Listing
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

// Webhook shows a webhook and its deliveries.
func (s *Pages) Webhook(req *kit.Request) error { return s.webhookPage(req, webhookData{}, nil) }

func (s *Pages) webhookPage(req *kit.Request, data webhookData, refusal error) error {
	if req.Method == http.MethodPost { // the answer to a form is the page, and its links lead to the page
		req.Request = req.WithContext(req.Context()) // the log has the address as it came
		req.URL = &url.URL{Path: WebhookPath(req.ID)}
	}
	data.Webhook = kit.ReadOf(req, s.Webhooks.Find, req.ID)
	data.Listing = kit.NewList(req, WebhookPath(req.ID)+"/export", deliveryChips(req), "event", "from", "to")
	list, _ := kit.Fill(req, &data.Listing, s.deliveryList(req.ID))
	for _, found := range list {
		data.List = append(data.List, deliveryRow{found})
	}
	data.Heads, data.Total = kit.TimeHeads(req), kit.Counted(req.Lang, data.Pager.Total, "1 delivery", "%s deliveries")
	data.Events, data.Replay = eventOptions(req), cmp.Or(data.Replay, page.NewForm("since", req.Today.String()))
	return req.ShowForm("webhook", "Webhook", refusal, data)
}

// TestWebhook sends a test, and shows what came of it.
func (s *Pages) TestWebhook(req *kit.Request) error {
	attempt, delivered, err := s.Webhooks.Test(req.Context(), req.Actor, req.ID)
	if err != nil {
		return req.Complain(WebhookPath(req.ID), err)
	}
	return s.webhookPage(req, webhookData{Tested: &tested{attempt, delivered}}, nil)
}

// RotateWebhookSecret replaces the secret, and shows the new one this once.
func (s *Pages) RotateWebhookSecret(req *kit.Request) error {
	secret, err := s.Webhooks.RotateSecret(req.Context(), req.Actor, req.ID)
	if err != nil {
		return err
	}
	return s.webhookPage(req, webhookData{Secret: secret}, nil)
}

// ReplayWebhook sends what happened since a day again.
func (s *Pages) ReplayWebhook(req *kit.Request) error {
	since, err := readSince(req)
	if err == nil {
		_, err = s.Webhooks.StartReplay(req.Context(), req.Actor, req.ID, since)
	}
	again := func(req *kit.Request, form *page.Form, refusal error) error {
		return s.webhookPage(req, webhookData{Replay: form}, refusal)
	}
	return req.Sent(err, again, WebhookPath(req.ID), "What happened since %s is being sent again.",
		page.FormatDate(civil.Of(since.In(req.Actor.Company.Zone))))
}

func readSince(req *kit.Request) (time.Time, error) {
	in := req.Input()
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

// SignatureForm asks for a signature to be checked.
func (s *Pages) SignatureForm(req *kit.Request, form *page.Form, refusal error) error {
	return s.signaturePage(req, signatureData{Form: cmp.Or(form, page.NewForm("webhook_id", req.URL.Query().Get("webhook_id")))}, refusal)
}

func (s *Pages) signaturePage(req *kit.Request, data signatureData, refusal error) error {
	hookName := func(hook webhook.Webhook) (int64, string) { return hook.ID, hook.URL }
	data.Secrets = append(kit.NamedOptions(kit.Read(req, s.Webhooks.List), hookName), req.Option("0", "Callback secret (single invoices)"))
	return req.ShowForm("signature", "Signature checker", refusal, data)
}

// CheckSignature shows step by step why a signature fits or does not.
func (s *Pages) CheckSignature(req *kit.Request) error {
	steps, err := s.Webhooks.Explain(req.Context(), req.Actor, req.Input())
	if err != nil && !kit.Refused(err) {
		return err
	}
	return s.signaturePage(req, signatureData{Form: page.Sent(req.Request, err), Steps: steps}, err)
}

// CallbackSecret shows the secret of callbacks.
func (s *Pages) CallbackSecret(req *kit.Request) error {
	secret := kit.Read(req, s.Webhooks.CallbackSecret)
	return req.Show("callback_secret", "Callback secret", secret)
}

// RotateCallbackSecret replaces the secret of callbacks.
func (s *Pages) RotateCallbackSecret(req *kit.Request) error {
	_, err := s.Webhooks.RotateCallbackSecret(req.Context(), req.Actor)
	return req.Did(err, "/webhooks/callback-secret", "There is a new callback secret. The old one signs too for 24 hours.")
}

// deliveryStatuses are the statuses of deliveries, as lists offer them.
var deliveryStatuses = []webhook.Status{
	webhook.Pending, webhook.Delivered, webhook.Failed, webhook.Refused, webhook.Parked,
}

func deliveryChips(req *kit.Request) []kit.ChipLine {
	statuses := kit.WordOptions(req, deliveryStatuses, nil, req.Option("", "All deliveries"))
	return []kit.ChipLine{kit.ChoiceChips(req, "Status", "status", statuses), kit.DateChips(req, "from", "to", false)}
}

// eventOptions are the events, for a filter.
func eventOptions(req *kit.Request) []page.Option {
	return kit.OptionsOf(event.Catalog, func(entry event.Entry) page.Option {
		return page.Option{Value: string(entry.Name), Label: string(entry.Name)}
	}, req.Option("", "All events"))
}

// deliveryRow is a delivery as the list and its own page show it.
type deliveryRow struct{ webhook.Delivery }

type deliveryData struct {
	deliveryRow
	Place kit.Place
}

// Last is the last attempt; nil when there was none.
func (d deliveryRow) Last() *webhook.Attempt {
	if len(d.Attempts) == 0 {
		return nil
	}
	return &d.Attempts[len(d.Attempts)-1]
}

// Delivery shows a delivery with its attempts.
func (s *Pages) Delivery(req *kit.Request, found webhook.Delivery) error {
	data := deliveryData{deliveryRow{found}, s.deliveryPlace(req, found.WebhookID)}
	return req.Show("delivery", "Delivery", data)
}

// deliveryPlace is where a delivery is in the list of its webhook. The notification
// of a single invoice is in none.
func (s *Pages) deliveryPlace(req *kit.Request, webhookID int64) kit.Place {
	if webhookID == 0 {
		return kit.Place{Back: "/webhooks"}
	}
	at := kit.Listed{List: WebhookPath(webhookID), Records: "/deliveries"}
	return at.Place(req, s.deliveryList(webhookID).Nth(req, func(record webhook.Delivery) int64 { return record.ID }))
}

// deliveryList is how the deliveries of a webhook are listed.
func (s *Pages) deliveryList(webhookID int64) kit.Source[webhook.DeliveryFilter, webhook.Delivery] {
	rows := func(ctx context.Context, actor account.Actor, filter webhook.DeliveryFilter, at input.Page) ([]webhook.Delivery, int64, error) {
		return s.Webhooks.Deliveries(ctx, actor, webhookID, filter, at)
	}
	return kit.ListOf(account.DeliveryList, webhook.ReadDeliveryFilter, kit.ByTime, rows)
}

// ResendDelivery sends a delivery again.
func (s *Pages) ResendDelivery(req *kit.Request) error {
	delivery, err := s.Webhooks.Resend(context.WithoutCancel(req.Context()), req.Actor, "", req.ID)
	if err == nil && delivery.Status != webhook.Delivered {
		err = fault.Upstream("it was sent again, and not accepted; see its attempts", nil)
	}
	return req.Did(err, req.Back("/webhooks"), "It was delivered.")
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

// Tokens shows the tokens, and the form of a new one.
func (s *Pages) Tokens(req *kit.Request, form *page.Form, refusal error) error {
	return s.tokensPage(req, tokensData{Form: cmp.Or(form, page.NewForm())}, refusal)
}

func (s *Pages) tokensPage(req *kit.Request, data tokensData, refusal error) error {
	for _, t := range kit.Read(req, s.Accounts.Tokens) {
		data.List = append(data.List, tokenRow{
			t, req.Lang.Ago(t.LastUsedAt, s.DB.Real()), t.Scope == account.ScopeRead, t.Expired(s.DB.Real()),
		})
	}
	data.Scopes = req.Options(string(account.ScopeFull), "Read and change everything", string(account.ScopeRead), "Only read")
	if data.Made != "" {
		data.Curl = "curl -H 'Authorization: Bearer " + data.Made + "' '" + s.PublicURL + "/api/v1/customers?per_page=3'"
	}
	return req.ShowForm("tokens", "API tokens", refusal, data)
}

// CreateToken makes a token, and shows it this once.
func (s *Pages) CreateToken(req *kit.Request) error {
	t, plain, err := s.Accounts.CreateToken(req.Context(), req.Actor, account.ReadNewToken(req.Input()))
	if err != nil {
		return req.Again(err, s.Tokens)
	}
	return s.tokensPage(req, tokensData{Form: page.NewForm(), Made: plain, Name: t.Name}, nil)
}

// ExportDeliveries sends the deliveries of a webhook as a file.
func (s *Pages) ExportDeliveries(req *kit.Request, hook webhook.Webhook) error {
	walk := func(ctx context.Context, actor account.Actor, filter webhook.DeliveryFilter, do func(webhook.Delivery) error) error {
		return s.Webhooks.WalkDeliveries(ctx, actor, hook.ID, filter, do)
	}
	return kit.Exported("entregas", []string{"entrega", "evento", "identificação", "situação", "criada em", "entregue em"},
		webhook.ReadDeliveryFilter, walk, func(req *kit.Request, delivery webhook.Delivery) []string {
			return []string{
				kit.IDText(delivery.ID), string(delivery.Event), delivery.EventID, page.Portuguese.T(string(delivery.Status)),
				req.Moment(delivery.CreatedAt), req.Moment(delivery.DeliveredAt),
			}
		})(req)
}
