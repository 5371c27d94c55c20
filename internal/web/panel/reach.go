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
}

// publicAddress shows the address that links begin with. It is the operator's to
// set, because a certificate and a way through the network go with it: the page
// says what to write where.
func (s *Server) publicAddress(req *request) error {
	data := addressData{URL: s.PublicURL, Listen: "127.0.0.1:8080"}
	if local, ok := req.Context().Value(http.LocalAddrContextKey).(interface{ String() string }); ok {
		data.Listen = "127.0.0.1" + local.String()[strings.LastIndexByte(local.String(), ':'):]
	}
	if !strings.HasPrefix(req.Host, "127.") && !strings.HasPrefix(req.Host, "localhost") {
		data.Here = req.Host
	}
	return s.show(req, page.View{Name: "public_address", Title: "Public address", Data: data})
}
