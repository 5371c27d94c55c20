package bacen

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
)

// Authorise asks for an authorisation. The API gives it an id of its own and has
// no key for repeated calls, so one with our contract's number is searched for
// before it is made.
func (d *debitor) Authorise(ctx context.Context, mandate payment.Mandate) (payment.Authorisation, error) {
	asked, err := d.authorise(ctx, mandate)
	return asked, wire.Outcome(err)
}

func (d *debitor) authorise(ctx context.Context, mandate payment.Mandate) (payment.Authorisation, error) {
	if err := refuseMandate(mandate); err != nil {
		return payment.Authorisation{}, err
	}
	var charge *payment.Charge
	if mandate.Journey == payment.JourneyPayCode {
		made, err := d.Create(ctx, *mandate.Charge)
		if err != nil {
			return payment.Authorisation{}, err
		}
		charge = &made
	}
	found, err := wire.Make(func() (rec, error) { return d.searchRec(ctx, mandate.Reference, mandate.Payer.TaxID) },
		func() (rec, error) { return d.makeRec(ctx, mandate) })
	if err != nil {
		return payment.Authorisation{}, err
	}
	asked, err := d.askFor(ctx, mandate, found)
	asked.Charge = charge
	return asked, err
}

// refuseMandate returns the reasons why no bank could accept a mandate.
func refuseMandate(mandate payment.Mandate) error {
	switch {
	case len(mandate.Payer.TaxID) != 11 && len(mandate.Payer.TaxID) != 14:
		return &payment.Refusal{Reason: "PIX Automático needs the customer's CPF or CNPJ"}
	case periods[mandate.Every] == "":
		return &payment.Refusal{Reason: "PIX Automático has no such period"}
	case mandate.Journey == payment.JourneyRequest && mandate.Account == nil:
		return &payment.Refusal{Reason: "a request needs the account of the payer"}
	case mandate.Journey == payment.JourneyPayCode && mandate.Charge == nil:
		return &payment.Refusal{Reason: "a code that pays needs what it is to pay"}
	}
	return nil
}

// askFor takes the steps after the making, as far as they are not done.
func (d *debitor) askFor(ctx context.Context, mandate payment.Mandate, found rec) (payment.Authorisation, error) {
	if mandate.Journey != payment.JourneyRequest {
		txID := ""
		if mandate.Charge != nil {
			txID = mandate.Charge.Reference
		}
		return d.withCode(ctx, found.ID, txID)
	}
	complete, err := d.readRec(ctx, found.ID, "")
	if err == nil && len(complete.Solicitacao) == 0 && complete.Status == recAsked {
		err = d.request(ctx, mandate, found.ID)
		if wire.Changed(err) { // the one before may be under way: its answer was lost
			refused := err
			if complete, err = d.readRec(ctx, found.ID, ""); err == nil && len(complete.Solicitacao) == 0 {
				err = refused
			}
		}
	}
	if err != nil {
		return payment.Authorisation{}, err
	}
	return complete.authorisation()
}

// withCode reads an authorisation with its code.
func (d *debitor) withCode(ctx context.Context, id, txID string) (payment.Authorisation, error) {
	found, err := d.readRec(ctx, id, txID)
	if err != nil {
		return payment.Authorisation{}, err
	}
	asked, err := found.authorisation()
	if err == nil && asked.State == payment.AuthorisationAsked {
		if asked.PixCode = found.QR.Code; asked.PixCode == "" {
			err = fmt.Errorf("authorisation %s has no code", id)
		}
	}
	return asked, err
}

// makeRec makes the authorisation, and for a code the place that it points at.
func (d *debitor) makeRec(ctx context.Context, mandate payment.Mandate) (rec, error) {
	wanted := recOf(mandate)
	body := struct {
		rec
		Loc int64 `json:"loc,omitempty"`
	}{rec: wanted}
	if mandate.Journey != payment.JourneyRequest {
		loc, err := d.makeLocation(ctx)
		if err != nil {
			return rec{}, err
		}
		body.Loc = loc
	}
	var made rec
	err := d.send(ctx, http.MethodPost, "/rec", body, &made)
	whole := validRecID.MatchString(made.ID) && made.Vinculo.Contrato == wanted.Vinculo.Contrato
	return made, wire.Expect(err, whole, "POST /rec: the answer lacks id or contract")
}

func (d *debitor) makeLocation(ctx context.Context) (int64, error) {
	var made struct {
		ID int64 `json:"id"`
	}
	err := d.send(ctx, http.MethodPost, "/locrec", nil, &made)
	return made.ID, wire.Expect(err, made.ID != 0, "POST /locrec: the answer lacks an id")
}

