package bacen

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"carteira/internal/payment/wire"
)

// bank is how one bank departs from the central bank's document. All that it does
// not say is the same for every bank, so a new bank is a line of data. The source
// of each line is in docs/payments.md.
type bank struct {
	name, title string
	production  place
	sandbox     place // empty: the bank has none that its documents name
	grant       grant
	scopes      string // asked for with a token; empty: those of the application
	extras      []extra
	// skipCheck is a header that has the bank register a webhook without trying
	// whether our server asks for the bank's certificate.
	skipCheck string
	// autopay: the bank's API has PIX Automático, by a document or an SDK of its own.
	// Of the others we do not know, and a company is not offered what may not be
	// there.
	autopay bool
	// versions are those of resources that the bank has in another version than the
	// rest, by the beginning of their paths.
	versions versions
	// codeAtLocation: where a charge comes without its code, the bank has a call
	// of its own for it.
	codeAtLocation bool
}

// place is where a bank is reached.
type place struct{ base, token string }

// grant is how a token is asked for.
type grant struct {
	inForm   bool // id and secret are fields of the form; else they are Basic
	inQuery  bool // grant_type is in the address
	json     bool // the body is JSON; else it is a form
	noSecret bool // the certificate is proof enough
}

// extra is an option that goes with every call, or an id that is new for each.
type extra struct {
	option string // empty: a new id
	header string // its name there
	query  string // its name there
}

// usualScopes are what our calls need.
const usualScopes = "cob.read cob.write pix.read webhook.read webhook.write"

// otherBank is the choice of a bank that is not in the table.
const otherBank = "other"

var banks = []bank{
	{
		name: "efi", title: "Efí",
		production: place{"https://pix.api.efipay.com.br/v2", "https://pix.api.efipay.com.br/oauth/token"},
		sandbox:    place{"https://pix-h.api.efipay.com.br/v2", "https://pix-h.api.efipay.com.br/oauth/token"},
		grant:      grant{json: true},
		skipCheck:  "X-Skip-Mtls-Checking", codeAtLocation: true,
		autopay: true,
	},
	{
		name: "bb", title: "Banco do Brasil",
		production: place{"https://api-pix.bb.com.br/pix/v2", "https://oauth.bb.com.br/oauth/token"},
		sandbox:    place{"https://api-pix.hm.bb.com.br/pix/v2", "https://oauth.hm.bb.com.br/oauth/token"},
		scopes:     usualScopes,
		extras:     []extra{{option: "app_key", query: "gw-dev-app-key"}},
		autopay:    true,
	},
	{
		name: "banrisul", title: "Banrisul",
		production: place{"https://mtls-api.banrisul.com.br/pix/api-mtls", "https://mtls-api.banrisul.com.br/auth/oauth/v2/token"},
		sandbox:    place{"https://mtls-api-h.banrisul.com.br/pix/api-mtls", "https://mtls-api-h.banrisul.com.br/auth/oauth/v2/token"},
		grant:      grant{inForm: true},
		scopes:     usualScopes,
	},
	{
		name: "bradesco", title: "Bradesco",
		production: place{"https://qrpix.bradesco.com.br/v2", "https://qrpix.bradesco.com.br/auth/server/oauth/token"},
		sandbox: place{
			"https://openapisandbox.prebanco.com.br/v2",
			"https://openapisandbox.prebanco.com.br/auth/server/oauth/token",
		},
	},
	{
		name: "c6", title: "C6 Bank",
		production: place{"https://baas-api.c6bank.info/v2/pix", "https://baas-api.c6bank.info/v1/auth"},
		sandbox:    place{"https://baas-api-sandbox.c6bank.info/v2/pix", "https://baas-api-sandbox.c6bank.info/v1/auth"},
		grant:      grant{inForm: true},
	},
	{
		name: "inter", title: "Inter",
		production: place{
			"https://cdpj.partners.bancointer.com.br/pix/v2",
			"https://cdpj.partners.bancointer.com.br/oauth/v2/token",
		},
		sandbox: place{
			"https://cdpj-sandbox.partners.uatinter.co/pix/v2",
			"https://cdpj-sandbox.partners.uatinter.co/oauth/v2/token",
		},
		grant:  grant{inForm: true},
		scopes: usualScopes,
		extras: []extra{{option: "account", header: "X-Conta-Corrente"}}, autopay: true,
	},
	{
		name: "itau", title: "Itaú",
		production: place{"https://secure.api.itau/pix_recebimentos/v2", "https://sts.itau.com.br/api/oauth/token"},
		grant:      grant{inForm: true},
		extras:     []extra{{option: "client_id", header: "X-Itau-Apikey"}, {header: "X-Itau-Correlationid"}},
	},
	{
		name: "pagbank", title: "PagBank",
		production: place{"https://secure.api.pagseguro.com/instant-payments", "https://secure.api.pagseguro.com/pix/oauth2"},
		sandbox: place{
			"https://secure.sandbox.api.pagseguro.com/instant-payments",
			"https://secure.sandbox.api.pagseguro.com/pix/oauth2",
		},
		grant:  grant{json: true},
		scopes: usualScopes + " payloadlocation.read payloadlocation.write",
	},
	{
		name: "santander", title: "Santander",
		production: place{"https://trust-pix.santander.com.br/api/v1", "https://trust-pix.santander.com.br/oauth/token"},
		sandbox:    place{"https://trust-pix-h.santander.com.br/api/v1", "https://trust-pix-h.santander.com.br/oauth/token"},
		grant:      grant{inForm: true, inQuery: true},
	},
	{
		name: "sicoob", title: "Sicoob",
		production: place{
			"https://api.sicoob.com.br/pix/api/v2",
			"https://auth.sicoob.com.br/auth/realms/cooperado/protocol/openid-connect/token",
		},
		grant:  grant{inForm: true, noSecret: true},
		scopes: usualScopes,
		extras: []extra{{option: "client_id", header: "Client_id"}}, autopay: true,
	},
	{
		name: "sicredi", title: "Sicredi",
		production: place{"https://api-pix.sicredi.com.br/api/v2", "https://api-pix.sicredi.com.br/oauth/token"},
		sandbox:    place{"https://api-pix-h.sicredi.com.br/api/v2", "https://api-pix-h.sicredi.com.br/oauth/token"},
		scopes:     usualScopes, autopay: true,
		versions: versions{
			"/rec": "v1", "/cobr": "v1", "/locrec": "v1", "/solicrec": "v1", "/webhookrec": "v1", "/webhookcobr": "v1",
		},
	},
	{name: otherBank, title: "Outro banco", scopes: usualScopes, autopay: true},
}

