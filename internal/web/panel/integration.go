package panel

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/event"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/web/page"
	"carteira/internal/webhook"
)

type tokensData struct {
	Form *page.Form
	List []tokenRow
	Made string // the text of a new one, this once
	Name string
	Curl string // a call that works when pasted
}

type tokenRow struct {
	account.Token
	Used string
}

func (s *Server) tokens(q *request) error {
	return s.tokensPage(q, tokensData{Form: page.NewForm()}, nil)
}

func (s *Server) tokensPage(q *request, d tokensData, refusal error) error {
	list, err := s.Accounts.Tokens(q.Context(), q.Actor)
	if err != nil {
		return err
	}
	for _, t := range list {
		d.List = append(d.List, tokenRow{t, q.lang.Ago(t.LastUsedAt, s.DB.Now())})
	}
	if d.Made != "" {
		d.Curl = "curl -H 'Authorization: Bearer " + d.Made + "' '" + s.PublicURL + "/api/v1/customers?per_page=3'"
	}
	return s.show(q, page.View{Name: "tokens", Title: "API tokens", Status: statusOf(refusal), Data: d})
}

func (s *Server) createToken(q *request) error {
	t, plain, err := s.Accounts.CreateToken(q.Context(), q.Actor, account.ReadNewToken(q.form()))
	if refused(err) {
		return s.tokensPage(q, tokensData{Form: page.Sent(q.Request, err)}, err)
	}
	if err != nil {
		return err
	}
	return s.tokensPage(q, tokensData{Form: page.NewForm(), Made: plain, Name: t.Name}, nil)
}

func (s *Server) askDeleteToken(q *request) error {
	t, err := s.Accounts.Token(q.Context(), q.Actor, q.id)
	if err != nil {
		return err
	}
	return s.ask(q, page.Confirm{
		Question: "Delete the token %s?", Args: []any{t.Name}, Danger: true, Button: "Delete token", Back: "/api",
		Action: "/api/tokens/" + idText(t.ID) + "/delete", Effects: []string{"The very next call with it fails.", "This cannot be undone."},
	})
}

func (s *Server) deleteToken(q *request) error {
	if err := s.Accounts.DeleteToken(q.Context(), q.Actor, q.id); err != nil {
		return err
	}
	return q.done("/api", "The token was deleted.")
}

type webhooksData struct {
	List   []webhook.Webhook
	Made   string // the secret of a new one, this once
	MadeID int64
}

func (s *Server) webhooks(q *request) error { return s.webhooksPage(q, webhooksData{}) }

func (s *Server) webhooksPage(q *request, d webhooksData) error {
	var err error
	if d.List, err = s.Webhooks.List(q.Context(), q.Actor); err != nil {
		return err
	}
	return s.show(q, page.View{Name: "webhooks", Title: "Webhooks", Data: d})
}

type webhookForm struct {
	Form   *page.Form
	Events []event.Entry
	Action string
	Back   string
	New    bool
}

func (s *Server) webhookForm(q *request, title string, d webhookForm, refusal error) error {
	for _, e := range event.Catalog {
		if e.Name != event.Ping {
			d.Events = append(d.Events, e)
		}
	}
	return s.show(q, page.View{Name: "webhook_form", Title: title, Status: statusOf(refusal), Data: d})
}

func (s *Server) newWebhook(q *request) error {
	var pairs []string
	for _, name := range webhook.Subscribable() {
		pairs = append(pairs, "events", string(name))
	}
	return s.webhookForm(q, "New webhook", webhookForm{Form: page.NewForm(pairs...), Action: "/webhooks/new", Back: "/webhooks", New: true}, nil)
}

func (s *Server) createWebhook(q *request) error {
	w, secret, err := s.Webhooks.Create(q.Context(), q.Actor, q.formWith([]string{"events"}))
	if refused(err) {
		return s.webhookForm(q, "New webhook", webhookForm{Form: page.Sent(q.Request, err), Action: "/webhooks/new", Back: "/webhooks", New: true}, err)
	}
	if err != nil {
		return err
	}
	return s.webhooksPage(q, webhooksData{Made: secret, MadeID: w.ID})
}

