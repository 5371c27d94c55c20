package panel

import (
	"errors"
	"strings"

	"carteira/internal/payment"
	"carteira/internal/platform/fault"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
)

// gateway is the one in use; found is false when there is none.
func (s *Server) gateway(req *kit.Request) (setup payment.Setup, found bool) {
	setup, err := s.Payments.Gateway(req.Context(), req.Actor)
	if fault.KindOf(err) == fault.KindInvalid { // none is set up
		return setup, false
	}
	req.Note(err)
	return setup, err == nil
}

type gatewayData struct {
	Tabs      paymentTabs
	Setup     *payment.Setup // nil: none is in use
	Title     string
	Text      providerText
	Options   []shownOption
	Live      payment.Live
	Providers []providerRow // those that could be chosen instead
}

// shownOption is an option of a gateway: of a secret, that it is set.
type shownOption struct {
	Label, Value string
	Secret       bool
}

type providerRow struct {
	payment.Provider
	Label string
	providerText
}

func (s *Server) gatewayPage(req *kit.Request) error {
	data := gatewayData{Tabs: s.paymentTabs(req, "gateway")}
	setup, found := s.gateway(req)
	if found {
		data.Setup, data.Title = &setup, optionWord(req.Lang, setup.Provider.Title)
		data.Text, data.Options = providerTexts[setup.Provider.Name], shownOptions(req, setup)
		data.Live = kit.Read(req, s.Payments.Live)
	}
	for _, provider := range s.Payments.Providers() {
		if !found || provider.Name != setup.Provider.Name {
			title := optionWord(req.Lang, provider.Title)
			data.Providers = append(data.Providers, providerRow{provider, title, providerTexts[provider.Name]})
		}
	}
	return req.Show("gateway", "Payment gateway", data)
}

func shownOptions(req *kit.Request, setup payment.Setup) []shownOption {
	var list []shownOption
	for _, option := range setup.Provider.Options {
		if value := setup.Options[option.Name]; value != "" {
			if len(option.Choices) > 0 {
				value = optionWord(req.Lang, value)
			}
			if option.As != nil && option.As(value) != value {
				value = req.Lang.T("%s (banks show: %s)", value, option.As(value))
			}
			list = append(list, shownOption{optionWord(req.Lang, option.Title), value, option.Secret})
		}
	}
	return list
}

const gatewayPath = "/payments/gateway"

type gatewayForm struct {
	Form     *page.Form
	Provider payment.Provider
	Title    string
	Text     providerText
	Fields   []optionField
	Secrets  bool   // something that is asked for is never shown again
	Files    bool   // a value may come from a file
	Leaves   string // the gateway in use, when it is another
	Edits    bool   // it is the one in use
	Live     payment.Live
	Failed   bool // what was sent did not work, and what was in use still is
}

// optionField is an option as the form asks for it. A secret is never shown
// again: left empty, it stays.
type optionField struct {
	payment.Option
	Label, Hint string
	Known       string // how the secret ends that is kept
	MustHave    bool   // it cannot be forgotten
	Choices     []page.Option
}

func (s *Server) gatewayForm(req *kit.Request, form *page.Form, refusal error) error {
	setup := kit.ReadOf(req, s.Payments.SetupOf, req.PathValue("provider"))
	d := gatewayForm{
		Form: form, Provider: setup.Provider, Title: optionWord(req.Lang, setup.Provider.Title),
		Text: providerTexts[setup.Provider.Name], Edits: setup.Active,
		Failed: refusal != nil && fault.KindOf(refusal) == fault.KindUpstream,
	}
	if d.Form == nil {
		d.Form = page.NewForm()
		for name, option := range setup.Options {
			d.Form.Set(name, option)
		}
	}
	for _, option := range setup.Provider.Options {
		d.Fields = append(d.Fields, newOptionField(req, option, setup.Options[option.Name]))
		d.Secrets, d.Files = d.Secrets || option.Secret, d.Files || option.Files != ""
	}
	if inUse, found := s.gateway(req); found && !setup.Active {
		d.Leaves = optionWord(req.Lang, inUse.Provider.Title)
	}
	d.Live = kit.Read(req, s.Payments.Live)
	return req.ShowForm("gateway_form", "Set up a gateway", refusal, d)
}

func newOptionField(req *kit.Request, option payment.Option, kept string) optionField {
	field := optionField{Option: option, MustHave: option.Required, Label: optionWord(req.Lang, option.Title), Hint: req.Lang.T(option.Help)}
	if option.Files != "" {
		field.Required = false // a file may tell it
	}
	if option.Secret && kept != "" {
		field.Known = kept
		field.Hint = req.Lang.T("Set (%s). Leave it empty to keep it.", kept)
		field.Required = false
	}
	if len(option.Choices) > 0 && !option.Required {
		field.Choices = []page.Option{req.Option("", "As usual")}
	}
	field.Choices = kit.OptionsOf(option.Choices, func(choice string) page.Option {
		return page.Option{Value: choice, Label: optionWord(req.Lang, choice)}
	}, field.Choices...)
	return field
}

