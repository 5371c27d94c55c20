package bacen

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
)

// rec is an authorisation.
type rec struct {
	ID      string `json:"idRec,omitempty"`
	Vinculo struct {
		Objeto   string   `json:"objeto,omitempty"`
		Devedor  *devedor `json:"devedor,omitempty"`
		Contrato string   `json:"contrato,omitempty"`
	} `json:"vinculo"`
	Calendario struct {
		Inicial       string `json:"dataInicial"`
		Periodicidade string `json:"periodicidade"`
	} `json:"calendario"`
	Valor struct {
		Fixo   string `json:"valorRec,omitempty"`
		Minimo string `json:"valorMinimoRecebedor,omitempty"`
	} `json:"valor,omitzero"`
	Retentativa  string        `json:"politicaRetentativa"`
	Status       string        `json:"status,omitempty"`
	Ativacao     *ativacao     `json:"ativacao,omitempty"`
	Atualizacao  []update      `json:"atualizacao,omitempty"`
	Encerramento encerramento  `json:"encerramento,omitzero"`
	Solicitacao  []solicitacao `json:"solicitacao,omitempty"`
	QR           struct {
		Code string `json:"pixCopiaECola"`
	} `json:"dadosQR,omitzero"`
}

// ativacao is what an authorisation comes about with.
type ativacao struct {
	Dados struct {
		TxID string `json:"txid,omitempty"`
	} `json:"dadosJornada,omitzero"`
}

// update is one step of a history. The document's own examples call the status
// nome.
type update struct {
	Status string `json:"status"`
	Nome   string `json:"nome,omitempty"`
	Data   string `json:"data"`
}

func (u update) status() string { return wire.Pick(u.Status, u.Nome) }

// encerramento is why something ended.
type encerramento struct {
	Rejeicao     cause `json:"rejeicao,omitzero"`
	Cancelamento cause `json:"cancelamento,omitzero"`
}

// cause is a reason as banks tell it.
type cause struct {
	Solicitante string `json:"solicitante,omitempty"`
	Codigo      string `json:"codigo"`
	Descricao   string `json:"descricao"`
}

// reason is what people read of it.
func (c cause) reason() string {
	return wire.Cut(strings.Trim(c.Codigo+": "+c.Descricao, ": "), 300)
}

// solicitacao is a request to a payer's bank.
type solicitacao struct {
	ID     string `json:"idSolicRec"`
	Status string `json:"status"`
}

// periods are how often a debit comes, as banks call it.
var periods = map[payment.Every]string{
	payment.EveryWeek:     "SEMANAL",
	payment.EveryMonth:    "MENSAL",
	payment.EveryQuarter:  "TRIMESTRAL",
	payment.EveryHalfYear: "SEMESTRAL",
	payment.EveryYear:     "ANUAL",
}

const (
	recAsked    = "CRIADA"
	recApproved = "APROVADA"
	recRejected = "REJEITADA"
	recExpired  = "EXPIRADA"
	recEnded    = "CANCELADA"
)

var validRecID = regexp.MustCompile(`^[a-zA-Z0-9]{29}$`)

// readRec reads one authorisation. txID names a charge that its code is to pay
// too.
func (d *debitor) readRec(ctx context.Context, id, txID string) (rec, error) {
	var found rec
	if !validRecID.MatchString(id) {
		return found, payment.ErrNoCharge
	}
	var query url.Values
	if txID != "" {
		query = url.Values{"txid": {txID}}
	}
	err := wire.Known(d.get(ctx, "/rec/"+id, query, &found))
	whole := found.ID == id && found.Status != ""
	return found, wire.Expect(err, whole, "GET /rec/%s: the answer lacks id or status", id)
}

// searchDays bounds the search by our reference. Only an authorisation with a
// lost answer has nothing else, and that is found out within hours.
const searchDays = 30