// recOf encodes the mandate as the Central Bank's "rec" object.
func recOf(mandate payment.Mandate) rec {
	var wanted rec
	wanted.Vinculo.Contrato = mandate.Reference
	wanted.Vinculo.Objeto = wire.Cut(mandate.Description, 35)
	wanted.Vinculo.Devedor = debtor(mandate.Payer, 140)
	wanted.Calendario.Inicial = mandate.From.String()
	wanted.Calendario.Periodicidade = periods[mandate.Every]
	if mandate.Amount > 0 {
		wanted.Valor.Fixo = mandate.Amount.String()
	} else if mandate.Minimum > 0 {
		wanted.Valor.Minimo = mandate.Minimum.String()
	}
	wanted.Retentativa = "NAO_PERMITE"
	if mandate.Retries {
		wanted.Retentativa = "PERMITE_3R_7D"
	}
	if mandate.Charge == nil {
		return wanted
	}
	if mandate.Charge.Due != nil {
		wanted.Vinculo.Contrato += withDueMark
		return wanted
	}
	wanted.Ativacao = &ativacao{}
	wanted.Ativacao.Dados.TxID = mandate.Charge.Reference
	return wanted
}

// destinatario is the account that a request goes to.
type destinatario struct {
	CPF     string `json:"cpf,omitempty"`
	CNPJ    string `json:"cnpj,omitempty"`
	ISPB    string `json:"ispbParticipante"`
	Agencia string `json:"agencia,omitempty"`
	Conta   string `json:"conta"`
}

// request has the payer's bank ask them.
func (d *debitor) request(ctx context.Context, mandate payment.Mandate, id string) error {
	var body struct {
		ID         string `json:"idRec"`
		Calendario struct {
			Until string `json:"dataExpiracaoSolicitacao"`
		} `json:"calendario"`
		Destinatario destinatario `json:"destinatario"`
	}
	body.ID = id
	body.Calendario.Until = mandate.ExpiresAt.UTC().Format(time.RFC3339)
	account := mandate.Account
	body.Destinatario = destinatario{ISPB: account.ISPB, Agencia: account.Branch, Conta: account.Account}
	if payer := debtor(mandate.Payer, 140); payer != nil {
		body.Destinatario.CPF, body.Destinatario.CNPJ = payer.CPF, payer.CNPJ
	}
	var made solicitacao
	err := d.send(ctx, http.MethodPost, "/solicrec", body, &made)
	return wire.Expect(err, made.ID != "", "POST /solicrec: the answer lacks an id")
}

// findRec reads an authorisation by its id, or else by our reference.
func (d *debitor) findRec(ctx context.Context, ref payment.Ref) (rec, error) {
	if ref.ID == "" {
		found, err := d.searchRec(ctx, ref.Reference, "")
		if err != nil {
			return rec{}, err
		}
		ref.ID = found.ID
	}
	return d.readRec(ctx, ref.ID, "")
}

// FetchAuthorisation reads it back, with the code while it can be used.
func (d *debitor) FetchAuthorisation(ctx context.Context, ref payment.Ref) (payment.Authorisation, error) {
	return wire.Look(ctx, ref, d.findRec, func(found rec) (payment.Authorisation, error) {
		read, err := found.authorisation()
		if err != nil || read.State != payment.AuthorisationAsked || found.paysWithDue() {
			return read, err
		}
		read.PixCode = found.QR.Code
		if txID := found.txID(); txID != "" { // the code that pays is another one
			read, err = d.withCode(ctx, found.ID, txID)
		}
		return read, wire.Outcome(err)
	})
}

// EndAuthorisation cancels it.
func (d *debitor) EndAuthorisation(ctx context.Context, ref payment.Ref) error {
	return wire.End(ctx, ref, d.findRec, rec.live, d.end)
}

// live reports whether the bank has it still, with a failed request too.
func (r rec) live() bool { return r.Status == recAsked || r.Status == recApproved }

func (d *debitor) end(ctx context.Context, live rec) error {
	var after rec
	err := d.send(ctx, http.MethodPatch, "/rec/"+live.ID, map[string]string{"status": recEnded}, &after)
	return wire.Expect(err, after.Status == recEnded, "authorisation %s was to be cancelled and is %.40q", live.ID, after.Status)
}

// debitor is the gateway of a company if its bank has PIX Automático, and the
// company says that its contract does too.
type debitor struct {
	*gateway
	receiver receiver
}

