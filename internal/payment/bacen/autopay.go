package bacen

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
)

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

// slots are the webhooks that a gateway registers.
func (g *gateway) slots() []string {
	key := "/webhook/" + url.PathEscape(g.key)
	if !g.debits {
		return []string{key}
	}
	return []string{key, "/webhookrec", "/webhookcobr"}
}

// autopayHints are the authorisations and debits that a callback is about.
func autopayHints(recs []rec, debits []cobr) []payment.Hint {
	var hints []payment.Hint
	for _, rec := range recs {
		if validRecID.MatchString(rec.ID) {
			hints = append(hints, payment.Hint{
				EventID: wire.Cut("rec "+rec.ID+" "+rec.Status, 200),
				Ref:     payment.Ref{ID: rec.ID},
				Kind:    payment.HintAuthorisation,
			})
		}
	}
	for i := range debits {
		if validTxID.MatchString(debits[i].TxID) {
			hints = append(hints, payment.Hint{
				EventID: debits[i].event(),
				Ref:     payment.Ref{ID: debits[i].TxID, Reference: debits[i].TxID},
				Kind:    payment.HintDebit,
			})
		}
	}
	return slices.Clip(hints)
}
