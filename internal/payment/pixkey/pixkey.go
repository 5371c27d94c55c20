// Package pixkey owns the gateway that needs no account anywhere: a static code
// of the company's own PIX key. Its payment is not reported, and banks may drop
// its id and let it be paid twice, so a person confirms what arrived.
package pixkey

import (
	"context"
	"errors"
	"strings"

	"carteira/internal/payment"
	"carteira/internal/payment/pix"
	"carteira/internal/payment/wire"
)

// Provider is the gateway.
func Provider() payment.Provider {
	return payment.Provider{
		Name: "pixkey", Title: "Chave PIX própria", Flow: payment.FlowPix, Manual: true,
		Options: []payment.Option{
			{Name: "key", Title: "Chave PIX", Required: true, Help: "CNPJ, CPF, e-mail, random key, or phone with +55"},
			{
				Name: "key_type", Title: "Tipo da chave", Choices: kinds(),
				Help: "needed only where eleven digits may be a CPF or a phone",
			},
			{
				Name: "name", Title: "Nome de quem recebe", Required: true, As: pix.ShownName,
				Help: "as banks are told it; up to 25 characters without accents",
			},
			{
				Name: "city", Title: "Cidade", Required: true, As: pix.ShownCity,
				Help: "up to 15 characters without accents",
			},
		},
		Open: open,
	}
}

func kinds() []string {
	list := make([]string, len(pix.Kinds))
	for i, kind := range pix.Kinds {
		list[i] = string(kind)
	}
	return list
}

type gateway struct {
	key        pix.Key
	name, city string
}

func open(options map[string]string, _ payment.Env) (payment.Gateway, error) {
	o := wire.Options{Given: options}
	g := &gateway{name: o.Text("name"), city: o.Text("city"), key: readKey(&o)}
	for _, field := range []string{"name", "city"} {
		if pix.Fold(o.Text(field)) == "" {
			o.Refuse(field, "is required, with letters that banks can read")
		}
	}
	return g, o.Err()
}

func readKey(options *wire.Options) pix.Key {
	text, kind := options.Text("key"), options.Text("key_type")
	if text == "" {
		options.Refuse("key", "is required")
		return pix.Key{}
	}
	read := pix.ParseKey
	if kind != "" {
		read = func(text string) (pix.Key, error) { return pix.ParseKeyAs(pix.Kind(kind), text) }
	}
	key, err := read(text)
	switch {
	case errors.Is(err, pix.ErrKind):
		options.Refuse("key_type", err.Error())
	case err != nil:
		options.Refuse("key", err.Error())
	}
	return key
}

// txIDLength is what fits into a static code.
const txIDLength = 25

// Create writes the code out. The same order gives the same code.
func (g *gateway) Create(_ context.Context, order payment.Order) (payment.Charge, error) {
	id := order.Reference[:min(len(order.Reference), txIDLength)]
	code, err := pix.Static{
		Key:         g.key,
		Name:        g.name,
		City:        g.city,
		Amount:      order.Amount,
		TxID:        id,
		Description: order.Description,
	}.Code()
	if err != nil {
		return payment.Charge{}, &payment.Refusal{Reason: strings.TrimPrefix(err.Error(), "pix: ")}
	}
	return payment.Charge{ID: id, PixCode: code, ExpiresAt: order.ExpiresAt}, nil
}

// Fetch knows nothing: a code of one's own is pending until a person says
// otherwise.
func (g *gateway) Fetch(_ context.Context, ref payment.Ref) (payment.Report, error) {
	return payment.Report{
		Charge:    payment.Charge{ID: ref.ID},
		Reference: ref.Reference,
		State:     payment.StatePending,
	}, nil
}

// Cancel has nothing to do: no service knows the code. A code that was shown
// can be paid for ever, which is why people confirm.
func (g *gateway) Cancel(context.Context, payment.Ref) error { return nil }

// Check is done when the options are read: there is no service to ask.
func (g *gateway) Check(context.Context) error { return nil }

// VerifyCallback refuses every call, since none is expected.
func (g *gateway) VerifyCallback(context.Context, payment.Callback) ([]payment.Hint, error) {
	return nil, payment.ErrForged
}
