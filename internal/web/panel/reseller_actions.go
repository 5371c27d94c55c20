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

func (s *Server) levelPage(req *request) error { return s.levels(req, page.NewForm(), nil) }

func (s *Server) levels(req *request, form *page.Form, refusal error) error {
	r, err := s.Resellers.Find(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	d := levelData{Reseller: resellerRowOf(req, r, s.DB.Now()), Form: form}
	levels, why := reseller.LevelsFor(req.Actor.Company.Level, r.Level)
	if why != nil && refusal == nil {
		form.Fail(why)
	}
	for _, l := range levels {
		d.Levels = append(d.Levels, levelChoice{Level: l, Label: levelWords[l], Help: levelHelp[l]})
	}
	return s.show(req, page.View{Name: "reseller_level", Title: "Change level", Status: statusOf(refusal), Data: d})
}

func (s *Server) setLevel(req *request) error {
	r, err := s.Resellers.SetLevel(req.Context(), req.Actor, req.id, reseller.ReadLevelRequest(req.form()))
	if refused(err) || fault.KindOf(err) == fault.KindForbidden {
		return s.levels(req, page.Sent(req.Request, err), err)
	}
	if err != nil {
		return err
	}
	return req.done(resellerPath(r.ID), "%s has the level %s now.", r.Name, req.lang.T(levelWords[r.Level]))
}

type renewalData struct {
	Form    *page.Form
	Quote   reseller.Quote
	Plans   []page.Option
	Priced  bool // the form could be reckoned with
	Current resellerRow
}

func (s *Server) renewalPage(req *request) error {
	return s.renewal(req, req.URL.Query().Get("plan_id"), req.URL.Query().Get("periods"), nil)
}

// renewal shows what a renewal costs and brings, with the button that does it.
func (s *Server) renewal(req *request, planID, periods string, refusal error) error {
	r, err := s.Resellers.Find(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	plans, err := s.planChoices(req)
	if err != nil {
		return err
	}
	d := renewalData{Plans: planOptions(req, plans, r.Plan.ID), Current: resellerRowOf(req, r, s.DB.Now())}
	if planID = cmp.Or(planID, idText(r.Plan.ID)); planID == "" && len(d.Plans) > 0 {
		planID = d.Plans[0].Value
	}
	fields := map[string]string{"plan_id": planID, "periods": cmp.Or(strings.TrimSpace(periods), "1")}
	d.Form = page.NewForm("plan_id", fields["plan_id"], "periods", fields["periods"])
	request := reseller.ReadRenewRequest(input.FromStrings(fields))
	d.Quote, err = s.Resellers.QuoteRenewal(req.Context(), req.Actor, req.id, request)
	if err != nil && !refused(err) {
		return err
	}
	d.Priced = err == nil
	d.Form.Fail(cmp.Or(refusal, err))
	// A choice that cannot be reckoned with is no failure: it is asked as one types.
	return s.show(req, page.View{Name: "reseller_renew", Title: "Renew subscription", Status: statusOf(refusal), Data: d})
}

func (s *Server) renewReseller(req *request) error {
	r, err := s.Resellers.Renew(req.Context(), req.Actor, req.id, reseller.ReadAgreedRenewal(req.form()))
	if refused(err) {
		return s.renewal(req, req.PostFormValue("plan_id"), req.PostFormValue("periods"), err)
	}
	if err != nil {
		return err
	}
	return req.done(resellerPath(r.ID), "%s was renewed until %s. Credits spent: %d. Credits left: %d.",
		r.Name, page.FormatDate(r.Subscription.ExpiresOn), r.CreditsSpent, r.CreditsBalance)
}

func (s *Server) askSuspendReseller(req *request) error {
	r, err := s.Resellers.Find(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	return s.ask(req, page.Confirm{
		Question: "Suspend %s?", Args: []any{r.Name}, Danger: true, Button: "Suspend reseller",
		Back: resellerPath(r.ID), Action: resellerPath(r.ID) + "/suspend",
		Effects: []string{
			"It can sign in and look, and change nothing. Its webhooks stop.", "Its days go on: the subscription ends when it would have.",
			"You can resume it at any time. A renewal resumes it too.",
		},
	})
}

func (s *Server) suspendReseller(req *request) error {
	r, err := s.Resellers.Suspend(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	return req.done(resellerPath(r.ID), "%s is suspended.", r.Name)
}

func (s *Server) resumeReseller(req *request) error {
	r, err := s.Resellers.Resume(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	return req.done(resellerPath(r.ID), "%s is no longer suspended.", r.Name)
}

func (s *Server) inviteReseller(req *request) error {
	link, err := s.Resellers.Invite(req.Context(), req.Actor, req.id)
	if err != nil {
		return req.complain(resellerPath(req.id), err)
	}
	return s.resellerPage(req, resellerData{Link: link})
}
