package reminder

import (
	"context"
	"slices"
	"strings"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

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
		OnDue, -3, "Lembrete: 3 dias antes", "Sua mensalidade vence em {vencimento}",
		"Oi, {primeiro_nome}! Passando para lembrar que sua mensalidade de {valor} vence em {vencimento}." +
			payLine + "\n\nSe já pagou, é só desconsiderar. {empresa}",
	},
	{
		OnDue, 0, "Lembrete: no dia", "Sua mensalidade vence hoje",
		"Oi, {primeiro_nome}! Sua mensalidade de {valor} vence hoje, {vencimento}." +
			payLine + "\n\nSe já pagou, é só desconsiderar. {empresa}",
	},
	{
		OnDue, 1, "Cobrança: 1 dia depois", "Sua mensalidade venceu ontem",
		"Oi, {primeiro_nome}! Sua mensalidade de {valor} venceu ontem, {vencimento}, e ainda não vimos o pagamento." +
			payLine + "\n\nQualquer dúvida, responda esta mensagem. {empresa}",
	},
	{
		OnDue, 5, "Cobrança: 5 dias depois", "Mensalidade em atraso",
		"Oi, {primeiro_nome}! Sua mensalidade de {valor}, que venceu em {vencimento}, continua em aberto." +
			payLine + "\n\nSe precisar combinar outra data, fale com a gente. {empresa}",
	},
	{
		OnDue, 10, "Cobrança: 10 dias depois", "Evite a suspensão do serviço",
		"{primeiro_nome}, sua mensalidade de {valor} está em atraso desde {vencimento}." +
			payLine + "\n\nRegularize para continuar com o serviço ativo. {empresa}",
	},
	{
		OnPaid, 0, "Recibo: quando paga", "Recebemos seu pagamento",
		"Oi, {primeiro_nome}! Recebemos seu pagamento de {valor}. Obrigado!" + receiptLine + "\n\n{empresa}",
	},
}

// dunning is what a person sends by hand.
var dunning = words{
	OnDue, 0, "Cobrança avulsa", "Mensalidade em aberto",
	"Oi, {primeiro_nome}! Sua mensalidade de {valor}, com vencimento em {vencimento}, está em aberto." +
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
	err = actor.Write(ctx, s.db, func(tx *sqldb.Tx) error {
		made = 0
		present, err := lockRules(ctx, tx, actor.Company.ID)
		if err != nil {
			return err
		}
		for _, words := range lacking(present) {
			if err := s.turnOn(ctx, tx, actor, draft, words); err != nil {
				return err
			}
			made++
		}
		return nil
	})
	return made, err
}

func (s *Service) turnOn(ctx context.Context, tx *sqldb.Tx, actor account.Actor, draft UsualDraft, words words) error {
	template := s.houseTemplate(words, draft.Link)
	if err := s.applyTemplate(ctx, tx, actor, change[Template]{after: &template}); err != nil {
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
	if err := s.checkRule(ctx, tx, actor, rule); err != nil {
		return err
	}
	if err := s.restart(ctx, tx, actor, &rule); err != nil {
		return err
	}
	return s.applyRule(ctx, tx, actor, change[Rule]{after: &rule})
}