func bankNamed(name string) bank {
	i := slices.IndexFunc(banks, func(known bank) bool { return known.name == name })
	return banks[max(i, 0)]
}

func bankNames() []string {
	names := make([]string, len(banks))
	for i, known := range banks {
		names[i] = known.name
	}
	return names
}

// at is the bank at another server, with its own paths there.
func (b bank) at(server string) bank {
	b.production, b.sandbox = b.production.at(server), b.sandbox.at(server)
	return b
}

func (p place) at(server string) place {
	if p.base == "" {
		return p
	}
	return place{server + pathOf(p.base), server + pathOf(p.token)}
}

func pathOf(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return parsed.Path
}

// hosts are the servers that the bank's line names.
func (b bank) hosts() []string {
	var list []string
	for _, address := range []string{b.production.base, b.production.token, b.sandbox.base, b.sandbox.token} {
		if parsed, err := url.Parse(address); err == nil && parsed.Host != "" {
			list = append(list, parsed.Host)
		}
	}
	return list
}

// versions are versions of a bank's API by resource: "/cob" is the list and the single
// charge, "/cob/" the single charge alone.
type versions map[string]string

// readVersions reads what a company says of its bank, such as "cob/=v3 rec=v1".
func readVersions(options *wire.Options) versions {
	given := versions{}
	for part := range strings.FieldsSeq(strings.ReplaceAll(options.Text("versions"), ",", " ")) {
		match := versionOf.FindStringSubmatch(part)
		if match == nil {
			options.Refuse("versions", "must be resources with their versions, such as cob/=v3 rec=v1")
			continue
		}
		given["/"+match[1]] = match[2]
	}
	return given
}

var (
	versionOf   = regexp.MustCompile(`^/?([a-z]+/?)=(v[0-9]{1,2})$`)
	lastVersion = regexp.MustCompile(`/v[0-9]+$`)
)

// with are these versions, where others do not say otherwise.
func (v versions) with(others versions) versions {
	all := maps.Clone(others)
	for resource, version := range v {
		if _, said := all[resource]; !said {
			all[resource] = version
		}
	}
	return all
}

// of is the version of the resource that a path names; "" where it has none of its own.
func (v versions) of(path string) string {
	resource, rest, single := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if version, ok := v["/"+resource+"/"]; ok && single && rest != "" {
		return version
	}
	return v["/"+resource]
}

// base is what the address of a path begins with: that of the bank, in the version of
// the path's resource.
func (v versions) base(usual, path string) string {
	version := v.of(path)
	if version == "" || !lastVersion.MatchString(usual) {
		return usual
	}
	return lastVersion.ReplaceAllString(usual, "/"+version)
}
