package efi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
)

type gateway struct {
	*session
	env   payment.Env
	key   string // receives the money
	proof string // what callbacks bear in their address
}

// Create puts the charge under our reference. That there is one already is as
// good as having made it.
func (g *gateway) Create(ctx context.Context, o payment.Order) (payment.Charge, error) {
	c, err := g.cob(ctx, http.MethodPut, o.Reference, g.request(o))
	if duplicate(err) {
		c, err = g.cob(ctx, http.MethodGet, o.Reference, nil)
		if err == nil && (c.Valor.Original != o.Amount.String() || c.Status != statusActive) {
			err = fmt.Errorf("charge %s was made before, for %.20q, and is %.40q", o.Reference, c.Valor.Original, c.Status)
		}
		if err != nil {
			return payment.Charge{}, err // something is there: this is no refusal
		}
	}
	if err != nil {
		return payment.Charge{}, wire.Outcome(err)
	}
	return g.charge(ctx, c)
}

// duplicate tells that the id is taken.
func duplicate(err error) bool {
	e, ok := errors.AsType[*wire.StatusError](err)
	return ok && (e.Status == http.StatusConflict || strings.Contains(e.Reason, "txid_duplicado"))
}

const minLife = time.Minute

func (g *gateway) request(o payment.Order) cob {
	var c cob
	c.Calendario.Expiracao = int64(max(o.ExpiresAt.Sub(g.env.Now()), minLife) / time.Second)
	c.Valor.Original = o.Amount.String()
	c.Chave = g.key
	c.Solicitacao = wire.Cut(o.Description, 140)
	name := wire.Cut(o.Payer.Name, 200)
	switch len(o.Payer.TaxID) {
	case 11:
		c.Devedor = &devedor{CPF: o.Payer.TaxID, Nome: name}
	case 14:
		c.Devedor = &devedor{CNPJ: o.Payer.TaxID, Nome: name}
	}
	return c
}

// charge is what payers need of it. Where the code does not come with the
// charge, it stands at its location.
func (g *gateway) charge(ctx context.Context, c cob) (payment.Charge, error) {
	made := payment.Charge{ID: c.TxID, PixCode: c.PixCopiaECola, ExpiresAt: c.expiry()}
	if made.PixCode != "" {
		return made, nil
	}
	var qr struct {
		Code string `json:"qrcode"`
	}
	path := "/v2/loc/" + strconv.FormatInt(c.Loc.ID, 10) + "/qrcode"
	err := g.do(ctx, g.env.Now(), wire.Request{Method: http.MethodGet, Path: path}, &qr)
	if err == nil && qr.Code == "" {
		err = errors.New("GET " + path + ": the answer lacks a code")
	}
	made.PixCode = qr.Code
	return made, err
}

func (c *cob) expiry() time.Time {
	created := wire.Time(c.Calendario.Criacao)
	if created.IsZero() {
		return created
	}
	return created.Add(time.Duration(c.Calendario.Expiracao) * time.Second)
}

// lateness is how long after its end a charge may still turn out to be paid.
const lateness = 10 * time.Minute

// state tells where the charge stands. The API has no word for one that has
// expired: it stays active, and nobody can pay it.
func (g *gateway) state(c *cob) (payment.State, error) {
	expiry := c.expiry()
	switch c.Status {
	case statusPaid:
		return payment.StatePaid, nil
	case statusRemoved, statusGone:
		return payment.StateCancelled, nil
	case statusActive:
		if !expiry.IsZero() && g.env.Now().After(expiry.Add(lateness)) {
			return payment.StateCancelled, nil
		}
		return payment.StatePending, nil
	}
	return "", fmt.Errorf("a charge of Efí has the unknown status %.40q", c.Status)
}

func (c *cob) received() ([]payment.Received, error) {
	var list []payment.Received
	for _, p := range c.Pix {
		amount, err := wire.Cents(json.Number(p.Valor))
		if err != nil {
			return nil, err
		}
		r := payment.Received{ID: p.EndToEndID, Amount: amount, Currency: "BRL", At: wire.Time(p.Horario)}
		if r.Refunded, r.RefundedAt, err = p.returned(); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	if c.Status == statusPaid && len(list) == 0 {
		return nil, errors.New("it is paid, and its payment is not listed")
	}
	return list, nil
}

func (g *gateway) find(ctx context.Context, ref payment.Ref) (cob, payment.State, error) {
	c, err := g.cob(ctx, http.MethodGet, wire.Pick(ref.ID, ref.Reference), nil)
	if wire.Status(err) == http.StatusNotFound {
		err = payment.ErrNoCharge
	}
	if err != nil {
		return c, "", err
	}
	state, err := g.state(&c)
	return c, state, err
}

// Fetch reads the charge back.
func (g *gateway) Fetch(ctx context.Context, ref payment.Ref) (payment.Report, error) {
	c, state, err := g.find(ctx, ref)
	if err != nil {
		return payment.Report{}, wire.Outcome(err)
	}
	r := payment.Report{Charge: payment.Charge{ID: c.TxID, PixCode: c.PixCopiaECola, ExpiresAt: c.expiry()}, Reference: c.TxID, State: state}
	if r.Payments, err = c.received(); err != nil {
		return r, fmt.Errorf("look at charge %s: %w", c.TxID, err)
	}
	if state == payment.StatePending {
		r.Charge, err = g.charge(ctx, c)
	}
	return r, err
}

// Cancel removes the charge.
func (g *gateway) Cancel(ctx context.Context, ref payment.Ref) error {
	return wire.Twice(func() error { return g.cancel(ctx, ref) })
}

func (g *gateway) cancel(ctx context.Context, ref payment.Ref) error {
	c, state, err := g.find(ctx, ref)
	if live, err := wire.Live(state, err); !live {
		return err
	}
	after, err := g.cob(ctx, http.MethodPatch, c.TxID, map[string]string{"status": statusRemoved})
	if err == nil && after.Status != statusRemoved {
		err = fmt.Errorf("charge %s was to be removed and is %.40q", c.TxID, after.Status)
	}
	return err
}

// Check gets a token and reads the charges of the last minute, which tells
// whether the application may.
func (g *gateway) Check(ctx context.Context) error {
	now := g.env.Now().UTC()
	query := url.Values{
		"inicio":                   {now.Add(-time.Minute).Format(time.RFC3339)},
		"fim":                      {now.Format(time.RFC3339)},
		"paginacao.itensPorPagina": {"1"},
	}
	var page struct {
		Cobs []cob `json:"cobs"`
	}
	return wire.Outcome(g.do(ctx, now, wire.Request{Method: http.MethodGet, Path: "/v2/cob", Query: query}, &page))
}
