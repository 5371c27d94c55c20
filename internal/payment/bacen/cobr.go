package bacen

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
	"carteira/internal/platform/civil"
)

// cobr is a debit.
type cobr struct {
	RecID      string `json:"idRec"`
	TxID       string `json:"txid,omitempty"`
	Info       string `json:"infoAdicional,omitempty"`
	Calendario struct {
		Vencimento string `json:"dataDeVencimento"`
	} `json:"calendario"`
	Valor struct {
		Original string `json:"original"`
	} `json:"valor"`
	// DiaUtil has the bank move the day to a working one.
	DiaUtil      bool         `json:"ajusteDiaUtil"`
	Recebedor    receiver     `json:"recebedor"`
	Status       string       `json:"status,omitempty"`
	Tentativas   []attempt    `json:"tentativas,omitempty"`
	Encerramento encerramento `json:"encerramento,omitzero"`
	Pix          []paid       `json:"pix,omitempty"`
}

// attempt is one attempt to debit.
type attempt struct {
	Day      string `json:"dataLiquidacao"`
	Status   string `json:"status"`
	Rejeicao cause  `json:"rejeicao,omitzero"`
}

const (
	attemptPaid      = "PAGA"
	attemptAsked     = "SOLICITADA"
	attemptScheduled = "AGENDADA"
)

// pending reports whether the attempt is still to come.
func (a attempt) pending() bool { return a.Status == attemptAsked || a.Status == attemptScheduled }

// failed reports whether it failed.
func (a attempt) failed() bool { return !a.pending() && a.Status != attemptPaid }

// cobrStates are the states that a debit's own status says.
var cobrStates = map[string]payment.DebitState{
	"CRIADA":    payment.DebitAnnounced,
	"ATIVA":     payment.DebitAnnounced,
	"CONCLUIDA": payment.DebitPaid,
	"EXPIRADA":  payment.DebitFailed,
	"REJEITADA": payment.DebitFailed,
	"CANCELADA": payment.DebitCancelled,
}

// newest is the attempt of the latest day; zero: there is none yet.
func (c cobr) newest() attempt {
	var newest attempt
	for _, attempt := range c.Tentativas {
		if attempt.Day >= newest.Day {
			newest = attempt
		}
	}
	return newest
}

// state is the state of the debit. The API calls it active after a failed
// attempt as long as another one may be requested.
func (c cobr) state() (payment.DebitState, error) {
	state := cobrStates[c.Status]
	switch newest := c.newest(); {
	case state == "":
		return "", fmt.Errorf("a debit has the unknown status %.40q", c.Status)
	case state != payment.DebitAnnounced || len(c.Tentativas) == 0:
		return state, nil
	case newest.failed():
		return payment.DebitFailed, nil
	case len(c.Tentativas) > 1:
		return payment.DebitRetrying, nil
	}
	return state, nil
}

// reason is why the newest attempt failed, or why the debit ended.
func (c cobr) reason() string {
	return wire.Pick(c.newest().Rejeicao.reason(), c.Encerramento.Rejeicao.reason(), c.Encerramento.Cancelamento.reason())
}

// event distinguishes the callbacks of one debit.
func (c *cobr) event() string {
	parts := []string{"cobr", c.TxID, c.Status}
	for _, attempt := range c.Tentativas {
		parts = append(parts, attempt.Day, attempt.Status)
	}
	for i := range c.Pix {
		parts = append(parts, c.Pix[i].event())
	}
	return wire.Cut(strings.Join(parts, " "), 200)
}

func (c cobr) report() (payment.DebitReport, error) {
	state, err := c.state()
	if err != nil {
		return payment.DebitReport{}, err
	}
	report := payment.DebitReport{
		DebitRef: payment.DebitRef{
			Ref:           payment.Ref{ID: c.TxID, Reference: c.TxID},
			Authorisation: payment.Ref{ID: c.RecID},
		},
		State:    state,
		Attempts: len(c.Tentativas),
	}
	if state != payment.DebitPaid {
		report.Reason = c.reason()
	}
	if report.On, err = civil.Parse(wire.Pick(c.newest().Day, c.Calendario.Vencimento)); err != nil {
		return report, fmt.Errorf("debit %s: its day: %w", c.TxID, err)
	}
	if report.Payments, err = received(c.Pix); err != nil {
		return report, fmt.Errorf("debit %s: %w", c.TxID, err)
	}
	if state == payment.DebitPaid && len(report.Payments) == 0 {
		err = fmt.Errorf("debit %s is paid, and its payment is not listed", c.TxID)
	}
	return report, err
}

