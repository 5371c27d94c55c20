package reminder

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// Template is the words of a message.
type Template struct {
	ID        int64
	Name      string
	Subject   string // of an e-mail
	Text      string
	Approved  ApprovedTemplate // what Meta knows it by; its Params have variables too
	CreatedAt time.Time
	UpdatedAt time.Time
}

// The longest that a template may be.
const (
	maxSubject = 200
	maxText    = 3000
	maxParams  = 20
	maxParam   = 500
)

func (t Template) texts() []string {
	return append([]string{t.Subject, t.Text}, t.Approved.Params...)
}

// Templates lists the templates of the company.
func (s *Service) Templates(ctx context.Context, a account.Actor) ([]Template, error) {
	return templates(ctx, s.db, a.Company.ID)
}

// FindTemplate returns a template of the company.
func (s *Service) FindTemplate(ctx context.Context, a account.Actor, templateID int64) (Template, error) {
	return templateByID(ctx, s.db, a.Company.ID, templateID)
}

// TemplateDraft is what a caller wants a template to be; a change leaves alone
// what is not given.
type TemplateDraft struct {
	Name             input.Opt[string]
	Subject          input.Opt[string]
	Text             input.Opt[string]
	WhatsappName     input.Opt[string]
	WhatsappLanguage input.Opt[string]
	WhatsappParams   input.Opt[[]string]

	Problems input.Problems
}

// ReadNewTemplate reads a new template from the fields name, subject, text,
// whatsapp_name, whatsapp_language and whatsapp_params.
func ReadNewTemplate(in *input.Form) TemplateDraft {
	in.Require("name")
	in.Require("text")
	return ReadTemplate(in)
}

// ReadTemplateChanges reads changes of a template.
func ReadTemplateChanges(in *input.Form) TemplateDraft {
	in.MustNotClear("name")
	in.MustNotClear("text")
	return ReadTemplate(in)
}

// ReadTemplate reads the texts that are given, for a preview.
func ReadTemplate(in *input.Form) TemplateDraft {
	in.Ignore("id", "created_at", "updated_at")
	d := TemplateDraft{
		Name:             in.Line("name", 100),
		Subject:          in.Line("subject", maxSubject),
		Text:             in.Text("text", maxText),
		WhatsappName:     in.Line("whatsapp_name", 512),
		WhatsappLanguage: in.Line("whatsapp_language", 10),
		WhatsappParams:   in.List("whatsapp_params"),
	}
	d.Text.Value = strings.ReplaceAll(d.Text.Value, "\r\n", "\n")
	if strings.Trim(d.WhatsappName.Value, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		in.Refuse("whatsapp_name", "must be the name that Meta approved: small letters, digits and _")
	}
	d.WhatsappParams.Value = paramLines(d.WhatsappParams.Value)
	d.Problems = in.Problems()
	return d
}

// paramLines makes a parameter of every line of every item.
func paramLines(items []string) []string {
	var params []string
	for _, item := range items {
		for line := range strings.SplitSeq(item, "\n") {
			if line = strings.TrimSpace(line); line != "" {
				params = append(params, line)
			}
		}
	}
	return params
}

// to sets what is given. Name and text are never emptied.
func (d TemplateDraft) to(t *Template) {
	t.Name = d.Name.Or(t.Name)
	d.Subject.To(&t.Subject)
	t.Text = d.Text.Or(t.Text)
	d.WhatsappName.To(&t.Approved.Name)
	t.Approved.Language = cmp.Or(d.WhatsappLanguage.Value, t.Approved.Language, "pt_BR")
	d.WhatsappParams.To(&t.Approved.Params)
}

// check refuses what cannot be sent, here and not when it is sent: a variable
// that does not exist, a parameter that is too long.
func (s *Service) check(d TemplateDraft) (refused fault.Fields) {
	s.checkText("subject", d.Subject.Value, &refused)
	s.checkText("text", d.Text.Value, &refused)
	for _, param := range d.WhatsappParams.Value {
		s.checkText("whatsapp_params", param, &refused)
	}
	if len(d.WhatsappParams.Value) > maxParams {
		refused.Add("whatsapp_params", fmt.Sprintf("must be at most %d", maxParams))
	}
	if slices.ContainsFunc(d.WhatsappParams.Value, func(p string) bool { return utf8.RuneCountInString(p) > maxParam }) {
		refused.Add("whatsapp_params", fmt.Sprintf("must have at most %d characters each", maxParam))
	}
	return refused
}

func (s *Service) checkText(field, text string, refused *fault.Fields) {
	parts, err := parseText(text)
	if err != nil {
		refused.Add(field, err.Error())
	}
	for _, p := range parts {
		if p.variable != nil && p.variable.pays && s.options.Links == nil {
			refused.Add(field, fmt.Sprintf("{%s} needs payments, which this installation does not have", p.variable.Name))
		}
	}
}

