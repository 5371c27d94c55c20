package bacen

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
	"carteira/internal/platform/money"
)

type gateway struct {
	*session
	env    payment.Env
	key    string // receives the money
	proof  string // what callbacks bear in their address
	debits bool   // the company has PIX Automático
}

// Create puts the charge under our reference. That there is one already is as
// good as having made it.
func (g *gateway) Create(ctx context.Context, order payment.Order) (payment.Charge, error) {
	kind := immediate
	if order.Due != nil {
		kind = withDue
	}
	charge, err := g.cob(ctx, http.MethodPut, kind, order.Reference, g.request(order))
	if wire.Changed(err) {
		charge, err = madeBefore(err, func() (cob, error) {
			return g.cob(ctx, http.MethodGet, kind, order.Reference, nil)
		}, func(known cob) error {
			same := known.Valor.Original == original(order).String() && known.Status == statusActive
			return wire.Expect(nil, same, "charge %s was made before, for %.20q, and is %.40q",
				order.Reference, known.Valor.Original, known.Status)
		})
	}
	if err != nil {
		return payment.Charge{}, wire.Outcome(err)
	}
	made, err := g.charge(ctx, charge)
	return made, wire.Unsure(err)
}

// madeBefore looks for the record of a call that was refused. Banks have no word in
// common for an id that is taken, so each refusal is looked into. One that is said to be
// there and is not found is no refusal.
func madeBefore[R any](refused error, read func() (R, error), same func(R) error) (R, error) {
	known, err := read()
	switch status := wire.Status(err); {
	case err == nil:
		return known, same(known)
	case status < 400 || status >= 500:
		return known, err
	case wire.Status(refused) == http.StatusConflict:
		return known, wire.Unsure(err)
	}
	return known, refused
}

const minLife = time.Minute

// original is the amount before the bank computes.
func original(order payment.Order) money.Cents {
	if order.Due != nil {
		return order.Due.Face
	}
	return order.Amount
}

func (g *gateway) request(order payment.Order) cob {
	var charge cob
	if order.Due != nil {
		charge.leaveToBank(*order.Due)
	} else {
		life := max(order.ExpiresAt.Sub(g.env.Now()), minLife)
		charge.Calendario.Expiracao = int64(life / time.Second)
	}
	charge.Valor.Original = original(order).String()
	charge.Chave = g.key
	charge.Solicitacao = wire.Cut(order.Description, 140)
	charge.Devedor = debtor(order.Payer, 200)
	return charge
}

// debtor is the payer, with as much of the name as is let pass; nil without a CPF
// or CNPJ.
func debtor(payer payment.Payer, limit int) *devedor {
	name := wire.Cut(payer.Name, limit)
	switch len(payer.TaxID) {
	case 11:
		return &devedor{CPF: payer.TaxID, Nome: name}
	case 14:
		return &devedor{CNPJ: payer.TaxID, Nome: name}
	}
	return nil
}

// leaveToBank says what the bank is to compute the amount by.
func (c *cob) leaveToBank(due payment.Due) {
	c.Calendario.Vencimento, c.Calendario.Validade = due.On.String(), due.Days
	if due.LateFee > 0 {
		c.Valor.Multa = &rate{percentOnce, due.LateFee.String()}
	}
	if due.LateInterest > 0 {
		c.Valor.Juros = &rate{percentAMonth, due.LateInterest.String()}
	}
	if due.Discount > 0 {
		until := []discountedTo{{due.On.String(), due.Discount.String()}}
		c.Valor.Desconto = &discount{amountUntilADay, until}
	}
}

// charge is what payers need of it.
func (g *gateway) charge(ctx context.Context, charge cob) (payment.Charge, error) {
	code, err := g.code(ctx, charge)
	return payment.Charge{ID: charge.TxID, PixCode: code, ExpiresAt: charge.expiry()}, err
}

// lateness is how long after its end a charge may still turn out to be paid.
const lateness = 10 * time.Minute

// state is the state of the charge. The API has no word for an expired one:
// it stays active, and cannot be paid.
func (g *gateway) state(charge *cob) (payment.State, error) {
	expiry := charge.expiry()
	switch charge.Status {
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
	return "", fmt.Errorf("a charge has the unknown status %.40q", charge.Status)
}

func (g *gateway) find(ctx context.Context, ref payment.Ref) (cob, payment.State, error) {
	txID := wire.Pick(ref.ID, ref.Reference)
	charge, err := g.cob(ctx, http.MethodGet, immediate, txID, nil)
	if wire.Status(err) == http.StatusNotFound {
		charge, err = g.cob(ctx, http.MethodGet, withDue, txID, nil)
	}
	// An application that may not read charges with a due date has made none.
	if status := wire.Status(err); status == http.StatusNotFound || charge.kind == withDue && status == http.StatusForbidden {
		err = payment.ErrNoCharge
	}
	if err != nil {
		return charge, "", err
	}
	state, err := g.state(&charge)
	return charge, state, err
}

// Fetch reads the charge back.
func (g *gateway) Fetch(ctx context.Context, ref payment.Ref) (payment.Report, error) {
	charge, state, err := g.find(ctx, ref)
	if err != nil {
		return payment.Report{}, wire.Outcome(err)
	}
	report := payment.Report{
		Charge: payment.Charge{
			ID:        charge.TxID,
			PixCode:   wire.Pick(charge.PixCopiaECola, charge.BRCode),
			ExpiresAt: charge.expiry(),
		},
		Reference: charge.TxID,
		State:     state,
	}
	if report.Payments, err = charge.received(); err != nil {
		return report, fmt.Errorf("look at charge %s: %w", charge.TxID, err)
	}
	if state == payment.StatePending {
		report.Charge, err = g.charge(ctx, charge)
	}
	return report, err
}

// Cancel removes the charge.
func (g *gateway) Cancel(ctx context.Context, ref payment.Ref) error {
	return wire.Cancel(ctx, ref, g.find, g.remove)
}

func (g *gateway) remove(ctx context.Context, charge cob) error {
	after, err := g.cob(ctx, http.MethodPatch, charge.kind, charge.TxID, map[string]string{"status": statusRemoved})
	return wire.Expect(err, after.Status == statusRemoved, "charge %s was to be removed and is %.40q", charge.TxID, after.Status)
}

// Check gets a token and reads the charges of the last minute, which shows
// whether the application is allowed to. A bank without a list of charges, such
// as Banco do Brasil, is asked for a charge that does not exist.
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
	err := g.get(ctx, "/cob", query, &page)
	switch wire.Status(err) {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		err = g.get(ctx, "/cob/"+noCharge, nil, &cob{})
		if wire.Status(err) == http.StatusNotFound {
			return nil
		}
	}
	return wire.Outcome(err)
}

// noCharge is the id of no charge: ours are made of the time.
var noCharge = strings.Repeat("0", 26)
