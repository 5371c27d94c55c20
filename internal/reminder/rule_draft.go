package reminder

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
)

// RuleDraft is what a caller wants a rule to be; a change leaves alone what is
// not given.
type RuleDraft struct {
	Name       input.Opt[string]
	Active     input.Opt[bool]
	On         input.Opt[Occasion]
	OffsetDays input.Opt[int]
	Minute     input.Opt[int]
	PlanID     input.Opt[int64]
	ProductID  input.Opt[int64]
	Status     input.Opt[customer.Status]
	Channels   input.Opt[[]int64]
	TemplateID input.Opt[int64]

	Problems input.Problems
}

var (
	neededOfRule = []string{"name", "channels", "template_id"}
	neededOfDue  = []string{"offset_days", "hour"} // of a rule on OnDue
)

// ReadNewRule reads a new rule from the fields of RuleFields.
func ReadNewRule(in *input.Form) RuleDraft {
	for _, name := range neededOfRule {
		in.Require(name)
	}
	draft := readRule(in)
	if draft.On.Value != OnPaid {
		for _, name := range neededOfDue {
			in.Require(name)
		}
	}
	draft.Problems = in.Problems()
	return draft
}

// ReadRuleChanges reads changes of a rule.
func ReadRuleChanges(in *input.Form) RuleDraft {
	for _, name := range slices.Concat(neededOfRule, neededOfDue) {
		in.MustNotClear(name)
	}
	return readRule(in)
}

func readRule(in *input.Form) RuleDraft {
	in.Ignore("id", "created_at", "updated_at")
	var draft RuleDraft
	RuleFields.Read(in, &draft)
	draft.Problems = in.Problems()
	return draft
}

func readStatus(in *input.Form, name string) input.Opt[customer.Status] {
	return input.OneOf(in, name, customer.Active, customer.DueToday, customer.Expired)
}

// readIDs reads a list of ids, also as 3,5.
func readIDs(in *input.Form, name string) input.Opt[[]int64] {
	texts := in.List(name)
	if texts.HasValue() && len(texts.Value) == 0 { // a list, with nothing in it
		in.Refuse(name, "is required")
	}
	var ids []int64
	for _, text := range texts.Value {
		for part := range strings.SplitSeq(text, ",") {
			id, err := strconv.ParseInt(strings.TrimSpace(part), 10, 64)
			switch {
			case err != nil || id <= 0:
				in.Refuse(name, "must be ids of channels such as 3,5, the one to try first in front")
				return input.Opt[[]int64]{}
			case !slices.Contains(ids, id):
				ids = append(ids, id)
			}
		}
	}
	switch {
	case len(ids) == 0:
		return input.Opt[[]int64]{}
	case len(ids) > MaxChannels:
		in.Refuse(name, fmt.Sprintf("must be at most %d", MaxChannels))
	}
	return input.Some(ids)
}

// to sets what is given. A receipt goes out when the money has come: what a form
// says of its day is passed over.
func (d RuleDraft) to(rule *Rule) {
	RuleFields.To(&d, rule)
	if rule.On == OnPaid {
		rule.OffsetDays, rule.Minute, rule.Status = 0, 0, ""
	}
}

// The house's words. Customers read them, so they are in Portuguese. The line
// with the payment link is left out where nothing can be paid by one.

// words is a template of the house, and the rule that goes with it.
type words struct {
	on      Occasion
	offset  int // from the due date to the day of the message
	name    string
	subject string
	text    string
}

const (
	payLine     = "\n\nPague por PIX aqui: {link_pagamento}"
	receiptLine = "\n\nSeu comprovante: {link_pagamento}"
)

