package reminder

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

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

// Templates lists the company's.
func (s *Service) Templates(ctx context.Context, a account.Actor) ([]Template, error) {
	return templates(ctx, s.db, a.Company.ID)
}

// FindTemplate returns one of them.
func (s *Service) FindTemplate(ctx context.Context, a account.Actor, templateID int64) (Template, error) {
	return templateByID(ctx, s.db, a.Company.ID, templateID)
}

// CreateTemplate makes a template from the fields name, subject, text,
// whatsapp_name, whatsapp_language and whatsapp_params.
func (s *Service) CreateTemplate(ctx context.Context, a account.Actor, in *input.Form) (Template, error) {
	in.Require("name")
	in.Require("text")
	var t Template
	s.readTemplate(in, &t)
	if err := in.Err(); err != nil {
		return t, err
	}
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
		t.CreatedAt, t.UpdatedAt = tx.Now(), tx.Now()
		if t.ID, err = insertTemplate(ctx, tx, a.Company.ID, t); err != nil {
			return err
		}
		return account.WriteAudit(ctx, tx, a, t.deed("created", nil, t.fields()))
	})
	return t, err
}

// UpdateTemplate changes what is given. Messages that are not sent yet will
// have the new words.
func (s *Service) UpdateTemplate(ctx context.Context, a account.Actor, templateID int64, in *input.Form) (Template, error) {
	in.MustNotClear("name")
	in.MustNotClear("text")
	var t Template
	err := a.Write(ctx, s.db, func(tx *sqldb.Tx) (err error) {
		if t, err = lockTemplate(ctx, tx, a.Company.ID, templateID); err != nil {
			return err
		}
		before := t.fields()
		s.readTemplate(in, &t)
		if t.Approved.Name == "" {
			if err := s.refuseUnapproved(ctx, tx, a, t.ID, in); err != nil {
				return err
			}
		}
		if err := in.Err(); err != nil {
			return err
		}
		t.UpdatedAt = tx.Now()
		if err := updateTemplate(ctx, tx, a.Company.ID, t); err != nil {
			return err
		}
		return account.WriteAudit(ctx, tx, a, t.deed("updated", before, t.fields()))
	})
	return t, err
}

// refuseUnapproved keeps a template that a rule sends through Meta from losing
// its approved name.
func (s *Service) refuseUnapproved(ctx context.Context, tx *sqldb.Tx, a account.Actor, templateID int64, in *input.Form) error {
	list, err := rules(ctx, tx, a.Company.ID)
	if err != nil {
		return err
	}
	for _, r := range list {
		if r.TemplateID != templateID {
			continue
		}
		if name, err := s.wantsApproved(ctx, tx, a, r.Channels); err != nil || name != "" {
			in.Refuse("whatsapp_name", fmt.Sprintf("must stay: rule %d sends this template through %s", r.ID, name))
			return err
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
		if err := removeTemplate(ctx, tx, a.Company.ID, templateID); err != nil {
			return err
		}
		return account.WriteAudit(ctx, tx, a, t.deed("deleted", t.fields(), nil))
	})
}

func (s *Service) readTemplate(in *input.Form, t *Template) {
	in.Ignore("id", "created_at", "updated_at")
	if v, ok := in.Line("name", 100).Get(); ok && v != "" {
		t.Name = v
	}
	if v, ok := in.Line("subject", maxSubject).Get(); ok {
		t.Subject = s.checkText(in, "subject", v)
	}
	if v, ok := in.Text("text", maxText).Get(); ok && v != "" {
		t.Text = s.checkText(in, "text", strings.ReplaceAll(v, "\r\n", "\n"))
	}
	if v, ok := in.Line("whatsapp_name", 512).Get(); ok {
		if strings.Trim(v, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
			in.Refuse("whatsapp_name", "must be the name that Meta approved: small letters, digits and _")
		}
		t.Approved.Name = v
	}
	if v, ok := in.Line("whatsapp_language", 10).Get(); ok && v != "" {
		t.Approved.Language = v
	}
	if t.Approved.Language == "" {
		t.Approved.Language = "pt_BR"
	}
	s.readParams(in, t)
}

// readParams reads a list, or the lines of a text, one parameter each.
func (s *Service) readParams(in *input.Form, t *Template) {
	list, ok := in.List("whatsapp_params").Get()
	if !ok {
		return
	}
	t.Approved.Params = nil
	for _, item := range list {
		for line := range strings.SplitSeq(item, "\n") {
			if line = strings.TrimSpace(line); line != "" {
				t.Approved.Params = append(t.Approved.Params, s.checkText(in, "whatsapp_params", line))
			}
		}
	}
	if len(t.Approved.Params) > maxParams {
		in.Refuse("whatsapp_params", fmt.Sprintf("must be at most %d", maxParams))
	}
	for _, p := range t.Approved.Params {
		if len([]rune(p)) > maxParam {
			in.Refuse("whatsapp_params", fmt.Sprintf("must have at most %d characters each", maxParam))
		}
	}
}

// checkText refuses a text with a variable that there is not, here and not when
// it is sent.
func (s *Service) checkText(in *input.Form, field, text string) string {
	parts, err := parseText(text)
	if err != nil {
		in.Refuse(field, err.Error())
	}
	for _, p := range parts {
		if p.variable != nil && p.variable.pays && s.options.Links == nil {
			in.Refuse(field, fmt.Sprintf("{%s} needs payments, which this installation does not have", p.variable.Name))
		}
	}
	return text
}

// Preview is a template as a customer would get it.
type Preview struct {
	Subject string
	Text    string
	Params  []string // of the approved template
	Problem string   // why a part of it could not be filled
}

// Preview fills a template for a customer of the company. Texts that are given
// in the form stand for those of the template, so that words can be looked at
// before they are saved; without a template they are all there is.
func (s *Service) Preview(ctx context.Context, a account.Actor, templateID, customerID int64, in *input.Form) (Preview, error) {
	var t Template
	if templateID != 0 {
		var err error
		if t, err = s.FindTemplate(ctx, a, templateID); err != nil {
			return Preview{}, err
		}
	}
	s.readTemplate(in, &t)
	if err := in.Err(); err != nil {
		return Preview{}, err
	}
	about, err := customerAbout(ctx, s.db, a.Company.ID, customerID)
	if err != nil {
		return Preview{}, err
	}
	f := fillingOf(a, about)
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
		company:  a.Company.Name, amount: 3500, link: "https://example.com/pay/abc", pix: "00020126…6304ABCD",
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