var _ payment.Debitor = (*debitor)(nil)

// receiver is the account that a debit goes to. The document wants it of every
// debit, although a charge names the PIX key.
type receiver struct {
	Agencia string `json:"agencia,omitempty"`
	Conta   string `json:"conta"`
	Tipo    string `json:"tipoConta"`
}

// autopayScopes are what PIX Automático needs besides usualScopes.
const autopayScopes = "rec.read rec.write solicrec.read solicrec.write cobr.read cobr.write " +
	"payloadlocationrec.read payloadlocationrec.write " +
	"webhookrec.read webhookrec.write webhookcobr.read webhookcobr.write"

// accountTypes are the kinds of account, as the option has them.
var accountTypes = []string{"corrente", "poupanca", "pagamento"}

// autopayOptions turn PIX Automático on. It is off by default: the bank wants a
// contract of its own for it.
var autopayOptions = []payment.Option{
	wire.Autopay("yes when the contract with the bank has it; the application then needs the scopes " + autopayScopes),
	{Name: "receiver_branch", Title: "Agência que recebe", Help: "of PIX Automático: up to four digits"},
	{Name: "receiver_account", Title: "Conta que recebe", Help: "of PIX Automático: the account that debits go to"},
	{
		Name: "receiver_account_type", Title: "Tipo da conta que recebe", Choices: accountTypes,
		Help: "of PIX Automático: corrente (the default), poupanca or pagamento",
	},
}

// validBranch and validAccount are what the document lets pass.
var (
	validBranch  = regexp.MustCompile(`^[0-9]{1,4}$`)
	validAccount = regexp.MustCompile(`^[0-9A-Za-z-]{1,20}$`)
)

// readReceiver is the account that debits go to; nil: the company has no PIX
// Automático.
func readReceiver(options *wire.Options, chosen bank) *receiver {
	if options.Choice("autopay", []string{"no", "yes"}) != "yes" {
		return nil
	}
	if !chosen.autopay {
		options.Refuse("autopay", "we know of no PIX Automático in the API of this bank; "+
			"if its documents have it, choose other and enter its addresses")
	}
	account := &receiver{
		Agencia: options.Text("receiver_branch"),
		Conta:   options.Text("receiver_account"),
		Tipo: map[string]string{
			"corrente": "CORRENTE", "poupanca": "POUPANCA", "pagamento": "PAGAMENTO",
		}[options.Choice("receiver_account_type", accountTypes)],
	}
	if account.Agencia != "" && !validBranch.MatchString(account.Agencia) {
		options.Refuse("receiver_branch", "must be up to four digits")
	}
	if !validAccount.MatchString(account.Conta) {
		options.Refuse("receiver_account", "must be up to 20 digits, letters or hyphens")
	}
	return account
}

// Check also asks whether the application may read authorisations.
func (d *debitor) Check(ctx context.Context) error {
	if err := d.gateway.Check(ctx); err != nil {
		return err
	}
	_, err := d.recs(ctx, recSearch{since: d.env.Now().Add(-time.Minute), perPage: 1})
	return wire.Outcome(err)
}

// recSearch is what a list of authorisations is asked for by.
type recSearch struct {
	since   time.Time
	taxID   string // of the payer; empty: of all
	page    int
	perPage int
}

func (s recSearch) query(now time.Time) url.Values {
	query := url.Values{
		"inicio":                   {s.since.UTC().Format(time.RFC3339)},
		"fim":                      {now.UTC().Format(time.RFC3339)},
		"paginacao.paginaAtual":    {strconv.Itoa(s.page)},
		"paginacao.itensPorPagina": {strconv.Itoa(s.perPage)},
	}
	switch len(s.taxID) {
	case 11:
		query.Set("cpf", s.taxID)
	case 14:
		query.Set("cnpj", s.taxID)
	}
	return query
}

// recPage is a page of a list.
type recPage struct {
	Parametros struct {
		Paginacao struct {
			Paginas int `json:"quantidadeDePaginas"`
		} `json:"paginacao"`
	} `json:"parametros"`
	Recs []rec `json:"recs"`
}

func (d *debitor) recs(ctx context.Context, search recSearch) (recPage, error) {
	var page recPage
	// A bank's clock may run ahead of ours, and what it has just made must be found.
	until := d.env.Now().Add(time.Hour)
	err := d.get(ctx, "/rec", search.query(until), &page)
	return page, wire.Expect(err, page.Recs != nil, "GET /rec: the answer lacks a list")
}