func (s *Server) editWebhook(q *request) error {
	w, err := s.Webhooks.Find(q.Context(), q.Actor, q.id)
	if err != nil {
		return err
	}
	pairs := []string{"url", w.URL, "description", w.Description}
	for _, name := range w.Events {
		pairs = append(pairs, "events", string(name))
	}
	return s.webhookForm(q, "Edit webhook", webhookForm{Form: page.NewForm(pairs...), Action: webhookPath(w.ID) + "/edit", Back: webhookPath(w.ID)}, nil)
}

func webhookPath(id int64) string { return "/webhooks/" + idText(id) }

func (s *Server) updateWebhook(q *request) error {
	_, err := s.Webhooks.Update(q.Context(), q.Actor, q.id, q.formWith([]string{"events"}))
	if refused(err) {
		return s.webhookForm(q, "Edit webhook", webhookForm{Form: page.Sent(q.Request, err), Action: webhookPath(q.id) + "/edit", Back: webhookPath(q.id)}, err)
	}
	if err != nil {
		return err
	}
	return q.done(webhookPath(q.id), "The webhook was saved.")
}

// switchWebhook turns a webhook on or off.
func (s *Server) switchWebhook(q *request) error {
	w, err := s.Webhooks.Update(q.Context(), q.Actor, q.id, input.FromStrings(map[string]string{"active": q.PostFormValue("active")}))
	if err != nil {
		return q.complain(q.back(webhookPath(q.id)), err)
	}
	if w.Active {
		return q.done(q.back(webhookPath(q.id)), "The webhook is on. What was waiting is being sent.")
	}
	return q.done(q.back(webhookPath(q.id)), "The webhook is off. What is pending waits.")
}

type webhookData struct {
	Webhook  webhook.Webhook
	List     []webhook.Delivery
	Pager    page.Pager
	Form     *page.Form // filters
	Statuses []page.Option
	Tested   *tested
	Replay   *page.Form
}

type tested struct {
	webhook.Attempt
	Delivered bool
}

func (s *Server) webhook(q *request) error {
	return s.webhookPage(q, webhookData{Replay: page.NewForm("since", q.today.String())}, nil)
}

const deliveryRows = 25

func (s *Server) webhookPage(q *request, d webhookData, refusal error) error {
	var err error
	if d.Webhook, err = s.Webhooks.Find(q.Context(), q.Actor, q.id); err != nil {
		return err
	}
	in := q.query()
	p, f := in.Page(), webhook.ReadDeliveryFilter(in)
	p.Size = deliveryRows
	d.Form = queryForm(q)
	if err := in.Err(); err != nil {
		d.Form.Fail(err)
		f = webhook.DeliveryFilter{}
	}
	list, total, err := s.Webhooks.Deliveries(q.Context(), q.Actor, q.id, f, p)
	if err != nil {
		return err
	}
	d.List, d.Pager = list, page.NewPager(q.URL, p, total)
	d.Statuses = []page.Option{{Value: "", Label: q.lang.T("All")}}
	for _, status := range []webhook.Status{webhook.Pending, webhook.Delivered, webhook.Failed, webhook.Refused, webhook.Parked} {
		d.Statuses = append(d.Statuses, page.Option{Value: string(status), Label: q.lang.T(string(status))})
	}
	return s.show(q, page.View{Name: "webhook", Title: "Webhook", Status: statusOf(refusal), Data: d})
}

func (s *Server) testWebhook(q *request) error {
	attempt, delivered, err := s.Webhooks.Test(q.Context(), q.Actor, q.id)
	if err != nil {
		return q.complain(webhookPath(q.id), err)
	}
	return s.webhookPage(q, webhookData{Tested: &tested{attempt, delivered}, Replay: page.NewForm("since", q.today.String())}, nil)
}

