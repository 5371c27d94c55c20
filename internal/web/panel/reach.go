package panel

import (
	"net/http"
	"strings"

	"carteira/internal/web/page"
)

// addressData is where the links of the installation lead, and how to have them
// lead to it from everywhere.
type addressData struct {
	URL    string
	Here   string // what this browser came by, where it is an address that others could use
	Listen string // the port behind a proxy or a tunnel

	Alone, Tunnel, Proxy string // the settings of each way
}

// The settings of each way to a public address, with a domain to be replaced.
const (
	domainAlone  = "CARTEIRA_TLS_DOMAIN=clientes.suaempresa.com.br\nCARTEIRA_LISTEN=:443"
	behindTunnel = "CARTEIRA_PUBLIC_URL=https://clientes.suaempresa.com.br\nCARTEIRA_TRUSTED_PROXIES=127.0.0.1/32"
	behindProxy  = "CARTEIRA_PUBLIC_URL=https://clientes.suaempresa.com.br\nCARTEIRA_TRUSTED_PROXIES=10.0.0.0/8"
)

// publicAddress shows the address that links begin with. It is the operator's to
// set, because a certificate and a way through the network go with it: the page
// says what to write where.
func (s *Server) publicAddress(req *request) error {
	data := addressData{URL: s.PublicURL, Listen: "127.0.0.1:8080", Alone: domainAlone, Tunnel: behindTunnel, Proxy: behindProxy}
	if local, ok := req.Context().Value(http.LocalAddrContextKey).(interface{ String() string }); ok {
		data.Listen = "127.0.0.1" + local.String()[strings.LastIndexByte(local.String(), ':'):]
	}
	if !strings.HasPrefix(req.Host, "127.") && !strings.HasPrefix(req.Host, "localhost") {
		data.Here = req.Host
	}
	return s.show(req, page.View{Name: "public_address", Title: "Public address", Data: data})
}