func (s *Server) setGateway(req *kit.Request) error {
	setup, err := s.Payments.SetupOf(req.Context(), req.Actor, req.PathValue("provider"))
	if err != nil {
		return err
	}
	keepSecrets(req, setup.Provider)
	req.PostForm.Set("provider", setup.Provider.Name)
	anyway := lastOf(req.PostForm["anyway"]) == "true"
	req.PostForm.Del("anyway")
	draft := s.Payments.ReadGateway(req.Input())
	err = s.tryBeforeLeaving(req, draft, anyway)
	if err != nil && fault.KindOf(err) == fault.KindUpstream {
		return s.gatewayForm(req, page.Sent(req.Request, err), err)
	}
	if err == nil {
		setup, err = s.Payments.ConfigureGateway(req.Context(), req.Actor, draft)
	}
	if err != nil {
		return req.Again(err, s.gatewayForm)
	}
	if err := s.Payments.CheckGateway(req.Context(), req.Actor); err != nil {
		return s.checkFailed(req, err)
	}
	title := optionWord(req.Lang, setup.Provider.Title)
	if setup.Provider.Manual {
		return req.Done(gatewayPath, "%s is in use.", title)
	}
	return req.Done(gatewayPath, "%s is in use, and the credentials work.", title)
}

// tryBeforeLeaving checks what is to replace a gateway in use. After a failure it
// can be saved all the same.
func (s *Server) tryBeforeLeaving(req *kit.Request, draft payment.GatewayDraft, anyway bool) error {
	if anyway {
		return nil
	}
	current, found := s.gateway(req)
	if !found || current.Problem != "" {
		return req.Failed
	}
	return s.Payments.TryGateway(req.Context(), req.Actor, draft)
}

// keepSecrets takes secrets that were left empty out of the form, which keeps
// them as they are, unless the box next to them removes them.
func keepSecrets(req *kit.Request, provider payment.Provider) {
	for _, option := range provider.Options {
		switch {
		case !option.Secret || strings.TrimSpace(req.PostFormValue(option.Name)) != "":
		case lastOf(req.PostForm["forget_"+option.Name]) == "true":
			req.PostForm.Set(option.Name, "")
		default:
			req.PostForm.Del(option.Name)
		}
	}
}

func lastOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

func (s *Server) checkGateway(req *kit.Request) error {
	if err := s.Payments.CheckGateway(req.Context(), req.Actor); err != nil {
		return s.checkFailed(req, err)
	}
	return req.Done(gatewayPath, "The gateway answers, and the credentials work.")
}

// checkFailed says what a check found. A webhook that belongs to another system
// is asked about.
func (s *Server) checkFailed(req *kit.Request, err error) error {
	taken, found := errors.AsType[*payment.WebhookTaken](err)
	if !found {
		return req.Complain(gatewayPath, err)
	}
	return req.Ask(page.Confirm{
		Question: "Replace the webhook of the PIX key?", Danger: true, Button: "Send its notices here",
		Back: gatewayPath, Action: gatewayPath + "/webhook", Hidden: map[string]string{"webhook": taken.URL},
		Effects: []string{
			req.Lang.T("The credentials work. A key calls one system, and this one calls: %s", taken.URL),
			"That system hears of no payment to the key any more, and we hear of each within seconds.",
			"If you leave it, payments are found by asking, a little later.",
		},
	})
}

func (s *Server) replaceWebhook(req *kit.Request) error {
	err := s.Payments.ReplaceWebhook(req.Context(), req.Actor, req.PostFormValue("webhook"))
	if err != nil {
		return s.checkFailed(req, err)
	}
	return req.Done(gatewayPath, "The webhook was replaced: payments are heard of by themselves.")
}

func (s *Server) askClearGateway(req *kit.Request) error {
	setup, err := s.Payments.Gateway(req.Context(), req.Actor)
	if err != nil {
		return req.Complain(gatewayPath, err)
	}
	live := kit.Read(req, s.Payments.Live)
	effects := []string{
		"No new charges are made: the payment pages say that online payment is not available.",
		"The credentials are forgotten as soon as no charge needs them.",
	}
	if live.Charges > 0 {
		effects = append(effects, req.Lang.T(
			"%d charges (%s) can still be paid. They are looked after until they end, and their payments are recorded.",
			live.Charges, live.Amount.BR()))
	}
	return req.Ask(page.Confirm{
		Question: "Stop using %s?", Args: []any{optionWord(req.Lang, setup.Provider.Title)}, Danger: true,
		Button: "Stop using it", Back: gatewayPath, Effects: effects,
	})
}

func (s *Server) clearGateway(req *kit.Request) error {
	return req.Did(s.Payments.ClearGateway(req.Context(), req.Actor), gatewayPath, "The company has no payment gateway now.")
}
