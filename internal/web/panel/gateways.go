package panel

import (
	"strings"

	"carteira/internal/payment"
	"carteira/internal/platform/fault"
	"carteira/internal/web/page"
)

// gateway is the one in use; found is false when there is none.
func (s *Server) gateway(q *request) (setup payment.Setup, found bool, err error) {
	setup, err = s.Payments.Gateway(q.Context(), q.Actor)
	if fault.KindOf(err) == fault.KindInvalid { // none is set up
		return setup, false, nil
	}
	return setup, err == nil, err
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

func (s *Server) gatewayPage(q *request) error {
	var d gatewayData
	var err error
	if d.Tabs, err = s.paymentTabs(q, "gateway"); err != nil {
		return err
	}
	setup, found, err := s.gateway(q)
	if err != nil {
		return err
	}
	if found {
		d.Setup, d.Title, d.Text, d.Options = &setup, optionWord(q.lang, setup.Provider.Title), providerTexts[setup.Provider.Name], shownOptions(q, setup)
		if d.Live, err = s.Payments.Live(q.Context(), q.Actor); err != nil {
			return err
		}
	}
	for _, p := range s.Payments.Providers() {
		if !found || p.Name != setup.Provider.Name {
			d.Providers = append(d.Providers, providerRow{p, optionWord(q.lang, p.Title), providerTexts[p.Name]})
		}
	}
	return s.show(q, page.View{Name: "gateway", Title: "Payment gateway", Data: d})
}

func shownOptions(q *request, setup payment.Setup) []shownOption {
	var list []shownOption
	for _, o := range setup.Provider.Options {
		if v := setup.Options[o.Name]; v != "" {
			if len(o.Choices) > 0 {
				v = optionWord(q.lang, v)
			}
			list = append(list, shownOption{optionWord(q.lang, o.Title), v, o.Secret})
		}
	}
	return list
}

type gatewayForm struct {
	Form     *page.Form
	Provider payment.Provider
	Title    string
	Text     providerText
	Fields   []optionField
	Secrets  bool   // something that is asked for is never shown again
	Leaves   string // the gateway in use, when it is another
	Edits    bool   // it is the one in use
	Live     payment.Live
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

func (s *Server) gatewayFormPage(q *request) error { return s.gatewayForm(q, nil, nil) }

func (s *Server) gatewayForm(q *request, form *page.Form, refusal error) error {
	setup, err := s.Payments.SetupOf(q.Context(), q.Actor, q.PathValue("provider"))
	if err != nil {
		return err
	}
	d := gatewayForm{Form: form, Provider: setup.Provider, Title: optionWord(q.lang, setup.Provider.Title), Text: providerTexts[setup.Provider.Name], Edits: setup.Active}
	if d.Form == nil {
		d.Form = page.NewForm()
		for name, v := range setup.Options {
			d.Form.Set(name, v)
		}
	}
	for _, o := range setup.Provider.Options {
		d.Fields = append(d.Fields, newOptionField(q, o, setup.Options[o.Name]))
		d.Secrets = d.Secrets || o.Secret
	}
	inUse, found, err := s.gateway(q)
	if err != nil {
		return err
	}
	if found && !setup.Active {
		d.Leaves = optionWord(q.lang, inUse.Provider.Title)
	}
	if d.Live, err = s.Payments.Live(q.Context(), q.Actor); err != nil {
		return err
	}
	return s.show(q, page.View{Name: "gateway_form", Title: "Set up a gateway", Status: statusOf(refusal), Data: d})
}

func newOptionField(q *request, o payment.Option, kept string) optionField {
	f := optionField{Option: o, MustHave: o.Required, Label: optionWord(q.lang, o.Title), Hint: q.lang.T(o.Help)}
	if o.Secret && kept != "" {
		f.Known = kept
		f.Hint = q.lang.T("Set (%s). Leave it empty to keep it.", kept)
		f.Required = false
	}
	for _, c := range o.Choices {
		f.Choices = append(f.Choices, page.Option{Value: c, Label: optionWord(q.lang, c)})
	}
	if len(f.Choices) > 0 && !o.Required {
		f.Choices = append([]page.Option{{Value: "", Label: q.lang.T("As usual")}}, f.Choices...)
	}
	return f
}

func (s *Server) setGateway(q *request) error {
	setup, err := s.Payments.SetupOf(q.Context(), q.Actor, q.PathValue("provider"))
	if err != nil {
		return err
	}
	keepSecrets(q, setup.Provider)
	q.PostForm.Set("provider", setup.Provider.Name)
	setup, err = s.Payments.ConfigureGateway(q.Context(), q.Actor, s.Payments.ReadGateway(q.form()))
	if refused(err) {
		return s.gatewayForm(q, page.Sent(q.Request, err), err)
	}
	if err != nil {
		return err
	}
	if err := s.Payments.CheckGateway(q.Context(), q.Actor); err != nil {
		return q.complain("/payments/gateway", err)
	}
	if setup.Provider.Manual {
		return q.done("/payments/gateway", "%s is in use.", optionWord(q.lang, setup.Provider.Title))
	}
	return q.done("/payments/gateway", "%s is in use, and the credentials work.", optionWord(q.lang, setup.Provider.Title))
}

// keepSecrets takes secrets that were left empty out of the form, which keeps
// them as they are, unless the box beside them says that they go.
func keepSecrets(q *request, p payment.Provider) {
	for _, o := range p.Options {
		switch {
		case !o.Secret || strings.TrimSpace(q.PostFormValue(o.Name)) != "":
		case lastOf(q.PostForm["forget_"+o.Name]) == "true":
			q.PostForm.Set(o.Name, "")
		default:
			q.PostForm.Del(o.Name)
		}
	}
}

func lastOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

func (s *Server) checkGateway(q *request) error {
	if err := s.Payments.CheckGateway(q.Context(), q.Actor); err != nil {
		return q.complain("/payments/gateway", err)
	}
	return q.done("/payments/gateway", "The gateway answers, and the credentials work.")
}

func (s *Server) askClearGateway(q *request) error {
	setup, err := s.Payments.Gateway(q.Context(), q.Actor)
	if err != nil {
		return q.complain("/payments/gateway", err)
	}
	live, err := s.Payments.Live(q.Context(), q.Actor)
	if err != nil {
		return err
	}
	effects := []string{
		"No new charges are made: the payment pages say that online payment is not available.",
		"The credentials are forgotten as soon as no charge needs them.",
	}
	if live.Charges > 0 {
		effects = append(effects, q.lang.T("%d charges (%s) can still be paid. They are looked after until they end, and their payments are recorded.", live.Charges, live.Amount.BR()))
	}
	return s.ask(q, page.Confirm{
		Question: "Stop using %s?", Args: []any{optionWord(q.lang, setup.Provider.Title)}, Danger: true, Button: "Stop using it", Back: "/payments/gateway",
		Action: "/payments/gateway/clear", Effects: effects,
	})
}

func (s *Server) clearGateway(q *request) error {
	if err := s.Payments.ClearGateway(q.Context(), q.Actor); err != nil {
		return q.complain("/payments/gateway", err)
	}
	return q.done("/payments/gateway", "The company has no payment gateway now.")
}
