package reminder

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
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
	return append([]string{t.Subject, t.Text, t.Approved.Header, t.Approved.Button}, t.Approved.Params...)
}

// Templates lists the templates of the company.
func (s *Service) Templates(ctx context.Context, actor account.Actor) ([]Template, error) {
	return templates(ctx, s.db, actor.Company.ID)
}

// FindTemplate returns a template of the company.
func (s *Service) FindTemplate(ctx context.Context, actor account.Actor, templateID int64) (Template, error) {
	return templateByID(ctx, s.db, actor.Company.ID, templateID)
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
	WhatsappHeader   input.Opt[string]
	WhatsappButton   input.Opt[string]

	Problems input.Problems
}

// ReadNewTemplate reads a new template from the fields of TemplateFields.
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
	var draft TemplateDraft
	TemplateFields.Read(in, &draft)
	draft.Problems = in.Problems()
	return draft
}

// readWords reads a text with the line breaks of this program.
func readWords(in *input.Form, name string) input.Opt[string] {
	words := in.Text(name, maxText)
	words.Value = strings.ReplaceAll(words.Value, "\r\n", "\n")
	return words
}

func readApprovedName(in *input.Form, name string) input.Opt[string] {
	approved := in.Line(name, 512)
	if strings.Trim(approved.Value, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		in.Refuse(name, "must be the name that Meta approved: small letters, digits and _")
	}
	return approved
}

// readParams makes a parameter of every line of every item.
func readParams(in *input.Form, name string) input.Opt[[]string] {
	items := in.List(name)
	var params []string
	for _, item := range items.Value {
		for line := range strings.SplitSeq(item, "\n") {
			if line = strings.TrimSpace(line); line != "" {
				params = append(params, line)
			}
		}
	}
	items.Value = params
	return items
}

// to sets what is given. Name and text are never emptied.
func (d TemplateDraft) to(template *Template) {
	TemplateFields.To(&d, template)
	template.Approved.Language = cmp.Or(template.Approved.Language, "pt_BR")
}

// check refuses what cannot be sent, here and not when it is sent: a variable
// that does not exist, a parameter that is too long.
func (s *Service) check(draft TemplateDraft) (refused fault.Fields) {
	s.checkText("subject", draft.Subject.Value, &refused)
	s.checkText("text", draft.Text.Value, &refused)
	s.checkText("whatsapp_header", draft.WhatsappHeader.Value, &refused)
	s.checkText("whatsapp_button", draft.WhatsappButton.Value, &refused)
	named := 0
	for _, param := range draft.WhatsappParams.Value {
		name, value := paramName(param)
		if name != "" {
			named++
		}
		s.checkText("whatsapp_params", value, &refused)
	}
	if named > 0 && named < len(draft.WhatsappParams.Value) {
		refused.Add("whatsapp_params", "must all have a name, or none: Meta has templates of either sort")
	}
	if len(draft.WhatsappParams.Value) > maxParams {
		refused.Add("whatsapp_params", fmt.Sprintf("must be at most %d", maxParams))
	}
	if slices.ContainsFunc(draft.WhatsappParams.Value, func(p string) bool { return utf8.RuneCountInString(p) > maxParam }) {
		refused.Add("whatsapp_params", fmt.Sprintf("must have at most %d characters each", maxParam))
	}
	return refused
}

func (s *Service) checkText(field, text string, refused *fault.Fields) {
	parts, err := parseText(text)
	if err != nil {
		refused.Add(field, err.Error())
	}
	for _, part := range parts {
		if part.variable != nil && part.variable.pays() && s.options.Links == nil {
			refused.Add(field,
				fmt.Sprintf("{%s} needs payments, which this installation does not have", part.variable.Name))
		}
	}
}

// CreateTemplate makes a template.
func (s *Service) CreateTemplate(ctx context.Context, actor account.Actor, draft TemplateDraft) (Template, error) {
	if err := draft.Problems.With(s.check(draft)).Err(); err != nil {
		return Template{}, err
	}
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (template Template, err error) {
		draft.to(&template)
		err = s.applyTemplate(ctx, tx, change[Template]{after: &template})
		return template, err
	})
}

// UpdateTemplate changes what is given. Messages that are not sent yet will
// have the new words.
func (s *Service) UpdateTemplate(
	ctx context.Context, actor account.Actor, templateID int64, draft TemplateDraft,
) (Template, error) {
	wrong := draft.Problems.With(s.check(draft))
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (template Template, err error) {
		before, err := lockTemplate(ctx, tx, templateID)
		if err != nil {
			return template, err
		}
		template = before
		draft.to(&template)
		var refused fault.Fields
		if template.Approved.Name == "" {
			if err := s.refuseUnapproved(ctx, tx, template.ID, &refused); err != nil {
				return template, err
			}
		}
		if err := wrong.With(refused).Err(); err != nil {
			return template, err
		}
		err = s.applyTemplate(ctx, tx, change[Template]{&before, &template})
		return template, err
	})
}

