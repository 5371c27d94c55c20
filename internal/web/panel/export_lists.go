package panel

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/reminder"
	"carteira/internal/reseller"
	"carteira/internal/web/page"
	"carteira/internal/webhook"
)

// listFile is a list as a file: the first part of its name, its columns, and what
// writes its rows.
type listFile struct {
	name    string
	columns []string
	rows    func(write func(...string) error) error
}

// sendList sends a list as a file. Texts that others typed cannot run in it.
func (s *Server) sendList(req *request, file listFile) error {
	sendCSV(req, file.name+"-"+req.today.String()+".csv", func(write func([]string) error) error {
		if err := write(file.columns); err != nil {
			return err
		}
		return file.rows(func(cells ...string) error {
			for n, cell := range cells {
				if !isNumber(cell) {
					cells[n] = harmless(cell)
				}
			}
			return write(cells)
		})
	})
	return nil
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
	in := req.query()
	filter := readPayments(in)
	if err := in.Err(); err != nil {
		return err
	}
	names, err := s.actorNames(req, []string{"user:", "token:"})
	if err != nil {
		return err
	}
	return s.sendList(req, listFile{
		name: "pagamentos",
		columns: []string{
			"pagamento", "cliente", "fatura", "dia", "pago por", "situação", "valor", "registrado por", "identificação", "observação",
		},
		rows: func(write func(...string) error) error {
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
		},
	})
}

func (s *Server) exportMessages(req *request) error {
	in := req.query()
	filter := reminder.ReadFilter(in)
	if err := in.Err(); err != nil {
		return err
	}
	return s.sendList(req, listFile{
		name: "mensagens",
		columns: []string{
			"mensagem", "cliente", "vencimento", "regra", "canal", "situação", "motivo", "programada para", "enviada em",
			"chegada", "chegada em",
		},
		rows: func(write func(...string) error) error {
			return s.Reminders.WalkMessages(req.Context(), req.Actor, filter, func(message reminder.Message) error {
				return write(idText(message.ID), message.Customer, page.FormatDate(message.DueOn), message.RuleName, message.Channel,
					page.Portuguese.T(statusWords[message.Status]), reasons(page.Portuguese, message.Reason),
					req.moment(message.RunAt), req.moment(message.SentAt),
					page.Portuguese.T(arrivalWords[message.Arrival]), req.moment(message.ArrivalAt))
			})
		},
	})
}

func (s *Server) exportResellers(req *request) error {
	in := req.query()
	filter := reseller.ReadFilter(in)
	if err := in.Err(); err != nil {
		return err
	}
	return s.sendList(req, listFile{
		name:    "revendedores",
		columns: []string{"revendedor", "nome", "e-mail", "whatsapp", "situação", "plano", "termina em", "nível", "clientes", "créditos"},
		rows: func(write func(...string) error) error {
			return s.Resellers.Walk(req.Context(), req.Actor, filter, func(seller reseller.Reseller) error {
				return write(idText(seller.ID), seller.Name, seller.Email, dialledPhone(seller.Whatsapp),
					page.Portuguese.T(standingWords[seller.Standing(s.DB.Now())]), seller.Plan.Name,
					page.FormatDate(seller.Subscription.ExpiresOn), page.Portuguese.T(levelWords[seller.Level]),
					page.FormatInt(seller.Customers), page.FormatInt(seller.Credits))
			})
		},
	})
}

func (s *Server) exportDeliveries(req *request) error {
	in := req.query()
	filter := webhook.ReadDeliveryFilter(in)
	if err := in.Err(); err != nil {
		return err
	}
	if _, err := s.Webhooks.Find(req.Context(), req.Actor, req.id); err != nil {
		return err
	}
	return s.sendList(req, listFile{
		name:    "entregas",
		columns: []string{"entrega", "evento", "identificação", "situação", "criada em", "entregue em"},
		rows: func(write func(...string) error) error {
			return s.Webhooks.WalkDeliveries(req.Context(), req.Actor, req.id, filter, func(delivery webhook.Delivery) error {
				return write(idText(delivery.ID), string(delivery.Event), delivery.EventID,
					page.Portuguese.T(string(delivery.Status)), req.moment(delivery.CreatedAt), req.moment(delivery.DeliveredAt))
			})
		},
	})
}

func (s *Server) exportCredits(req *request) error {
	in := req.query()
	filter := reseller.ReadEntryFilter(in)
	if err := in.Err(); err != nil {
		return err
	}
	return s.sendList(req, listFile{
		name:    "creditos",
		columns: []string{"lançamento", "quando", "o quê", "revendedor", "plano", "períodos", "créditos", "saldo", "observação"},
		rows: func(write func(...string) error) error {
			return s.Resellers.WalkEntries(req.Context(), req.Actor, filter, func(entry reseller.Entry) error {
				return write(idText(entry.ID), req.moment(entry.CreatedAt), page.Portuguese.T(entryWords[entry.Kind]),
					entry.Reseller.Name, entry.Plan.Name, page.FormatInt(int64(entry.Periods)), page.FormatInt(entry.Amount),
					page.FormatInt(entry.Balance), entry.Note)
			})
		},
	})
}

func (s *Server) exportAudit(req *request) error {
	in := req.query()
	filter := auditFilter(req, in)
	if err := in.Err(); err != nil {
		return err
	}
	return s.sendList(req, listFile{
		name:    "auditoria",
		columns: []string{"quando", "quem", "o quê", "registro", "de onde", "o que mudou"},
		rows: func(write func(...string) error) error {
			return s.Accounts.WalkAudit(req.Context(), req.Actor, filter, func(line account.AuditLine) error {
				changed := changesText(worded(page.Portuguese, req.Actor.Company.Zone, line))
				return write(req.moment(line.At), line.Who, deedText(page.Portuguese, line), line.Name, line.Address, changed)
			})
		},
	})
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
