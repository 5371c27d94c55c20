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
	"carteira/internal/web/panel/kit"
	"carteira/internal/webhook"
)

func (s *Server) exportPayments(req *kit.Request) error {
	filter, err := kit.FilterOf(req, readPayments)
	if err != nil {
		return err
	}
	names := s.ActorNames(req, []string{"user:", "token:"})
	if req.Failed != nil {
		return req.Failed
	}
	columns := []string{
		"pagamento", "cliente", "fatura", "dia", "pago por", "situação", "valor", "registrado por", "identificação", "observação",
	}
	kit.SendList(req, "pagamentos", columns, func(write func(...string) error) error {
		err := s.Billing.WalkPayments(req.Context(), req.Actor, filter, func(record billing.PaymentRecord) error {
			return write(kit.IDText(record.ID), record.CustomerName, kit.IDText(record.InvoiceID), page.FormatDate(record.PaidOn),
				s.through(req, record.Via), page.Portuguese.T(paymentWords[record.Status]), kit.Decimal(record.Amount),
				kit.ActorText(page.Portuguese, names, record.ConfirmedBy), kit.ShownPaymentID(record.PaymentID), record.Note)
		})
		if err != nil {
			return err
		}
		return s.Billing.WalkRefunds(req.Context(), req.Actor, filter, func(refund billing.ListedRefund) error {
			return write(kit.IDText(refund.Payment), refund.CustomerName, kit.IDText(refund.InvoiceID), page.FormatDate(refund.On),
				s.through(req, refund.Via), page.Portuguese.T("Money given back"), "-"+kit.Decimal(refund.Amount),
				kit.ActorText(page.Portuguese, names, refund.By), kit.ShownPaymentID(refund.PaymentID), refund.Note)
		})
	})
	return nil
}

func (s *Server) exportMessages() kit.Handler {
	return kit.Exported("mensagens", []string{
		"mensagem", "cliente", "vencimento", "regra", "canal", "situação", "motivo", "programada para", "enviada em", "chegada", "chegada em",
	}, reminder.ReadFilter, s.Reminders.WalkMessages, func(req *kit.Request, message reminder.Message) []string {
		return []string{
			kit.IDText(message.ID), message.Customer, page.FormatDate(message.DueOn), message.RuleName, message.Channel,
			page.Portuguese.T(kit.StatusWords[message.Status]), reasons(page.Portuguese, message.Reason), req.Moment(message.RunAt),
			req.Moment(message.SentAt), page.Portuguese.T(arrivalWords[message.Arrival]), req.Moment(message.ArrivalAt),
		}
	})
}

func (s *Server) exportResellers() kit.Handler {
	return kit.Exported("revendedores", []string{
		"revendedor", "nome", "e-mail", "whatsapp", "situação", "plano", "termina em", "nível", "clientes", "créditos",
	}, reseller.ReadFilter, s.Resellers.Walk, func(_ *kit.Request, seller reseller.Reseller) []string {
		return []string{
			kit.IDText(seller.ID), seller.Name, seller.Email, kit.DialledPhone(seller.Whatsapp),
			page.Portuguese.T(standingWords[seller.Standing(s.DB.Now())]), seller.Plan.Name,
			page.FormatDate(seller.Subscription.ExpiresOn), page.Portuguese.T(kit.LevelWords[seller.Level]),
			page.FormatInt(seller.Customers), page.FormatInt(seller.Credits),
		}
	})
}

func (s *Server) exportDeliveries(req *kit.Request, hook webhook.Webhook) error {
	walk := func(ctx context.Context, actor account.Actor, filter webhook.DeliveryFilter, do func(webhook.Delivery) error) error {
		return s.Webhooks.WalkDeliveries(ctx, actor, hook.ID, filter, do)
	}
	return kit.Exported("entregas", []string{"entrega", "evento", "identificação", "situação", "criada em", "entregue em"},
		webhook.ReadDeliveryFilter, walk, func(req *kit.Request, delivery webhook.Delivery) []string {
			return []string{
				kit.IDText(delivery.ID), string(delivery.Event), delivery.EventID, page.Portuguese.T(string(delivery.Status)),
				req.Moment(delivery.CreatedAt), req.Moment(delivery.DeliveredAt),
			}
		})(req)
}

func (s *Server) exportCredits() kit.Handler {
	return kit.Exported("creditos", []string{
		"lançamento", "quando", "o quê", "revendedor", "plano", "períodos", "créditos", "saldo", "observação",
	}, reseller.ReadEntryFilter, s.Resellers.WalkEntries, func(req *kit.Request, entry reseller.Entry) []string {
		return []string{
			kit.IDText(entry.ID), req.Moment(entry.CreatedAt), page.Portuguese.T(entryWords[entry.Kind]), entry.Reseller.Name, entry.Plan.Name,
			page.FormatInt(int64(entry.Periods)), page.FormatInt(entry.Amount), page.FormatInt(entry.Balance), entry.Note,
		}
	})
}

func (s *Server) exportAudit(req *kit.Request) error {
	read := func(in *input.Form) account.AuditFilter { return auditFilter(req, in) }
	return kit.Exported("auditoria", []string{"quando", "quem", "o quê", "registro", "de onde", "o que mudou"},
		read, s.Accounts.WalkAudit, func(req *kit.Request, line account.AuditLine) []string {
			changed := changesText(kit.Worded(page.Portuguese, req.Actor.Company.Zone, line))
			return []string{req.Moment(line.At), line.Who, kit.DeedText(page.Portuguese, line), line.Name, line.Address, changed}
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
