package panel

import (
	"cmp"
	"strings"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/reseller"
	"carteira/internal/web/page"
)

type levelData struct {
	Reseller resellerRow
	Form     *page.Form
	Levels   []levelChoice
}

type levelChoice struct {
	Level       account.Level
	Label, Help string
}

func (s *Server) levelForm(req *request, form *page.Form, refusal error) error {
	seller, err := s.Resellers.Find(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	data := levelData{Reseller: resellerRowOf(req, seller, s.DB.Now()), Form: cmp.Or(form, page.NewForm())}
	levels, why := reseller.LevelsFor(req.Actor.Company.Level, seller.Level)
	if why != nil && refusal == nil {
		data.Form.Fail(why)
	}
	for _, level := range levels {
		data.Levels = append(data.Levels, levelChoice{Level: level, Label: levelWords[level], Help: levelHelp[level]})
	}
	return s.showForm(req, "reseller_level", "Change level", refusal, data)
}

func (s *Server) setLevel(req *request) error {
	seller, err := s.Resellers.SetLevel(req.Context(), req.Actor, req.id, reseller.ReadLevelRequest(req.form()))
	if err != nil && fault.KindOf(err) == fault.KindForbidden {
		return s.levelForm(req, page.Sent(req.Request, err), err)
	}
	return req.sent(err, s.levelForm, resellerPath(req.id), "%s has the level %s now.", seller.Name, req.lang.T(levelWords[seller.Level]))
}

type renewalData struct {
	Form    *page.Form
	Quote   reseller.Quote
	Plans   []page.Option
	Priced  bool // the form could be reckoned with
	Current resellerRow
}

// renewal shows what a renewal costs and brings, with the button that does it.
func (s *Server) renewal(req *request, _ *page.Form, refusal error) error {
	var seller reseller.Reseller
	var plans []reseller.Plan
	err := req.gather(keptOf(&seller, s.Resellers.Find, req.id), part(&plans, s.planChoices))
	if err != nil {
		return err
	}
	data := renewalData{Plans: planOptions(req, plans, seller.Plan.ID), Current: resellerRowOf(req, seller, s.DB.Now())}
	planID := cmp.Or(req.FormValue("plan_id"), idText(seller.Plan.ID))
	if planID == "" && len(data.Plans) > 0 {
		planID = data.Plans[0].Value
	}
	fields := map[string]string{"plan_id": planID, "periods": cmp.Or(strings.TrimSpace(req.FormValue("periods")), "1")}
	data.Form = page.NewForm("plan_id", fields["plan_id"], "periods", fields["periods"])
	request := reseller.ReadRenewRequest(input.FromStrings(fields))
	data.Quote, err = s.Resellers.QuoteRenewal(req.Context(), req.Actor, req.id, request)
	if err != nil && !refused(err) {
		return err
	}
	data.Priced = err == nil
	data.Form.Fail(cmp.Or(refusal, err))
	// A choice that cannot be reckoned with is no failure: it is asked as one types.
	return s.showForm(req, "reseller_renew", "Renew subscription", refusal, data)
}

func (s *Server) renewReseller(req *request) error {
	paid, err := s.Resellers.Renew(req.Context(), req.Actor, req.id, reseller.ReadAgreedRenewal(req.form()))
	return req.sent(err, s.renewal, resellerPath(req.id), "%s was renewed until %s. Credits spent: %d. Credits left: %d.",
		paid.Name, page.FormatDate(paid.Subscription.ExpiresOn), paid.CreditsSpent, paid.CreditsBalance)
}

func askSuspendReseller(seller reseller.Reseller) page.Confirm {
	return page.Confirm{
		Question: "Suspend %s?", Args: []any{seller.Name}, Danger: true, Button: "Suspend reseller", Back: resellerPath(seller.ID),
		Effects: []string{
			"It can sign in and look, and change nothing. Its webhooks stop.",
			"Its days go on: the subscription ends when it would have.",
			"You can resume it at any time. A renewal resumes it too.",
		},
	}
}

func (s *Server) suspendReseller(req *request) error {
	seller, err := s.Resellers.Suspend(req.Context(), req.Actor, req.id)
	return req.did(err, resellerPath(req.id), "%s is suspended.", seller.Name)
}

func (s *Server) resumeReseller(req *request) error {
	seller, err := s.Resellers.Resume(req.Context(), req.Actor, req.id)
	return req.did(err, resellerPath(req.id), "%s is no longer suspended.", seller.Name)
}

func (s *Server) inviteReseller(req *request) error {
	link, err := s.Resellers.Invite(req.Context(), req.Actor, req.id)
	if err != nil {
		return req.complain(resellerPath(req.id), err)
	}
	return s.resellerPage(req, resellerData{Link: link})
}