// CreateTemplate makes a template.
func (s *Service) CreateTemplate(ctx context.Context, a account.Actor, d TemplateDraft) (Template, error) {
	if err := d.Problems.With(s.check(d)).Err(); err != nil {
		return Template{}, err
	}
	var t Template
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		t = Template{}
		d.to(&t)
		return s.applyTemplate(ctx, tx, a, change[Template]{after: &t})
	})
	return t, err
}

// UpdateTemplate changes what is given. Messages that are not sent yet will
// have the new words.
func (s *Service) UpdateTemplate(ctx context.Context, a account.Actor, templateID int64, d TemplateDraft) (Template, error) {
	wrong := d.Problems.With(s.check(d))
	var t Template
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		before, err := lockTemplate(ctx, tx, a.Company.ID, templateID)
		if err != nil {
			return err
		}
		t = before
		d.to(&t)
		var refused fault.Fields
		if t.Approved.Name == "" {
			if err := s.refuseUnapproved(ctx, tx, a, t.ID, &refused); err != nil {
				return err
			}
		}
		if err := wrong.With(refused).Err(); err != nil {
			return err
		}
		return s.applyTemplate(ctx, tx, a, change[Template]{&before, &t})
	})
	return t, err
}

// refuseUnapproved keeps a template that a rule sends through Meta from losing
// its approved name.
func (s *Service) refuseUnapproved(ctx context.Context, tx *sqldb.Tx, a account.Actor, templateID int64, refused *fault.Fields) error {
	list, err := rules(ctx, tx, a.Company.ID)
	if err != nil {
		return err
	}
	for _, r := range list {
		if r.TemplateID != templateID {
			continue
		}
		name, err := s.wantsApproved(ctx, tx, a, r.Channels)
		if err != nil {
			return err
		}
		if name != "" {
			refused.Add("whatsapp_name", fmt.Sprintf("must stay: rule %d sends this template through %s", r.ID, name))
			return nil
		}
	}
	return nil
}

// DeleteTemplate removes a template that no rule uses.
func (s *Service) DeleteTemplate(ctx context.Context, a account.Actor, templateID int64) error {
	return a.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		t, err := lockTemplate(ctx, tx, a.Company.ID, templateID)
		if err != nil {
			return err
		}
		list, err := rules(ctx, tx, a.Company.ID)
		if err != nil {
			return err
		}
		for _, r := range list {
			if r.TemplateID == templateID {
				return fault.Conflict(fmt.Sprintf("rule %d, %s, uses this template", r.ID, r.Name))
			}
		}
		return s.applyTemplate(ctx, tx, a, change[Template]{before: &t})
	})
}

// Preview is a template as a customer would get it.
type Preview struct {
	Subject string
	Text    string
	Params  []string // of the approved template
	Problem string   // why a part of it could not be filled
}

// PreviewRequest is which template to fill for which customer. Texts of the
// draft replace those of the template, so that words can be looked at before
// they are saved; without a template they are all there is.
type PreviewRequest struct {
	TemplateID, CustomerID int64
	Draft                  TemplateDraft
}

// Preview fills a template for a customer of the company.
func (s *Service) Preview(ctx context.Context, a account.Actor, r PreviewRequest) (Preview, error) {
	var t Template
	if r.TemplateID != 0 {
		var err error
		if t, err = s.FindTemplate(ctx, a, r.TemplateID); err != nil {
			return Preview{}, err
		}
	}
	if err := r.Draft.Problems.With(s.check(r.Draft)).Err(); err != nil {
		return Preview{}, err
	}
	r.Draft.to(&t)
	about, err := customerAbout(ctx, s.db, a.Company.ID, r.CustomerID)
	if err != nil {
		return Preview{}, err
	}
	f := fillingOf(a, about, a.Today(s.db.Now()))
	var p Preview
	if problem := s.fillPayment(ctx, a, t, about, &f); problem != nil {
		p.Problem = problemText(problem)
	}
	p.Subject, p.Text, p.Params = fill(t, f)
	return p, nil
}

// fill is a template's texts, filled.
func fill(t Template, f filling) (subject, text string, params []string) {
	params = make([]string, len(t.Approved.Params))
	for i, p := range t.Approved.Params {
		params[i] = oneLine(render(p, f))
	}
	return oneLine(render(t.Subject, f)), render(t.Text, f), params
}

// sampleFilling fills with the samples of the variables.
func sampleFilling(a account.Actor) filling {
	return filling{
		customer: customer.Customer{Name: "Ana Souza", Usuario: "ana.souza", Plan: customer.Plan{Name: "Mensal"}},
		company:  a.Company.Name, amount: 3500, face: 3500, charges: 82, discount: 175, link: "https://example.com/pay/abc", pix: "00020126…6304ABCD",
	}
}

func encodeParams(list []string) string {
	if list == nil {
		list = []string{}
	}
	text, _ := json.Marshal(list) // texts always encode
	return string(text)
}

func decodeParams(text string) (list []string, err error) {
	err = json.Unmarshal([]byte(text), &list)
	return list, err
}
