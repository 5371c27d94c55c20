package bacen

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/pix"
	"carteira/internal/payment/wire"
	"carteira/internal/platform/money"
)

// kind is which of the two collections a charge is in.
type kind string

const (
	immediate kind = "/cob/"
	withDue   kind = "/cobv/" // with a due date: the bank computes the amount
)

// cob is a charge.
type cob struct {
	kind kind // where it was found

	Calendario struct {
		Criacao   string `json:"criacao,omitempty"`
		Expiracao int64  `json:"expiracao,omitempty"`
		// Of one with a due date, in place of expiracao.
		Vencimento string `json:"dataDeVencimento,omitempty"`
		Validade   int    `json:"validadeAposVencimento,omitempty"`
	} `json:"calendario"`
	TxID   string `json:"txid,omitempty"`
	Status string `json:"status,omitempty"`
	Loc    struct {
		ID       int64  `json:"id"`
		Location string `json:"location"`
	} `json:"loc,omitzero"`
	Location string   `json:"location,omitempty"`
	Devedor  *devedor `json:"devedor,omitempty"`
	Valor    struct {
		Original string    `json:"original"`
		Multa    *rate     `json:"multa,omitempty"`
		Juros    *rate     `json:"juros,omitempty"`
		Desconto *discount `json:"desconto,omitempty"`
	} `json:"valor"`
	Chave         string `json:"chave"`
	Solicitacao   string `json:"solicitacaoPagador,omitempty"`
	PixCopiaECola string `json:"pixCopiaECola,omitempty"`
	BRCode        string `json:"brcode,omitempty"` // what Sicoob calls the code
	Pix           []paid `json:"pix,omitempty"`
}

// rate is a part of the amount, by a way to count it.
type rate struct {
	Modalidade int    `json:"modalidade"`
	Valor      string `json:"valorPerc"`
}

type discount struct {
	Modalidade int            `json:"modalidade"`
	Until      []discountedTo `json:"descontoDataFixa"`
}

type discountedTo struct {
	Date  string `json:"data"`
	Valor string `json:"valorPerc"`
}

// The ways to count that we use.
const (
	percentOnce     = 2 // multa: a percentage
	percentAMonth   = 3 // juros: a percentage a month, by calendar days
	amountUntilADay = 1 // desconto: an amount until a day
)

type devedor struct {
	CPF  string `json:"cpf,omitempty"`
	CNPJ string `json:"cnpj,omitempty"`
	Nome string `json:"nome"`
}

// paid is a PIX that arrived.
type paid struct {
	EndToEndID string `json:"endToEndId"`
	TxID       string `json:"txid"`
	Valor      string `json:"valor"`
	Horario    string `json:"horario"`
	Devolucoes []struct {
		ID      string `json:"id"`
		Valor   string `json:"valor"`
		Status  string `json:"status"`
		Horario struct {
			Solicitacao string `json:"solicitacao"`
			Liquidacao  string `json:"liquidacao"`
		} `json:"horario"`
	} `json:"devolucoes"`
}

// returned is how much of it went back, and when the last of that did. What is on
// its way may still fail, and does not count before it has arrived.
func (p paid) returned() (sum money.Cents, last time.Time, err error) {
	for _, back := range p.Devolucoes {
		if back.Status != statusReturned {
			continue
		}
		amount, err := wire.Cents(json.Number(back.Valor))
		if err != nil {
			return 0, last, err
		}
		sum += amount
		at := wire.Time(wire.Pick(back.Horario.Liquidacao, back.Horario.Solicitacao))
		if at.After(last) {
			last = at
		}
	}
	return sum, last, nil
}

const (
	statusActive   = "ATIVA"
	statusPaid     = "CONCLUIDA"
	statusRemoved  = "REMOVIDA_PELO_USUARIO_RECEBEDOR"
	statusGone     = "REMOVIDA_PELO_PSP"
	statusReturned = "DEVOLVIDO"
)

// validTxID is what a charge may be called.
var validTxID = regexp.MustCompile(`^[a-zA-Z0-9]{26,35}$`)

// cob calls one charge by its id.
func (g *gateway) cob(ctx context.Context, method string, kind kind, txID string, body any) (cob, error) {
	charge := cob{kind: kind}
	if !validTxID.MatchString(txID) {
		return charge, payment.ErrNoCharge
	}
	err := g.send(ctx, method, string(kind)+txID, body, &charge)
	whole := charge.TxID == txID && charge.Status != ""
	return charge, wire.Expect(err, whole, "%s %s%s: the answer is about %.40q", method, kind, txID, charge.TxID)
}

// code is the text that a payer copies. The document lets a bank leave it out;
// then the address of the charge makes one, unless the bank has a call for it.
func (g *gateway) code(ctx context.Context, charge cob) (string, error) {
	location := wire.Pick(charge.Location, charge.Loc.Location)
	switch known := wire.Pick(charge.PixCopiaECola, charge.BRCode); {
	case known != "":
		return known, nil
	case g.account.bank.codeAtLocation:
		return g.codeAtLocation(ctx, charge.Loc.ID)
	case location == "":
		return "", fmt.Errorf("charge %s has neither code nor address", charge.TxID)
	}
	return pix.Dynamic{URL: strings.TrimPrefix(location, "https://")}.Code()
}

func (g *gateway) codeAtLocation(ctx context.Context, id int64) (string, error) {
	var answer struct {
		Code string `json:"qrcode"`
	}
	path := "/loc/" + strconv.FormatInt(id, 10) + "/qrcode"
	err := g.get(ctx, path, nil, &answer)
	return answer.Code, wire.Expect(err, answer.Code != "", "GET %s: the answer lacks a code", path)
}

func (c *cob) expiry() time.Time {
	if due := wire.Time(c.Calendario.Vencimento); !due.IsZero() {
		return due.AddDate(0, 0, c.Calendario.Validade+1)
	}
	created := wire.Time(c.Calendario.Criacao)
	if created.IsZero() {
		return created
	}
	return created.Add(time.Duration(c.Calendario.Expiracao) * time.Second)
}

func (c *cob) received() ([]payment.Received, error) {
	list, err := received(c.Pix)
	listed := c.Status != statusPaid || len(list) > 0
	return list, wire.Expect(err, listed, "it is paid, and its payment is not listed")
}

// received are the payments of a charge or debit.
func received(pix []paid) ([]payment.Received, error) {
	var list []payment.Received
	for _, paid := range pix {
		amount, err := wire.Cents(json.Number(paid.Valor))
		if err != nil {
			return nil, err
		}
		received := payment.Received{ID: paid.EndToEndID, Amount: amount, Currency: "BRL", At: wire.Time(paid.Horario)}
		if received.Refunded, received.RefundedAt, err = paid.returned(); err != nil {
			return nil, err
		}
		list = append(list, received)
	}
	return list, nil
}
