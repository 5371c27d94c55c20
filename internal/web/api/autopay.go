package api

import (
	"context"

	"carteira/internal/customer"
	"carteira/internal/payment"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/web"
)

type autopayRecord struct {
	Autopay       customer.Autopay   `json:"autopay"`
	Available     bool               `json:"available"`
	Authorisation *authorisation     `json:"authorisation"`
	NextDebit     *autopayDebit      `json:"next_debit"`
	FailedDebit   *autopayDebit      `json:"failed_debit"`
	History       []autopayStepShown `json:"history"`
}

type authorisation struct {
	Provider     string          `json:"provider"`
	Journey      payment.Journey `json:"journey"`
	Every        payment.Every   `json:"every"`
	PixCopyPaste *string         `json:"pix_copy_paste"`
	AskedAt      string          `json:"asked_at"`
	ExpiresAt    string          `json:"expires_at"`
	ActiveAt     *string         `json:"active_at"`
	EndedAt      *string         `json:"ended_at"`
	EndedBy      *string         `json:"ended_by"`
	Reason       *string         `json:"reason"`
	Problem      *string         `json:"problem"`
}

type autopayDebit struct {
	InvoiceID int64       `json:"invoice_id"`
	Amount    money.Cents `json:"amount"`
	On        civil.Date  `json:"on"`
	Retries   int         `json:"retries"`
	Failure   *string     `json:"failure"`
}

type autopayStepShown struct {
	Autopay customer.Autopay `json:"autopay"`
	By      *string          `json:"by"`
	Reason  *string          `json:"reason"`
	At      string           `json:"at"`
}

func (s *Server) readAutopay(ctx context.Context, call *call) (web.Answer, error) {
	known, err := s.Payments.Autopay(ctx, call.actor, call.id)
	return call.autopay(known), err
}

func (s *Server) askAutopay(ctx context.Context, call *call) (web.Answer, error) {
	form, err := call.form()
	if err != nil {
		return web.Answer{}, err
	}
	known, err := s.Payments.AskAutopay(ctx, call.actor, call.id, payment.ReadAutopayRequest(form))
	return call.autopay(known), err
}

func (s *Server) endAutopay(ctx context.Context, call *call) (web.Answer, error) {
	known, err := s.Payments.EndAutopay(ctx, call.actor, call.id)
	return call.autopay(known), err
}

// simulateAutopay does what the payer of a simulated bank would do.
func (s *Server) simulateAutopay(ctx context.Context, call *call) (web.Answer, error) {
	form, err := call.form()
	if err != nil {
		return web.Answer{}, err
	}
	form.Require("what")
	deed := form.Choice("what", "authorise", "refuse", "end", "fail")
	if err := form.Err(); err != nil {
		return web.Answer{}, err
	}
	known, err := s.Payments.SimulateAutopay(ctx, call.actor, call.id, deed.Value)
	return call.autopay(known), err
}

func (c *call) autopay(known payment.Autopay) web.Answer {
	record := autopayRecord{
		Autopay:     known.State,
		Available:   len(known.Journeys) > 0,
		NextDebit:   debitShown(known.NextDebit),
		FailedDebit: debitShown(known.Failed),
		History:     make([]autopayStepShown, len(known.History)),
	}
	if known.Newest != nil {
		record.Authorisation = c.authorisation(*known.Newest)
	}
	for i, step := range known.History {
		record.History[i] = autopayStepShown{
			Autopay: step.State,
			By:      textOrNull(step.By),
			Reason:  textOrNull(step.Reason),
			At:      civil.Timestamp(step.At, c.actor.Company.Zone),
		}
	}
	return web.Answer{Data: web.JSON(record)}
}

func (c *call) authorisation(asked payment.AutopayRequest) *authorisation {
	return &authorisation{
		Provider:     asked.Provider,
		Journey:      asked.Journey,
		Every:        asked.Every,
		PixCopyPaste: textOrNull(asked.PixCode),
		AskedAt:      civil.Timestamp(asked.AskedAt, c.actor.Company.Zone),
		ExpiresAt:    civil.Timestamp(asked.ExpiresAt, c.actor.Company.Zone),
		ActiveAt:     c.timeOrNull(asked.ActiveAt),
		EndedAt:      c.timeOrNull(asked.EndedAt),
		EndedBy:      textOrNull(string(asked.EndedBy)),
		Reason:       textOrNull(asked.Reason),
		Problem:      textOrNull(asked.Problem),
	}
}

func debitShown(debit *payment.AutopayDebit) *autopayDebit {
	if debit == nil {
		return nil
	}
	return &autopayDebit{debit.InvoiceID, debit.Amount, debit.On, debit.Retries, textOrNull(debit.Failure)}
}