func (s *Server) replayWebhook(q *request) error {
	since, err := readSince(q)
	if err == nil {
		_, err = s.Webhooks.StartReplay(q.Context(), q.Actor, q.id, since)
	}
	if refused(err) {
		return s.webhookPage(q, webhookData{Replay: page.Sent(q.Request, err)}, err)
	}
	if err != nil {
		return err
	}
	return q.done(webhookPath(q.id), "What happened since %s is being sent again.", page.FormatDate(civil.Of(since.In(q.Actor.Company.Zone))))
}

func readSince(q *request) (time.Time, error) {
	in := q.form()
	in.Require("since")
	day, _ := in.Date("since").Get()
	if err := in.Err(); err != nil {
		return time.Time{}, err
	}
	return day.Start(q.Actor.Company.Zone), nil
}

func (s *Server) askDeleteWebhook(q *request) error {
	w, err := s.Webhooks.Find(q.Context(), q.Actor, q.id)
	if err != nil {
		return err
	}
	return s.ask(q, page.Confirm{
		Question: "Delete the webhook to %s?", Args: []any{w.URL}, Danger: true, Button: "Delete webhook", Back: webhookPath(w.ID),
		Action:  webhookPath(w.ID) + "/delete",
		Effects: []string{"Its history goes with it, and so do deliveries that are pending.", "A new one gets another secret.", "This cannot be undone."},
	})
}

func (s *Server) deleteWebhook(q *request) error {
	if err := s.Webhooks.Delete(q.Context(), q.Actor, q.id); err != nil {
		return err
	}
	return q.done("/webhooks", "The webhook was deleted.")
}

func (s *Server) resendDelivery(q *request) error {
	d, err := s.Webhooks.Resend(context.WithoutCancel(q.Context()), q.Actor, "", q.id)
	if err != nil {
		return q.complain(q.back("/webhooks"), err)
	}
	if d.Status == webhook.Delivered {
		return q.done(q.back("/webhooks"), "It was delivered.")
	}
	return q.complain(q.back("/webhooks"), fault.Upstream("it was sent again, and not accepted; see its attempts", nil))
}

type signatureData struct {
	Form    *page.Form
	Secrets []page.Option
	Steps   []webhook.Step
}

func (s *Server) signaturePage(q *request) error {
	return s.signatureForm(q, signatureData{Form: page.NewForm("webhook_id", q.URL.Query().Get("webhook_id"))}, nil)
}

func (s *Server) signatureForm(q *request, d signatureData, refusal error) error {
	list, err := s.Webhooks.List(q.Context(), q.Actor)
	if err != nil {
		return err
	}
	for _, w := range list {
		d.Secrets = append(d.Secrets, page.Option{Value: idText(w.ID), Label: w.URL})
	}
	d.Secrets = append(d.Secrets, page.Option{Value: "0", Label: q.lang.T("Callback secret (single invoices)")})
	return s.show(q, page.View{Name: "signature", Title: "Signature checker", Status: statusOf(refusal), Data: d})
}

func (s *Server) checkSignature(q *request) error {
	steps, err := s.Webhooks.Explain(q.Context(), q.Actor, q.form())
	if err != nil && !refused(err) {
		return err
	}
	return s.signatureForm(q, signatureData{Form: page.Sent(q.Request, err), Steps: steps}, err)
}

func (s *Server) callbackSecret(q *request) error {
	secret, err := s.Webhooks.CallbackSecret(q.Context(), q.Actor)
	if err != nil {
		return err
	}
	return s.show(q, page.View{Name: "callback_secret", Title: "Callback secret", Data: secret})
}

func (s *Server) rotateCallbackSecret(q *request) error {
	if _, err := s.Webhooks.RotateCallbackSecret(q.Context(), q.Actor); err != nil {
		return err
	}
	return q.done("/webhooks/callback-secret", "There is a new callback secret. The old one is no longer used.")
}