// searchRec finds an authorisation by our reference, which is its contract's
// number. Of several the one that is active counts, and then the one that can be.
func (d *debitor) searchRec(ctx context.Context, reference, taxID string) (rec, error) {
	search := recSearch{since: d.env.Now().AddDate(0, 0, -searchDays), taxID: taxID, perPage: wire.PerPage}
	return wire.Search(func(number int) ([]rec, bool, error) {
		search.page = number
		page, err := d.recs(ctx, search)
		return page.Recs, number+1 < page.Parametros.Paginacao.Paginas, err
	}, func(listed *rec) int {
		switch {
		case listed.reference() != reference || !validRecID.MatchString(listed.ID):
			return 0
		case listed.Status == recApproved:
			return 3
		case listed.Status == recAsked:
			return 2
		}
		return 1
	})
}

// withDueMark is appended to the reference of an authorisation by a code that
// pays a charge with a due date: the document keeps no other trace of that.
const withDueMark = "V"

// reference is ours.
func (r *rec) reference() string {
	if len(r.Vinculo.Contrato) == referenceLength+len(withDueMark) {
		return strings.TrimSuffix(r.Vinculo.Contrato, withDueMark)
	}
	return r.Vinculo.Contrato
}

// referenceLength is how long our references are.
const referenceLength = 32

// paysWithDue says that its code was given out with that of a charge with a due
// date, which is not known here any more.
func (r *rec) paysWithDue() bool { return r.reference() != r.Vinculo.Contrato }

// txID is the charge that its code pays too.
func (r *rec) txID() string {
	if r.Ativacao == nil {
		return ""
	}
	return r.Ativacao.Dados.TxID
}

// at is when the history says that a status was reached.
func (r *rec) at(statuses ...string) time.Time {
	var last time.Time
	for _, update := range r.Atualizacao {
		for _, status := range statuses {
			if update.status() == status {
				last = wire.Time(update.Data)
			}
		}
	}
	return last
}

// parties are who ended something, by the bank's word.
var parties = map[string]payment.EndedBy{
	"USUARIO_PAGADOR":   payment.ByPayer,
	"PSP_PAGADOR":       payment.ByBank,
	"PSP_RECEBEDOR":     payment.ByBank,
	"USUARIO_RECEBEDOR": payment.ByCompany,
}

// authorisation is what the core needs of it, without its code.
func (r *rec) authorisation() (payment.Authorisation, error) {
	found := payment.Authorisation{Ref: payment.Ref{ID: r.ID, Reference: r.reference()}, ActiveAt: r.at(recApproved)}
	switch r.Status {
	case recAsked:
		found.State = payment.AuthorisationAsked
		r.readRequests(&found)
	case recApproved:
		found.State = payment.AuthorisationActive
	case recRejected:
		found.State, found.EndedBy = payment.AuthorisationRefused, payment.ByPayer
	case recExpired:
		found.State, found.EndedBy = payment.AuthorisationRefused, payment.ByExpiry
		if !found.ActiveAt.IsZero() {
			found.State = payment.AuthorisationEnded
		}
	case recEnded:
		found.State, found.EndedBy = payment.AuthorisationEnded, parties[r.Encerramento.Cancelamento.Solicitante]
	default:
		return found, fmt.Errorf("an authorisation has the unknown status %.40q", r.Status)
	}
	if r.Status != recAsked && r.Status != recApproved {
		found.EndedAt = r.at(recRejected, recExpired, recEnded)
		found.Reason = wire.Pick(r.Encerramento.Rejeicao.reason(), r.Encerramento.Cancelamento.reason())
	}
	return found, nil
}

// readRequests finds a failed request of an authorisation that still waits.
func (r *rec) readRequests(found *payment.Authorisation) {
	for _, request := range r.Solicitacao {
		switch request.Status {
		case recRejected:
			found.State, found.EndedBy = payment.AuthorisationRefused, payment.ByPayer
		case recExpired:
			found.State, found.EndedBy = payment.AuthorisationRefused, payment.ByExpiry
		case recEnded:
			found.State, found.EndedBy = payment.AuthorisationRefused, payment.ByCompany
		default: // one that is on its way
			found.State, found.EndedBy = payment.AuthorisationAsked, ""
			return
		}
	}
}
