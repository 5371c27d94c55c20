package woovi

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
)

// events are those that change what we know of a charge. Woovi writes them
// after a name and a colon, which is OPENPIX for older accounts.
var events = []string{
	"CHARGE_COMPLETED", "CHARGE_COMPLETED_NOT_SAME_CUSTOMER_PAYER", "CHARGE_EXPIRED",
	"TRANSACTION_RECEIVED",
}

// autopayEvents are those of PIX Automático, which Woovi writes without a name
// before them.
var autopayEvents = []string{
	"PIX_AUTOMATIC_APPROVED", "PIX_AUTOMATIC_REJECTED", "PIX_AUTOMATIC_COBR_APPROVED", "PIX_AUTOMATIC_COBR_COMPLETED",
	"PIX_AUTOMATIC_COBR_REJECTED", "PIX_AUTOMATIC_COBR_TRY_REJECTED", "PIX_AUTOMATIC_COBR_TRY_REQUESTED",
}

func eventName(text string) string {
	_, name, found := strings.Cut(text, ":")
	if !found {
		return text
	}
	return name
}

// VerifyCallback wants both proofs. The signature says that Woovi sent it, to whomever;
// the authorization says that it is meant for this company. It comes first,
// because the signature's keys may have to be fetched.
func (g *gateway) VerifyCallback(ctx context.Context, call payment.Callback) ([]payment.Hint, error) {
	if !wire.Same(call.Header.Get("Authorization"), g.proof) {
		return nil, payment.ErrForged
	}
	signature, err := base64.StdEncoding.DecodeString(call.Header.Get("X-Webhook-Signature"))
	if err != nil || len(signature) == 0 {
		return nil, payment.ErrForged
	}
	if err := g.keys.verify(ctx, g.env, call.Body, signature); err != nil {
		return nil, err
	}
	if g.debits {
		if hints := autopayHints(call.Body); hints != nil {
			return hints, nil
		}
	}
	return hints(call.Body), nil
}

// autopayHints are the authorisation or the debit that a callback is about.
func autopayHints(body []byte) []payment.Hint {
	var told struct {
		Event         string
		GlobalID      string
		CorrelationID string
		Cobr          *cobr
	}
	_ = json.Unmarshal(body, &told) // what is no event names nothing
	if !slices.Contains(autopayEvents, told.Event) || told.GlobalID == "" {
		return nil
	}
	hint := payment.Hint{Kind: payment.HintAuthorisation, Ref: payment.Ref{ID: told.GlobalID, Reference: told.CorrelationID}}
	id := told.Event + " " + told.GlobalID
	if told.Cobr != nil { // the reference is the subscription's
		hint.Kind, hint.Ref.Reference = payment.HintDebit, ""
		newest := told.Cobr.newest()
		id += " " + newest.Day + " " + newest.Status
	}
	hint.EventID = wire.Cut(id, 200)
	return []payment.Hint{hint}
}

func hints(body []byte) []payment.Hint {
	var e struct {
		Event  string
		Charge charge
		Pix    struct {
			EndToEndID    string `json:"endToEndId"`
			TransactionID string `json:"transactionID"`
		}
	}
	_ = json.Unmarshal(body, &e) // what is no event names no charge
	name := eventName(e.Event)
	if e.Charge.CorrelationID == "" || name != "" && !slices.Contains(events, name) {
		return nil
	}
	id := strings.Join([]string{name, e.Charge.CorrelationID, wire.Pick(e.Pix.EndToEndID, e.Pix.TransactionID)}, " ")
	return []payment.Hint{{EventID: wire.Cut(id, 200), Ref: payment.Ref{
		Reference: e.Charge.CorrelationID,
		ID:        e.Charge.GlobalID,
	}}}
}

const webhooksPath = "/api/v1/webhook"

type webhook struct {
	ID            string `json:"id,omitempty"`
	Name          string `json:"name"`
	Event         string `json:"event"`
	URL           string `json:"url"`
	Authorization string `json:"authorization"`
	IsActive      bool   `json:"isActive"`
}

// Register makes a webhook for each event, and replaces those at our address
// that would not prove themselves.
func (g *gateway) Register(ctx context.Context) error {
	if !wire.Reachable(g.env.CallbackURL) {
		return nil
	}
	there, err := g.webhooks(ctx)
	if err != nil {
		return wire.Outcome(err)
	}
	for _, event := range g.wanted() {
		if err := g.register(ctx, event, there); err != nil {
			return wire.Outcome(err)
		}
	}
	return nil
}

