package reminder

import (
	"context"
	"errors"
	"fmt"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/platform/civil"
)

// debited says that an invoice will be debited by PIX Automático, so that nobody
// is asked to pay it. A code for it would cancel the debit.
type debited struct{ on civil.Date }

func (d *debited) Error() string { return "the invoice will be debited on " + d.on.BR() }

// refuseDebited returns a *debited for an open invoice whose debit is announced.
func (s *Service) refuseDebited(ctx context.Context, actor account.Actor, about about) error {
	if s.options.Links == nil || about.invoice.id == 0 || about.invoice.status != billing.Open {
		return nil
	}
	on, err := s.options.Links.DebitOn(ctx, actor, about.invoice.id)
	if err != nil {
		return fmt.Errorf("debit: %w", err)
	}
	if on.IsZero() {
		return nil
	}
	return &debited{on}
}

// tellDebit has a message that would ask to pay say that the invoice is debited.
func (p *prepared) tellDebit() {
	debited, is := errors.AsType[*debited](p.problem)
	if is {
		p.debitOn, p.problem = debited.on, nil
	}
}

// The text that takes the place of a rule's own, and its subject.
const (
	debitSubject = "Débito em %s"
	debitText    = "Olá, {first_name}! A sua fatura de {value} será debitada da sua conta em %s, pelo PIX Automático. " +
		"Você não precisa fazer nada.\n\n{company}"
)

// debitLetter is what a customer reads of a debit.
func debitLetter(on civil.Date, filling filling) (subject, text string) {
	return fmt.Sprintf(debitSubject, on.BR()), render(fmt.Sprintf(debitText, on.BR()), filling)
}
