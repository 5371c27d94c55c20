package panel

import (
	"context"
	"strings"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/platform/input"
	"carteira/internal/reminder"
	"carteira/internal/reseller"
	"carteira/internal/web/page"
	"carteira/internal/webhook"
)

func (s *Server) exportPayments(req *request) error {
	filter, err := filterOf(req, readPayments)
	if err != nil {
		return err
	}
	names := s.actorNames(req, []string{"user:", "token:"})
	if req.failed != nil {
		return req.failed
	}
	columns := []string{
		"pagamento", "cliente", "fatura", "dia", "pago por", "situação", "valor", "registrado por", "identificação", "observação",
	}
	sendList(req, "pagamentos", columns, func(write func(...string) error) error {
		err := s.Billing.WalkPayments(req.Context(), req.Actor, filter, func(record billing.PaymentRecord) error {
			return write(idText(record.ID), record.CustomerName, idText(record.InvoiceID), page.FormatDate(record.PaidOn),
				s.through(req, record.Via), page.Portuguese.T(paymentWords[record.Status]), decimal(record.Amount),
				actorText(page.Portuguese, names, record.ConfirmedBy), shownPaymentID(record.PaymentID), record.Note)
		})
		if err != nil {
			return err
		}
		return s.Billing.WalkRefunds(req.Context(), req.Actor, filter, func(refund billing.ListedRefund) error {
			return write(idText(refund.Payment), refund.CustomerName, idText(refund.InvoiceID), page.FormatDate(refund.On),
				s.through(req, refund.Via), page.Portuguese.T("Money given back"), "-"+decimal(refund.Amount),
				actorText(page.Portuguese, names, refund.By), shownPaymentID(refund.PaymentID), refund.Note)
		})
	})
	return nil
}

func (s *Server) exportMessages() handler {
	return exported("mensagens", []string{
		"mensagem", "cliente", "vencimento", "regra", "canal", "situação", "motivo", "programada para", "enviada em", "chegada", "chegada em",
	}, reminder.ReadFilter, s.Reminders.WalkMessages, func(req *request, message reminder.Message) []string {
		return []string{
			idText(message.ID), message.Customer, page.FormatDate(message.DueOn), message.RuleName, message.Channel,
			page.Portuguese.T(statusWords[message.Status]), reasons(page.Portuguese, message.Reason), req.moment(message.RunAt),
			req.moment(message.SentAt), page.Portuguese.T(arrivalWords[message.Arrival]), req.moment(message.ArrivalAt),
		}
	})
}

func (s *Server) exportResellers() handler {
	return exported("revendedores", []string{
		"revendedor", "nome", "e-mail", "whatsapp", "situação", "plano", "termina em", "nível", "clientes", "créditos",
	}, reseller.ReadFilter, s.Resellers.Walk, func(_ *request, seller reseller.Reseller) []string {
		return []string{
			idText(seller.ID), seller.Name, seller.Email, dialledPhone(seller.Whatsapp),
			page.Portuguese.T(standingWords[seller.Standing(s.DB.Now())]), seller.Plan.Name,
			page.FormatDate(seller.Subscription.ExpiresOn), page.Portuguese.T(levelWords[seller.Level]),
			page.FormatInt(seller.Customers), page.FormatInt(seller.Credits),
		}
	})
}

func (s *Server) exportDeliveries(req *request, hook webhook.Webhook) error {
	walk := func(ctx context.Context, actor account.Actor, filter webhook.DeliveryFilter, do func(webhook.Delivery) error) error {
		return s.Webhooks.WalkDeliveries(ctx, actor, hook.ID, filter, do)
	}
	return exported("entregas", []string{"entrega", "evento", "identificação", "situação", "criada em", "entregue em"},
		webhook.ReadDeliveryFilter, walk, func(req *request, delivery webhook.Delivery) []string {
			return []string{
				idText(delivery.ID), string(delivery.Event), delivery.EventID, page.Portuguese.T(string(delivery.Status)),
				req.moment(delivery.CreatedAt), req.moment(delivery.DeliveredAt),
			}
		})(req)
}

func (s *Server) exportCredits() handler {
	return exported("creditos", []string{
		"lançamento", "quando", "o quê", "revendedor", "plano", "períodos", "créditos", "saldo", "observação",
	}, reseller.ReadEntryFilter, s.Resellers.WalkEntries, func(req *request, entry reseller.Entry) []string {
		return []string{
			idText(entry.ID), req.moment(entry.CreatedAt), page.Portuguese.T(entryWords[entry.Kind]), entry.Reseller.Name, entry.Plan.Name,
			page.FormatInt(int64(entry.Periods)), page.FormatInt(entry.Amount), page.FormatInt(entry.Balance), entry.Note,
		}
	})
}

func (s *Server) exportAudit(req *request) error {
	read := func(in *input.Form) account.AuditFilter { return auditFilter(req, in) }
	return exported("auditoria", []string{"quando", "quem", "o quê", "registro", "de onde", "o que mudou"},
		read, s.Accounts.WalkAudit, func(req *request, line account.AuditLine) []string {
			changed := changesText(worded(page.Portuguese, req.Actor.Company.Zone, line))
			return []string{req.moment(line.At), line.Who, deedText(page.Portuguese, line), line.Name, line.Address, changed}
		})(req)
}

// changesText is what changed, in one cell.
func changesText(changes []account.FieldChange) string {
	parts := make([]string, len(changes))
	for n, change := range changes {
		parts[n] = change.Field + ": " + change.Before + " → " + change.After
	}
	return strings.Join(parts, "; ")
}
