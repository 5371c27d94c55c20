package panel

import (
	"slices"
	"strings"

	"carteira/internal/account"
	"carteira/internal/dashboard"
	"carteira/internal/platform/config"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
)

// step is something that a new company does once.
type step struct {
	Name, Label, About, Icon, Link string
	Done                           bool
}

// firstSteps are what a company does in its first days and has not hidden, those
// that are done ticked; none when all are. A company that needs no more of them
// costs no statement: the visit of its owner that finds so writes it down.
func (s *Server) firstSteps(req *request, customers bool) ([]step, error) {
	if !allows(req.User.Role, staff) || s.openSteps(req, dashboard.Begun{}, false) == nil {
		return nil, nil
	}
	begun, err := s.Dashboard.Begun(req.Context(), req.Actor)
	if err != nil {
		return nil, err
	}
	steps := s.openSteps(req, begun, customers)
	if slices.ContainsFunc(steps, func(step step) bool { return !step.Done }) {
		return steps, nil
	}
	if !allows(req.User.Role, owner) {
		return nil, nil
	}
	return nil, s.hideSteps(req, steps)
}

// openSteps are the steps of who asks, but for the hidden ones; nil when none is left.
func (s *Server) openSteps(req *request, begun dashboard.Begun, customers bool) []step {
	company, own := req.Actor.Company, allows(req.User.Role, owner)
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
		{step{"late", "Late fee and interest", "for who pays after the due date.", "clock", "/settings#late", lateTerms(company)}, own},
		{step{"rules", "Turn reminders on", "the usual set is one click.", "message-circle", "/messages", begun.Rules}, req.sends()},
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

func lateTerms(company account.Company) bool {
	return company.Settings.LateFeePercent != 0 || company.Settings.LateInterestPercent != 0
}

// hideSteps leaves steps out of the home page from now on.
func (s *Server) hideSteps(req *request, steps []step) error {
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
func (s *Server) hideStep(req *request) error {
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
	return req.done("/", "It is not shown here any more.")
}