// usual is the set that most companies want: before, on the day, after, and when
// the money has come.
var usual = []words{
	{
		OnDue, -3, "Lembrete: 3 dias antes", "Sua fatura vence em {vencimento}",
		"Oi, {primeiro_nome}! Passando para lembrar que sua fatura de {valor} vence em {vencimento}." +
			payLine + "\n\nSe já pagou, é só desconsiderar. {empresa}",
	},
	{
		OnDue, 0, "Lembrete: no dia", "Sua fatura vence hoje",
		"Oi, {primeiro_nome}! Sua fatura de {valor} vence hoje, {vencimento}." +
			payLine + "\n\nSe já pagou, é só desconsiderar. {empresa}",
	},
	{
		OnDue, 1, "Cobrança: 1 dia depois", "Sua fatura venceu ontem",
		"Oi, {primeiro_nome}! Sua fatura de {valor} venceu ontem, {vencimento}, e ainda não vimos o pagamento." +
			payLine + "\n\nQualquer dúvida, responda esta mensagem. {empresa}",
	},
	{
		OnDue, 5, "Cobrança: 5 dias depois", "Fatura em atraso",
		"Oi, {primeiro_nome}! Sua fatura de {valor}, que venceu em {vencimento}, continua em aberto." +
			payLine + "\n\nSe precisar combinar outra data, fale com a gente. {empresa}",
	},
	{
		OnDue, 10, "Cobrança: 10 dias depois", "Evite a suspensão do serviço",
		"{primeiro_nome}, sua fatura de {valor} está em atraso desde {vencimento}." +
			payLine + "\n\nRegularize para continuar com o serviço ativo. {empresa}",
	},
	{
		OnPaid, 0, "Recibo: quando paga", "Recebemos seu pagamento",
		"Oi, {primeiro_nome}! Recebemos seu pagamento de {valor}. Obrigado!" + receiptLine + "\n\n{empresa}",
	},
}

// dunning is what a person sends by hand.
var dunning = words{
	OnDue, 0, "Cobrança avulsa", "Fatura em aberto",
	"Oi, {primeiro_nome}! Sua fatura de {valor}, com vencimento em {vencimento}, está em aberto." +
		payLine + "\n\nSe já pagou, é só desconsiderar. {empresa}",
}

// usualMinute is when the usual set is sent.
const usualMinute = 9 * 60

func (s *Service) houseTemplate(words words, link bool) Template {
	text := words.text
	if s.options.Links == nil || !link {
		text = strings.NewReplacer(payLine, "", receiptLine, "").Replace(text)
	}
	return Template{
		Name:     words.name,
		Subject:  words.subject,
		Text:     text,
		Approved: ApprovedTemplate{Language: "pt_BR"},
	}
}

// UsualDraft is how the usual set is turned on.
type UsualDraft struct {
	Channels []int64 // the first is tried first
	Link     bool    // the words lead to the payment page
}

// LacksUsual reports whether a company with some rules lacks one of the usual set.
func LacksUsual(present []Rule) bool { return len(lacking(present)) > 0 }

// lacking is what of the usual set a company with some rules does not have.
func lacking(present []Rule) (missing []words) {
	for _, words := range usual {
		taken := slices.ContainsFunc(present, func(rule Rule) bool {
			return rule.On == words.on && rule.OffsetDays == words.offset
		})
		if !taken {
			missing = append(missing, words)
		}
	}
	return missing
}

// TurnOnUsual makes the rules of the usual set, with their words, for the days
// that have no rule yet and for receipts where no rule sends any, and turns them
// on. It returns how many it made.
func (s *Service) TurnOnUsual(ctx context.Context, actor account.Actor, draft UsualDraft) (made int, err error) {
	if len(draft.Channels) == 0 {
		return 0, fault.Field("channels", "is required")
	}
	return account.Write(ctx, actor, s.db, func(tx account.Tx) (made int, err error) {
		present, err := lockRules(ctx, tx)
		if err != nil {
			return made, err
		}
		for _, words := range lacking(present) {
			if err := s.turnOn(ctx, tx, draft, words); err != nil {
				return made, err
			}
			made++
		}
		return made, nil
	})
}

func (s *Service) turnOn(ctx context.Context, tx account.Tx, draft UsualDraft, words words) error {
	template := s.houseTemplate(words, draft.Link)
	if err := s.applyTemplate(ctx, tx, change[Template]{after: &template}); err != nil {
		return err
	}
	_, day, _ := strings.Cut(words.name, ": ")
	rule := Rule{
		Name:       strings.ToUpper(day[:1]) + day[1:],
		Active:     true,
		On:         words.on,
		OffsetDays: words.offset,
		Channels:   draft.Channels,
		TemplateID: template.ID,
	}
	if words.on == OnDue {
		rule.Minute = usualMinute
	}
	if err := s.checkRule(ctx, tx, rule); err != nil {
		return err
	}
	if err := s.restart(ctx, tx, &rule); err != nil {
		return err
	}
	return s.applyRule(ctx, tx, change[Rule]{after: &rule})
}