// cobr calls one debit by its id; suffix is that of the path.
func (d *debitor) cobr(ctx context.Context, method, txID, suffix string, body any) (cobr, error) {
	var debit cobr
	if !validTxID.MatchString(txID) {
		return debit, payment.ErrNoCharge
	}
	err := d.send(ctx, method, "/cobr/"+txID+suffix, body, &debit)
	whole := debit.TxID == txID && debit.Status != ""
	return debit, wire.Expect(err, whole, "%s /cobr/%s: the answer lacks id or status", method, txID)
}

// readCobr reads a debit back.
func (d *debitor) readCobr(ctx context.Context, ref payment.DebitRef) (cobr, error) {
	debit, err := d.cobr(ctx, http.MethodGet, wire.Pick(ref.ID, ref.Reference), "", nil)
	return debit, wire.Known(err)
}

// FetchDebit reads a debit back.
func (d *debitor) FetchDebit(ctx context.Context, ref payment.DebitRef) (payment.DebitReport, error) {
	return wire.Look(ctx, ref, d.readCobr, cobr.report)
}

// Announce puts the debit under our reference. That there is one already is as
// good as having made it.
func (d *debitor) Announce(ctx context.Context, debit payment.Debit) (payment.DebitReport, error) {
	return wire.Look(ctx, debit, d.announce, cobr.report)
}

func (d *debitor) announce(ctx context.Context, debit payment.Debit) (cobr, error) {
	id := debit.Authorisation.ID
	if id == "" {
		found, err := d.searchRec(ctx, debit.Authorisation.Reference, debit.Payer.TaxID)
		if errors.Is(err, payment.ErrNoCharge) {
			return cobr{}, &payment.Refusal{Reason: "the bank does not know the authorisation"}
		}
		if err != nil {
			return cobr{}, err
		}
		id = found.ID
	}
	wanted := cobr{RecID: id, Info: wire.Cut(debit.Description, 140), Recebedor: d.receiver}
	wanted.Calendario.Vencimento = debit.On.String()
	wanted.Valor.Original = debit.Amount.String()
	made, err := d.cobr(ctx, http.MethodPut, debit.Reference, "", wanted)
	if !wire.Changed(err) {
		return made, err
	}
	return madeBefore(err, func() (cobr, error) {
		return d.cobr(ctx, http.MethodGet, debit.Reference, "", nil)
	}, func(known cobr) error {
		same := known.RecID == id && known.Valor == wanted.Valor && known.Calendario == wanted.Calendario
		return wire.Expect(nil, same, "debit %s was announced before, of %.20q for %.20q",
			known.TxID, known.Valor.Original, known.Calendario.Vencimento)
	})
}

// CancelDebit cancels it. From its day on a bank refuses that.
func (d *debitor) CancelDebit(ctx context.Context, ref payment.DebitRef) error {
	debit, live, err := d.liveCobr(ctx, ref)
	if !live || err != nil {
		return wire.Outcome(err)
	}
	after, err := d.cobr(ctx, http.MethodPatch, debit.TxID, "", map[string]string{"status": "CANCELADA"})
	if wire.Changed(err) {
		if _, live, err = d.liveCobr(ctx, ref); live {
			return payment.ErrPaid
		}
		return wire.Outcome(err)
	}
	cancelled := cobrStates[after.Status] == payment.DebitCancelled
	return wire.Outcome(wire.Expect(err, cancelled, "debit %s was to be cancelled and is %.40q", debit.TxID, after.Status))
}

// liveCobr reads a debit and reports whether an attempt may still come.
func (d *debitor) liveCobr(ctx context.Context, ref payment.DebitRef) (debit cobr, live bool, err error) {
	debit, err = d.readCobr(ctx, ref)
	if errors.Is(err, payment.ErrNoCharge) {
		return debit, false, nil
	}
	if err != nil {
		return debit, false, err
	}
	state, err := debit.state()
	if state == payment.DebitPaid {
		err = payment.ErrPaid
	}
	return debit, state == payment.DebitAnnounced || state == payment.DebitRetrying, err
}

// RetryDebit asks for one more attempt.
func (d *debitor) RetryDebit(ctx context.Context, ref payment.DebitRef, on civil.Date) error {
	return wire.Retry(func() (cobr, error) { return d.readCobr(ctx, ref) }, func(debit cobr) (tried, paid bool) {
		return debit.triedOn(on), cobrStates[debit.Status] == payment.DebitPaid
	}, func(debit cobr) error {
		after, err := d.cobr(ctx, http.MethodPost, debit.TxID, "/retentativa/"+on.String(), nil)
		return wire.Expect(err, after.triedOn(on), "debit %s was to be tried again on %s, and the bank does not say so", debit.TxID, on)
	})
}

// triedOn reports whether there is an attempt on a day, or was.
func (c cobr) triedOn(on civil.Date) bool {
	return slices.ContainsFunc(c.Tentativas, func(attempt attempt) bool { return attempt.Day == on.String() })
}
