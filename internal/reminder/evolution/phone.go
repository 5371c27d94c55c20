package evolution

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"carteira/internal/platform/outbound"
	"carteira/internal/reminder"
)

// phone connects an instance of the bridge to the WhatsApp of a phone.
type phone struct {
	base   string // address of the bridge, without a slash at its end
	name   string // of the instance
	key    string
	client *outbound.Client
}

func openPhone(options map[string]string, env reminder.Env) (reminder.PhoneLink, error) {
	base := strings.TrimRight(options["base_url"], "/")
	return phone{base, options["instance"], options["apikey"], env.Once}, nil
}

// path is the address of an operation on the instance.
func (p phone) path(operation string) string {
	return p.base + "/instance/" + operation + "/" + url.PathEscape(p.name)
}

// errMissing: the bridge has no instance of that name.
var errMissing = errors.New("no such instance")

// Look implements reminder.PhoneLink.
func (p phone) Look(ctx context.Context) (reminder.Phone, error) {
	var told stateAnswer
	err := p.get(ctx, p.path("connectionState"), &told)
	switch {
	case errors.Is(err, errMissing):
		return p.missing(ctx)
	case err != nil:
		return reminder.Phone{}, err
	}
	switch told.Instance.State {
	case "open":
		return p.connected(ctx), nil
	case "connecting":
		return p.waiting(ctx)
	}
	return reminder.Phone{State: reminder.PhoneAway}, nil
}

// missing lists the instances that are there, to choose from. The bridge asks for
// the key only here: it says of any name that it is missing without one.
func (p phone) missing(ctx context.Context) (reminder.Phone, error) {
	found := reminder.Phone{State: reminder.PhoneMissing}
	list, err := p.instances(ctx, "")
	for _, one := range list {
		if one.name() != "" {
			found.Instances = append(found.Instances, one.name())
		}
	}
	return found, notEvolution(err)
}

// connected adds the number, which is not worth failing for.
func (p phone) connected(ctx context.Context) reminder.Phone {
	found := reminder.Phone{State: reminder.PhoneConnected}
	list, _ := p.instances(ctx, p.name)
	for _, one := range list {
		if one.name() == p.name {
			found.Number = one.number()
		}
	}
	return found
}

// waiting asks for the code, which the bridge renews by itself.
func (p phone) waiting(ctx context.Context) (reminder.Phone, error) {
	shown, err := p.connect(ctx)
	return reminder.Phone{State: reminder.PhoneWaiting, Code: shown.Code}, notEvolution(err)
}

// Connect implements reminder.PhoneLink.
func (p phone) Connect(ctx context.Context) error {
	_, err := p.connect(ctx)
	if !errors.Is(err, errMissing) {
		return err
	}
	if err := p.create(ctx); err != nil {
		return notEvolution(err)
	}
	_, err = p.connect(ctx)
	return notEvolution(err)
}

// codeAnswer is a code to scan, or the reason why there is none.
type codeAnswer struct {
	Code    string `json:"code"`
	Error   bool   `json:"error"`
	Message string `json:"message"`
}

// connect starts a connection that is not there, and returns the code of one that waits.
func (p phone) connect(ctx context.Context) (codeAnswer, error) {
	var shown codeAnswer
	err := p.get(ctx, p.path("connect"), &shown)
	if err == nil && shown.Error {
		err = &reminder.Refusal{Reason: shown.Message}
	}
	return shown, err
}

// create makes the instance. It is connected by a call of its own: with qrcode the
// bridge would wait for the code before it answers.
func (p phone) create(ctx context.Context) error {
	body, err := json.Marshal(map[string]any{
		"instanceName": p.name,
		"integration":  "WHATSAPP-BAILEYS",
		"qrcode":       false,
	})
	if err != nil {
		return err
	}
	header := http.Header{"Content-Type": {"application/json"}, "apikey": {p.key}}
	result, err := p.client.Post(ctx, p.base+"/instance/create", header, body)
	return p.judge(result, err, nil)
}

// Disconnect implements reminder.PhoneLink.
func (p phone) Disconnect(ctx context.Context) error {
	result, err := p.client.Delete(ctx, p.path("logout"), http.Header{"apikey": {p.key}})
	if err := p.judge(result, err, nil); !errors.Is(err, errMissing) {
		return err
	}
	return nil // nothing is left to sign out
}

// listed is an instance as a list has it: flat in version 2, a floor deeper in 1.
type listed struct {
	Name     string `json:"name"`
	OwnerJid string `json:"ownerJid"`
	Instance struct {
		Name  string `json:"instanceName"`
		Owner string `json:"owner"`
	} `json:"instance"`
}

func (l listed) name() string { return l.Name + l.Instance.Name }

// number is the phone in an address such as 5511987654321:3@s.whatsapp.net.
func (l listed) number() string {
	user, _, _ := strings.Cut(l.OwnerJid+l.Instance.Owner, "@")
	digits, _, _ := strings.Cut(user, ":")
	return digits
}

// instances lists those of a name, or all that the key may see.
func (p phone) instances(ctx context.Context, name string) ([]listed, error) {
	address := p.base + "/instance/fetchInstances"
	if name != "" {
		address += "?" + url.Values{"instanceName": {name}}.Encode()
	}
	var raw json.RawMessage
	if err := p.get(ctx, address, &raw); err != nil {
		return nil, err
	}
	var list []listed
	if json.Unmarshal(raw, &list) == nil {
		return list, nil
	}
	var one listed // as version 1 answers for a single name
	return []listed{one}, notEvolution(json.Unmarshal(raw, &one))
}

func (p phone) get(ctx context.Context, address string, into any) error {
	result, err := p.client.Get(ctx, address, http.Header{"apikey": {p.key}})
	return p.judge(result, err, into)
}

// judge reads an answer into what is wanted of it, or returns why it is none.
func (p phone) judge(result outbound.Result, err error, into any) error {
	if err != nil {
		if errors.Is(err, outbound.ErrRefused) {
			return &reminder.Refusal{Reason: "the address " + outbound.Public(err)}
		}
		return &reminder.Refusal{Reason: outbound.Public(err)}
	}
	var failed answer
	readable := json.Unmarshal(result.Body, &failed) == nil
	switch status := result.Status; {
	case status == http.StatusNotFound && readable && len(failed.Response.Message) > 0:
		return errMissing
	case status == http.StatusUnauthorized:
		return &reminder.Refusal{Reason: "the bridge does not accept the API key; to make an instance it takes the key of the whole bridge"}
	case status/100 != 2:
		return &reminder.Refusal{Reason: failed.reason(status)}
	case into == nil:
		return nil
	}
	return notEvolution(json.Unmarshal(result.Body, into))
}

// notEvolution is what an answer means that the bridge would not give.
func notEvolution(err error) error {
	var refusal *reminder.Refusal
	if err == nil || errors.As(err, &refusal) {
		return err
	}
	return &reminder.Refusal{Reason: "the address answers, but not as Evolution API does"}
}