// refuseUnapproved keeps a template that a rule sends through Meta from losing
// its approved name.
func (s *Service) refuseUnapproved(ctx context.Context, tx account.Tx, templateID int64, refused *fault.Fields) error {
	list, err := rules(ctx, tx, tx.Company.ID)
	if err != nil {
		return err
	}
	for _, rule := range list {
		if rule.TemplateID != templateID {
			continue
		}
		name, err := s.wantsApproved(ctx, tx, tx.Actor, rule.Channels)
		if err != nil {
			return err
		}
		if name != "" {
			refused.Add("whatsapp_name", fmt.Sprintf("must stay: rule %d sends this template through %s", rule.ID, name))
			return nil
		}
	}
	return nil
}

// DeleteTemplate removes a template that no rule uses.
func (s *Service) DeleteTemplate(ctx context.Context, actor account.Actor, templateID int64) error {
	return actor.Write(ctx, s.db, func(tx account.Tx) error {
		template, err := lockTemplate(ctx, tx, templateID)
		if err != nil {
			return err
		}
		list, err := rules(ctx, tx, actor.Company.ID)
		if err != nil {
			return err
		}
		for _, rule := range list {
			if rule.TemplateID == templateID {
				return fault.Conflict(fmt.Sprintf("rule %d, %s, uses this template", rule.ID, rule.Name))
			}
		}
		if err := checkRounds(ctx, tx, templateID); err != nil {
			return err
		}
		return s.applyTemplate(ctx, tx, change[Template]{before: &template})
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
func (s *Service) Preview(ctx context.Context, actor account.Actor, request PreviewRequest) (Preview, error) {
	var template Template
	if request.TemplateID != 0 {
		var err error
		if template, err = s.FindTemplate(ctx, actor, request.TemplateID); err != nil {
			return Preview{}, err
		}
	}
	if err := request.Draft.Problems.With(s.check(request.Draft)).Err(); err != nil {
		return Preview{}, err
	}
	request.Draft.to(&template)
	about, err := customerAbout(ctx, s.db, actor.Company.ID, request.CustomerID)
	if err != nil {
		return Preview{}, err
	}
	filling := fillingOf(actor, about, actor.Today(s.db.Now()))
	var preview Preview
	if problem := s.fillPayment(ctx, actor, template, about, &filling); problem != nil {
		preview.Problem = problemText(problem)
	}
	var approved ApprovedTemplate
	preview.Subject, preview.Text, approved = fill(template, filling)
	preview.Params = approved.shown()
	return preview, nil
}

// shown lists what fills the gaps, for people.
func (a ApprovedTemplate) shown() []string {
	list := append([]string{}, a.Params...)
	for _, more := range []string{a.Header, a.Button} {
		if more != "" {
			list = append(list, more)
		}
	}
	return list
}

// fill is a template's texts, filled.
func fill(template Template, filling filling) (subject, text string, approved ApprovedTemplate) {
	approved = template.Approved
	approved.Params = make([]string, len(template.Approved.Params))
	for i, param := range template.Approved.Params {
		name, value := paramName(param)
		if name != "" {
			approved.Names = append(approved.Names, name)
		}
		approved.Params[i] = cmp.Or(oneLine(render(value, filling)), NoGap)
	}
	for _, gap := range []*string{&approved.Header, &approved.Button} {
		if *gap != "" {
			*gap = cmp.Or(oneLine(render(*gap, filling)), NoGap)
		}
	}
	text = template.Text
	if filling.link == "" {
		text = withoutLinkLines(text)
	}
	return oneLine(render(template.Subject, filling)), render(text, filling), approved
}

// namedParam is a parameter as Meta names it: {{nome}} = {first_name}.
var namedParam = regexp.MustCompile(`^\{\{([a-z][a-z0-9_]*)\}\}\s*=\s*(.*)$`)

// paramName takes the name off a parameter that has one.
func paramName(param string) (name, value string) {
	if found := namedParam.FindStringSubmatch(param); found != nil {
		return found[1], found[2]
	}
	return "", param
}

// withoutLinkLines drops the lines that ask for a payment link, of which nothing
// would be left but the words that announce it.
func withoutLinkLines(text string) string {
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		if link, _ := asks(line); !link {
			kept = append(kept, line)
		} else if len(kept) > 0 && kept[len(kept)-1] == "" {
			kept = kept[:len(kept)-1] // the gap above the line
		}
	}
	return strings.Join(kept, "\n")
}

// gaps is how a template's gaps are stored, unless it has those of its body alone:
// then they are a list.
type gaps struct {
	Body   []string `json:"body"`
	Header string   `json:"header,omitempty"`
	Button string   `json:"button,omitempty"`
}

func (a ApprovedTemplate) encodeGaps() string {
	body := append([]string{}, a.Params...) // never null
	var stored any = body
	if a.Header+a.Button != "" {
		stored = gaps{body, a.Header, a.Button}
	}
	text, _ := json.Marshal(stored) // texts always encode
	return string(text)
}

func (a *ApprovedTemplate) decodeGaps(text string) error {
	if strings.HasPrefix(text, "[") {
		return json.Unmarshal([]byte(text), &a.Params)
	}
	var stored gaps
	err := json.Unmarshal([]byte(text), &stored)
	a.Params, a.Header, a.Button = stored.Body, stored.Header, stored.Button
	return err
}
