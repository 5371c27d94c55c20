package panel

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"carteira/internal/account"
	"carteira/internal/dashboard"
	"carteira/internal/platform/config"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/web/panel/kit"
)

// step is something that a new company does once.
type step struct {
	Name, Label, About, Icon, Link string
	Done                           bool
}

// firstSteps are what a company does in its first days and has not hidden, those
// that are done ticked; none when all are. A company that needs no more of them
// costs no statement: the visit of its owner that finds so writes it down.
func (s *Server) firstSteps(req *kit.Request, customers bool) []step {
	if !kit.Allows(req.User.Role, staff) || s.openSteps(req, dashboard.Begun{}, false) == nil {
		return nil
	}
	steps := s.openSteps(req, kit.Read(req, s.Dashboard.Begun), customers)
	if req.Failed != nil || slices.ContainsFunc(steps, func(step step) bool { return !step.Done }) {
		return steps
	}
	if kit.Allows(req.User.Role, owner) {
		req.Note(s.hideSteps(req, steps))
	}
	return nil
}

// openSteps are the steps of who asks, but for the hidden ones; nil when none is left.
func (s *Server) openSteps(req *kit.Request, begun dashboard.Begun, customers bool) []step {
	company, own := req.Actor.Company, kit.Allows(req.User.Role, owner)
	late := company.Settings.LateFeePercent != 0 || company.Settings.LateInterestPercent != 0
	all := []struct {
		step
		open bool // who asks may take it
	}{
		{
			step{"address", "Public address", "so that the links that you send open.", "link", "/settings/address", s.Reach == config.Reachable},
			own,
		},
		{step{"plan", "Make a plan", "what customers pay, and for how long.", "layers", "/plans/new", begun.Plan}, true},
		{step{"customer", "Create a customer", "one by one, or import them from a file.", "users", "/customers/new", customers}, true},
		{
			step{"gateway", "Receive by PIX", "your own key is enough to begin.", "wallet", "/payments/gateway", begun.Gateway},
			own && req.Actor.May(payments),
		},
		{
			step{
				"whatsapp", "WhatsApp of the company", "your customers see it where they pay.", "phone",
				"/settings#f-whatsapp", company.Whatsapp != "",
			},
			own,
		},
		{
			step{"logo", "Logo", "where your customers pay, and on their own page.", "image", "/settings#brand", company.Brand.Logo != ""},
			own,
		},
		{
			step{"cpf_cnpj", "CNPJ or CPF of the company", "it is on your receipts.", "building-2", "/settings#f-cpf_cnpj", company.CpfCnpj != ""},
			own,
		},
		{step{"late", "Late fee and interest", "for who pays after the due date.", "clock", "/settings#late", late}, own},
		{step{"rules", "Turn reminders on", "the usual set is one click.", "message-circle", "/messages", begun.Rules}, req.Sends()},
		{step{"team", "Invite your team", "each with a password of their own.", "user-plus", "/settings/users/new", begun.Team}, own},
	}
	var open []step
	hidden := strings.Split(company.HiddenSteps, ",")
	for _, one := range all {
		if one.open && !slices.Contains(hidden, one.Name) {
			open = append(open, one.step)
		}
	}
	return open
}

// hideSteps leaves steps out of the home page from now on.
func (s *Server) hideSteps(req *kit.Request, steps []step) error {
	hidden := strings.FieldsFunc(req.Actor.Company.HiddenSteps, func(r rune) bool { return r == ',' })
	for _, step := range steps {
		if !slices.Contains(hidden, step.Name) {
			hidden = append(hidden, step.Name)
		}
	}
	_, err := s.Accounts.SetCompany(req.Context(), req.Actor, account.CompanyDraft{HiddenSteps: input.Some(strings.Join(hidden, ","))})
	return err
}

// hideStep hides one first step, or with the name all those that are left.
func (s *Server) hideStep(req *kit.Request) error {
	name, steps := req.PostFormValue("step"), s.openSteps(req, dashboard.Begun{}, false)
	if name != "all" {
		steps = slices.DeleteFunc(steps, func(step step) bool { return step.Name != name })
		if len(steps) == 0 {
			return fault.NotFound("step")
		}
	}
	if err := s.hideSteps(req, steps); err != nil {
		return err
	}
	return req.Done("/", "It is not shown here any more.")
}

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
	domainAlone  = "CARTEIRA_TLS_DOMAIN=clientes.suaempresa.com.br"
	behindTunnel = "CARTEIRA_PUBLIC_URL=https://clientes.suaempresa.com.br\nCARTEIRA_TRUSTED_PROXIES=127.0.0.1/32"
	behindProxy  = "CARTEIRA_PUBLIC_URL=https://clientes.suaempresa.com.br\nCARTEIRA_TRUSTED_PROXIES=10.0.0.0/8"
)

// publicAddress shows the address that links begin with. It is the operator's to
// set, because a certificate and a way through the network go with it: the page
// says what to write where.
func (s *Server) publicAddress(req *kit.Request) error {
	data := addressData{URL: s.PublicURL, Listen: "127.0.0.1:8080", Alone: domainAlone, Tunnel: behindTunnel, Proxy: behindProxy}
	if local, ok := req.Context().Value(http.LocalAddrContextKey).(interface{ String() string }); ok {
		data.Listen = "127.0.0.1" + local.String()[strings.LastIndexByte(local.String(), ':'):]
	}
	if !strings.HasPrefix(req.Host, "127.") && !strings.HasPrefix(req.Host, "localhost") {
		data.Here = req.Host
	}
	return req.Show("public_address", "Public address", data)
}

// mend leads to the field that a gateway's refusal asks for.
type mend struct{ Label, URL string }

// wantedFields are the words by which the reasons of gateways name what they want of
// a customer, with the field of the customer's form.
var wantedFields = []struct{ words, label, field string }{
	{"the customer's e-mail address", "Enter the customer's e-mail", "email"},
	{"the customer's CPF or CNPJ", "Enter the customer's CPF or CNPJ", "cpf_cnpj"},
}

// namedOption is how such a reason names an option of the gateway.
var namedOption = regexp.MustCompile(`the option (\w+)`)

// mends are where the user can mend what a gateway refused, by its reason in
// English. Only owners set gateways up.
func mends(req *kit.Request, refusal refusedCharge) []mend {
	var found []mend
	for _, wanted := range wantedFields {
		if strings.Contains(refusal.problem, wanted.words) && kit.Allows(req.User.Role, desk) {
			found = append(found, mend{req.Lang.T(wanted.label), customerPath(refusal.customerID) + "/edit#f-" + wanted.field})
		}
	}
	option := namedOption.FindStringSubmatch(refusal.problem)
	if option != nil && kit.Allows(req.User.Role, owner) {
		found = append(found, mend{req.Lang.T("Enter it at the gateway"), "/payments/gateways/" + refusal.provider + "#f-" + option[1]})
	}
	return found
}

// refusedCharge is a charge that a gateway refused to make.
type refusedCharge struct {
	problem    string // in English, as the record has it
	provider   string
	customerID int64
}
