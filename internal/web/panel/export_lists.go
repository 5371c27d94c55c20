package panel

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/platform/input"
	"carteira/internal/reminder"
	"carteira/internal/reseller"
	"carteira/internal/web/page"
	"carteira/internal/webhook"
)

// filterOf reads the filter of an address.
func filterOf[F any](req *request, read func(*input.Form) F) (F, error) {
	in := req.query()
	filter := read(in)
	return filter, in.Err()
}

// exported makes a handler that sends the rows of a filter as a file: the first part
// of its name, its columns, and the cells of each row.
func exported[F, T any](
	name string, columns []string, readFilter func(*input.Form) F,
	walk func(context.Context, account.Actor, F, func(T) error) error, cells func(*request, T) []string,
) handler {
	return long(func(req *request) error {
		filter, err := filterOf(req, readFilter)
		if err != nil {
			return err
		}
		sendList(req, name, columns, func(write func(...string) error) error {
			return walk(req.Context(), req.Actor, filter, func(record T) error { return write(cells(req, record)...) })
		})
		return nil
	})
}

// sendList sends a list as a file. Texts that others typed cannot run in it.
func sendList(req *request, name string, columns []string, rows func(write func(...string) error) error) {
	sendCSV(req, name+"-"+req.today.String()+".csv", func(write func([]string) error) error {
		if err := write(columns); err != nil {
			return err
		}
		return rows(func(cells ...string) error {
			for n, cell := range cells {
				if !isNumber(cell) {
					cells[n] = harmless(cell)
				}
			}
			return write(cells)
		})
	})
}

// isNumber reports whether a cell is an amount, which may begin with a minus.
func isNumber(cell string) bool {
	return cell != "" && strings.Trim(strings.TrimPrefix(cell, "-"), "0123456789.,") == ""
}

// moment is an instant as a spreadsheet in Brazil reads it.
func (req *request) moment(at time.Time) string {
	return page.FormatTime(at, req.Actor.Company.Zone)
}

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

// fileForms are the routes with forms that may bring a file for a field. They are
// read before a proof is asked for, so that the question keeps what was sent.
var fileForms = map[string]bool{"POST /payments/gateways/{provider}": true}

// filePrefix begins the name of the input that takes the file of a field.
const filePrefix = "file_"

// readFiles puts what the files of a form hold in the place of their fields: text
// as it is, everything else in base64. The whole form is bounded by maxForm.
func (req *request) readFiles() error {
	err := req.ParseMultipartForm(maxForm)
	if errors.Is(err, http.ErrNotMultipart) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = req.MultipartForm.RemoveAll() }()
	for name, files := range req.MultipartForm.File {
		field, found := strings.CutPrefix(name, filePrefix)
		if !found || len(files) == 0 {
			continue
		}
		content, err := contentOf(files[0])
		if err != nil {
			return err
		}
		req.PostForm.Set(field, content)
	}
	for name := range req.PostForm { // a file that was not chosen is sent as an empty field
		if strings.HasPrefix(name, filePrefix) {
			req.PostForm.Del(name)
		}
	}
	return nil
}

// contentOf is what a file holds, as a form could say it.
func contentOf(header *multipart.FileHeader) (string, error) {
	file, err := header.Open()
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // it was only read
	content, err := io.ReadAll(file)
	if bytes.Contains(content, []byte("-----BEGIN")) {
		return string(content), err
	}
	return base64.StdEncoding.EncodeToString(content), err
}
