package efi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"regexp"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
	"carteira/internal/platform/money"
)

// session speaks the central bank's PIX API for one account. Any bank that
// keeps to it could be reached so, at its own addresses.
type session struct {
	api   wire.API
	basic string

	turn  chan struct{} // whoever holds it may get a token
	token string
	until time.Time
}

func newSession(base, id, secret string, client *http.Client) *session {
	basic := base64.StdEncoding.EncodeToString([]byte(id + ":" + secret))
	return &session{
		api: wire.API{
			Base:    base,
			Client:  client,
			Secrets: []string{secret, basic, id},
			Reason:  reason,
		},
		basic: basic,
		turn:  make(chan struct{}, 1),
	}
}

// reason reads RFC 7807, and what Efí says in its own way.
func reason(body []byte) string {
	var said struct {
		Title, Detail    string
		Nome, Mensagem   string
		Error            string
		ErrorDescription string `json:"error_description"`
		Violacoes        []struct{ Razao, Propriedade string }
	}
	_ = json.Unmarshal(body, &said)
	text := wire.Pick(
		said.Detail,
		said.Mensagem,
		said.ErrorDescription,
		said.Title,
		said.Nome,
		said.Error,
	)
	for _, violacoe := range said.Violacoes {
		text += " (" + violacoe.Propriedade + ": " + violacoe.Razao + ")"
	}
	if said.Nome != "" && said.Nome != text {
		text += " [" + said.Nome + "]"
	}
	return text
}

// tokenMargin is how long before its end a token is no longer used.
const tokenMargin = 30 * time.Second

// bearer returns a token, the kept one while it lasts. fresh wants another.
func (s *session) bearer(ctx context.Context, now time.Time, fresh bool) (string, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if !fresh && s.token != "" && now.Before(s.until) {
		return s.token, nil
	}
	var answer struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int64  `json:"expires_in"`
	}
	err := s.api.Do(ctx, wire.Request{
		Method: http.MethodPost, Path: "/oauth/token",
		Header: map[string]string{"Authorization": "Basic " + s.basic},
		Body:   map[string]string{"grant_type": "client_credentials"},
	}, &answer)
	if err == nil && answer.AccessToken == "" {
		err = errors.New("POST /oauth/token: the answer lacks a token")
	}
	if err != nil {
		return "", err
	}
	s.token, s.until = answer.AccessToken, now.Add(time.Duration(answer.ExpiresIn)*time.Second-tokenMargin)
	return s.token, nil
}

// do makes a call with the kept token, and once more with a new one when it is
// no longer accepted.
func (s *session) do(ctx context.Context, now time.Time, request wire.Request, into any) error {
	err := s.try(ctx, now, request, into, false)
	if wire.Status(err) == http.StatusUnauthorized {
		err = s.try(ctx, now, request, into, true)
	}
	return certificateRefused(err)
}

func (s *session) try(
	ctx context.Context,
	now time.Time,
	request wire.Request,
	into any,
	fresh bool,
) error {
	token, err := s.bearer(ctx, now, fresh)
	if err != nil {
		return err
	}
	header := map[string]string{"Authorization": "Bearer " + token}
	maps.Copy(header, request.Header)
	request.Header = header
	request.Secrets = append([]string{token}, request.Secrets...)
	return s.api.Do(ctx, request, into)
}

// certificateRefused knows a server that ended the handshake: it does not
// accept the certificate, and did nothing.
func certificateRefused(err error) error {
	if opError, ok := errors.AsType[*net.OpError](err); ok && opError.Op == "remote error" {
		return &payment.Refusal{Reason: "the certificate was not accepted"}
	}
	return err
}

// cob is an immediate charge.
type cob struct {
	Calendario struct {
		Criacao   string `json:"criacao,omitempty"`
		Expiracao int64  `json:"expiracao"`
	} `json:"calendario"`
	TxID   string `json:"txid,omitempty"`
	Status string `json:"status,omitempty"`
	Loc    struct {
		ID int64 `json:"id"`
	} `json:"loc,omitzero"`
	Devedor *devedor `json:"devedor,omitempty"`
	Valor   struct {
		Original string `json:"original"`
	} `json:"valor"`
	Chave         string `json:"chave"`
	Solicitacao   string `json:"solicitacaoPagador,omitempty"`
	PixCopiaECola string `json:"pixCopiaECola,omitempty"`
	Pix           []paid `json:"pix,omitempty"`
}

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
func (g *gateway) cob(ctx context.Context, method, txID string, body any) (cob, error) {
	var charge cob
	if !validTxID.MatchString(txID) {
		return charge, payment.ErrNoCharge
	}
	err := g.do(
		ctx,
		g.env.Now(),
		wire.Request{Method: method, Path: "/v2/cob/" + txID, Body: body},
		&charge,
	)
	if err == nil && (charge.TxID != txID || charge.Status == "") {
		err = fmt.Errorf("%s /v2/cob/%s: the answer is about %.40q", method, txID, charge.TxID)
	}
	return charge, err
}
