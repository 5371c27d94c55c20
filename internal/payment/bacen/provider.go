// Package bacen owns the gateway of every bank that speaks the central bank's own
// PIX API: a charge is put under an id of ours, every call has a client
// certificate, and a token is got for credentials. How banks differ is a table
// (banks.go); Efí is one of them, and a provider of its own too. It does not know
// who pays or for what.
package bacen

import (
	"crypto/sha256"
	"net/url"
	"slices"
	"strings"

	"carteira/internal/payment"
	"carteira/internal/payment/pix"
	"carteira/internal/payment/wire"
)

// Settings are what the operator decides for all companies.
type Settings struct {
	// Hosts are servers that a company may name as its bank's, besides those of
	// the table. Without them no address that a company enters is called.
	Hosts []string
	// Server replaces every bank, in tests.
	Server string
}

// Provider is the gateway of any bank.
func Provider(settings Settings) payment.Provider {
	known := &sessions{}
	return payment.Provider{
		Name: "bacen", Title: "API Pix do seu banco", Flow: payment.FlowPix, Computes: wire.Computes,
		Options: slices.Concat([]payment.Option{{
			Name: "bank", Title: "Banco", Required: true, Choices: bankNames(),
			Help: "whose addresses and manners are known; other: tell the addresses below",
		}}, credentials("the API portal of your bank", false), bankOptions, autopayOptions),
		Open: func(options map[string]string, env payment.Env) (payment.Gateway, error) {
			o := &wire.Options{Given: options}
			chosen := bankNamed(o.Choice("bank", bankNames()))
			return open(opening{known, settings, chosen, o, env})
		},
	}
}

// EfiProvider is the gateway of Efí, under the name that it had before the other
// banks.
func EfiProvider(settings Settings) payment.Provider {
	known := &sessions{}
	return payment.Provider{
		Name: "efi", Title: "Efí", Flow: payment.FlowPix, Computes: wire.Computes,
		Options: slices.Concat(credentials("Efí > API > Aplicações; it needs the scopes "+usualScopes, true),
			autopayOptions),
		Open: func(options map[string]string, env payment.Env) (payment.Gateway, error) {
			return open(opening{known, settings, bankNamed("efi"), &wire.Options{Given: options}, env})
		},
	}
}

// credentials are the options that every bank has.
func credentials(where string, secret bool) []payment.Option {
	return []payment.Option{
		{Name: "client_id", Title: "Client ID", Secret: true, Required: true, Help: where},
		{
			Name: "client_secret", Title: "Client secret", Secret: true, Required: secret,
			Help: "beside the Client ID; Sicoob has none",
		},
		{
			Name: "certificate", Title: "Certificado (PEM ou .p12)", Secret: true, Required: true, Lines: true,
			Files: ".p12,.pfx,.pem,.crt,.cer",
			Help:  "the PEM text with its key, or the .p12 file in base64",
		},
		{
			Name: "certificate_password", Title: "Senha do certificado", Secret: true,
			Help: "of the .p12 file; often there is none",
		},
		{
			Name: "private_key", Title: "Chave privada (PEM)", Secret: true, Lines: true, Files: ".pem,.key",
			Help: "only when the certificate's text does not hold it",
		},
		{Name: "key", Title: "Chave PIX", Required: true, Help: "a PIX key of the account, which receives the money"},
		wire.LateCharges(", the application the scopes cobv.read cobv.write"),
		wire.Environment,
	}
}

// bankOptions are those that only some banks need.
var bankOptions = []payment.Option{
	{Name: "app_key", Title: "Chave do aplicativo", Secret: true, Help: "Banco do Brasil: gw-dev-app-key"},
	{Name: "account", Title: "Conta corrente", Help: "Inter: only when the application serves several accounts"},
	{Name: "scopes", Title: "Escopos", Help: "only when the bank wants others than " + usualScopes},
	{
		Name: "base_url", Title: "Endereço da API",
		Help: "of another bank, as its documents say, with the version; its server must be allowed by whoever runs this system",
	},
	{
		Name: "versions", Title: "Versões por recurso",
		Help: "only when the bank has resources in other versions, such as cob/=v3 (the single charge) or rec=v1",
	},
	{Name: "token_url", Title: "Endereço do token", Help: "likewise"},
	{
		Name: "grant", Title: "Credenciais no token", Choices: []string{"basic", "form"},
		Help: "of another bank: basic (the default) or form",
	},
	{
		Name: "server_ca", Title: "Autoridades do banco (PEM)", Lines: true,
		Help: "only when the bank's own certificate is of no public authority",
	},
}