// wanted are the events that webhooks are made for, as Woovi writes them.
func (g *gateway) wanted() []string {
	var list []string
	for _, event := range events[:3] { // its charge reports what is received
		list = append(list, "OPENPIX:"+event)
	}
	if g.debits {
		list = append(list, autopayEvents...)
	}
	return list
}

func (g *gateway) webhooks(ctx context.Context) ([]webhook, error) {
	var page struct {
		Webhooks []webhook `json:"webhooks"`
	}
	err := g.api.Get(ctx, webhooksPath, url.Values{"url": {g.env.CallbackURL}}, &page)
	err = wire.Expect(err, page.Webhooks != nil, "GET %s: answered without webhooks", webhooksPath)
	return slices.DeleteFunc(page.Webhooks, func(webhook webhook) bool { return webhook.URL != g.env.CallbackURL }), err
}

func (g *gateway) register(ctx context.Context, event string, there []webhook) error {
	for _, webhook := range there {
		if eventName(webhook.Event) != eventName(event) {
			continue
		}
		if webhook.IsActive && wire.Same(webhook.Authorization, g.proof) {
			return nil
		}
		err := g.api.Send(ctx, http.MethodDelete, webhooksPath+"/"+url.PathEscape(webhook.ID), nil, nil)
		if err != nil {
			return err
		}
	}
	return g.api.Send(ctx, http.MethodPost, webhooksPath, map[string]webhook{"webhook": {
		Name:          "Carteira " + eventName(event),
		Event:         event,
		URL:           g.env.CallbackURL,
		Authorization: g.proof,
		IsActive:      true,
	}}, nil)
}

// keys are the public keys that Woovi signs callbacks with. They are fetched
// when they are old, and when a signature fits none of them, since a new one may
// have come; but not more than once in a while, however many signatures fail.
type keys struct {
	base string

	turn    chan struct{} // its holder may look and fetch
	list    []*rsa.PublicKey
	fetched time.Time // the last success
	tried   time.Time // the last try
}

const (
	keysLast  = time.Hour
	keysPause = time.Minute
)

// verify checks a signature of body. Keys that cannot be fetched are no proof
// of a forgery: the callback is to come again.
func (k *keys) verify(ctx context.Context, env payment.Env, body, signature []byte) error {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	var failed error
	if now := env.Now(); now.Sub(k.fetched) >= keysLast {
		failed = k.fetch(ctx, env)
	}
	if k.fits(body, signature) {
		return nil
	}
	if failed == nil {
		failed = k.fetch(ctx, env)
	}
	switch {
	case k.fits(body, signature):
		return nil
	case len(k.list) == 0 && failed != nil:
		return fmt.Errorf("check the signature of a callback: %w", failed)
	}
	return payment.ErrForged
}

func (k *keys) fits(body, signature []byte) bool {
	sum := sha256.Sum256(body)
	for _, key := range k.list {
		if rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature) == nil {
			return true
		}
	}
	return false
}

// fetch asks for the keys, which anybody may have.
func (k *keys) fetch(ctx context.Context, env payment.Env) error {
	now := env.Now()
	if !k.tried.IsZero() && now.Sub(k.tried) < keysPause {
		return errors.New("the keys were asked for a moment ago")
	}
	var answer struct {
		Keys []struct {
			Key string `json:"key"`
		} `json:"public_keys"`
	}
	api := wire.API{Base: k.base, Client: env.Client, Reason: reason}
	err := api.Get(ctx, "/api/v1/webhook/public-keys", nil, &answer)
	if err != nil {
		if ctx.Err() == nil {
			k.tried = now
		}
		return err
	}
	k.tried = now
	var list []*rsa.PublicKey
	for _, one := range answer.Keys {
		if key, err := readKey(one.Key); err == nil {
			list = append(list, key)
		}
	}
	if len(list) == 0 {
		return errors.New("GET /api/v1/webhook/public-keys: no key can be read")
	}
	k.list, k.fetched = list, now
	return nil
}

func readKey(text string) (*rsa.PublicKey, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("no PEM text")
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	key, ok := parsed.(*rsa.PublicKey)
	if !ok {
		return nil, errors.New("no RSA key")
	}
	return key, nil
}