// opening is what a gateway is opened with.
type opening struct {
	known    *sessions
	settings Settings
	bank     bank
	options  *wire.Options
	env      payment.Env
}

func open(opening opening) (payment.Gateway, error) {
	o, chosen := opening.options, opening.bank
	account := account{id: o.Need("client_id")}
	if !chosen.grant.noSecret {
		account.secret = o.Need("client_secret")
	}
	if opening.settings.Server != "" {
		chosen = chosen.at(opening.settings.Server)
	}
	identity := readIdentity(o)
	key := readKey(o)
	receiver := readReceiver(o, chosen)
	chosen, where := opening.place(chosen)
	if err := o.Err(); err != nil {
		return nil, err
	}
	account.bank, account.place, account.extras = chosen, where, readExtras(o, chosen)
	session := opening.known.get(fingerprint(o.Given), func() *session {
		return newSession(account, identity.client(opening.env.Client), opening.env.Now)
	})
	opened := &gateway{
		session: session,
		env:     opening.env,
		key:     key,
		// Where there is no other secret, the certificate's text holds its key.
		proof:  wire.Derive(wire.Pick(account.secret, o.Text("certificate")), opening.env.CallbackURL),
		debits: receiver != nil,
	}
	if receiver == nil {
		return opened, nil
	}
	return &debitor{opened, *receiver}, nil
}

// place is where the bank is reached: by its line in the table, or where the
// company says, if that is allowed.
func (p opening) place(chosen bank) (bank, place) {
	o := p.options
	where := chosen.production
	if o.Choice("environment", wire.Environments) == "sandbox" {
		where = chosen.sandbox
		if where.base == "" && chosen.name != otherBank {
			o.Refuse("environment", "this bank has no sandbox that we know the address of")
		}
	}
	allowed := slices.Concat(chosen.hosts(), p.settings.Hosts)
	where.base = readAddress(o, "base_url", where.base, allowed)
	where.token = readAddress(o, "token_url", where.token, allowed)
	if wire.Computes(o.Given) && chosen.scopes != "" {
		chosen.scopes += " cobv.read cobv.write"
	}
	if o.Given["autopay"] == "yes" && chosen.scopes != "" {
		chosen.scopes += " " + autopayScopes
	}
	if scopes := o.Text("scopes"); scopes != "" {
		chosen.scopes = scopes
	}
	chosen.versions = chosen.versions.with(readVersions(o))
	if chosen.name == otherBank {
		chosen.grant.inForm = o.Choice("grant", []string{"basic", "form"}) == "form"
	}
	return chosen, where
}

// readAddress is an address that the company gives, or else the table's. No
// other server than those allowed is called.
func readAddress(options *wire.Options, name, usual string, allowed []string) string {
	text := strings.TrimRight(options.Text(name), "/")
	if text == "" {
		if usual == "" && options.Text("bank") == otherBank {
			options.Refuse(name, "is required for another bank")
		}
		return usual
	}
	address, err := url.Parse(text)
	switch {
	case err != nil, address.Scheme != "https", address.User != nil, address.RawQuery != "", address.Fragment != "":
		options.Refuse(name, "must be an https:// address without parameters")
	case !slices.Contains(allowed, address.Host):
		options.Refuse(name, "this server is not allowed; whoever runs this system can add it (CARTEIRA_PIX_BANK_HOSTS)")
	}
	return text
}

func readKey(options *wire.Options) string {
	text := options.Text("key")
	if text == "" {
		options.Refuse("key", "is required")
		return ""
	}
	key, err := pix.ParseKey(text)
	if err != nil {
		options.Refuse("key", err.Error())
	}
	return key.Value
}

// readExtras are the values that go with every call.
func readExtras(options *wire.Options, chosen bank) []sentExtra {
	var list []sentExtra
	for _, extra := range chosen.extras {
		if value := options.Opt(extra.option); value != "" || extra.option == "" {
			list = append(list, sentExtra{extra, value})
		}
	}
	return list
}

// fingerprint distinguishes the options of companies.
func fingerprint(options map[string]string) [sha256.Size]byte {
	var parts []string
	for name, value := range options {
		parts = append(parts, name+"\x01"+value)
	}
	slices.Sort(parts)
	return sha256.Sum256([]byte(strings.Join(parts, "\x00")))
}
