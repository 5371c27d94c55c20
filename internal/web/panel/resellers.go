package panel

import (
	"cmp"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/reseller"
	"carteira/internal/web/page"
)

// levelHelp is what each level means for a company that has it.
var levelHelp = map[account.Level]string{
	account.LevelUser:        "Has customers, and no resellers of its own.",
	account.LevelReseller:    "Makes resellers and subscription plans of its own; cannot change levels.",
	account.LevelMaster:      "Makes resellers, and raises them up to the level Reseller.",
	account.LevelUltraMaster: "Makes resellers, and raises them up to the level Master.",
}

// standingWords are the standings as people read them.
var standingWords = map[account.Standing]string{
	account.StandingTrial: "On trial", account.StandingActive: "Active",
	account.StandingExpired: "Expired", account.StandingSuspended: "Suspended",
}

type resellerRow struct {
	reseller.Reseller
	Now       account.Standing
	LevelText string
}

func resellerRowOf(req *request, seller reseller.Reseller, now time.Time) resellerRow {
	if req.failed != nil {
		return resellerRow{} // it was not found
	}
	return resellerRow{seller, seller.Standing(now), req.lang.T(levelWords[seller.Level])}
}

type resellersData struct {
	list
	List          []resellerRow
	Levels, Plans []page.Option
}

// resellerList is how resellers are listed.
func (s *Server) resellerList() source[reseller.Filter, reseller.Reseller] {
	return source[reseller.Filter, reseller.Reseller]{
		account.ResellerList, reseller.ReadFilter, sortsBy(input.ByName, input.ByExpiry), s.Resellers.List,
	}
}

func resellerChips(req *request) []chipLine {
	statuses := wordOptions(req, account.Standings, standingWords, req.option("", "All"))
	return []chipLine{choiceChips(req, "Status", "status", statuses), dateChips(req, "expires_from", "expires_to", true)}
}

func (s *Server) resellers(req *request) error {
	data := resellersData{
		list: newList(req, "/resellers/export", resellerChips(req), "level", "plan_id", "expires_from", "expires_to"),
	}
	from := s.resellerList()
	data.Heads = headsOf(req, from.sort(req.URL.Query()), input.ByName, "Name", input.ByExpiry, "Ends on")
	list, _ := fill(req, &data.list, from)
	now := s.DB.Now()
	for _, seller := range list {
		data.List = append(data.List, resellerRowOf(req, seller, now))
	}
	data.Total = counted(req.lang, data.Pager.Total, "1 reseller", "%s resellers")
	data.Levels = wordOptions(req, account.Levels, levelWords, req.option("", "All"))
	data.Plans = namedOptions(s.planChoices(req), resoldPlanName, req.option("", "All"))
	return req.show("resellers", "Resellers", data)
}

// planChoices are the subscription plans that a select offers, newest first.
func (s *Server) planChoices(req *request) []reseller.Plan {
	list, _, err := s.Resellers.Plans(req.Context(), req.Actor, reseller.PlanFilter{}, input.Page{Number: 1, Size: maxChoices})
	req.note(err)
	return list
}

// planOptions are those of them that can be chosen, with what they cost. The
// plan keep is offered whether it is sold or not.
func planOptions(req *request, plans []reseller.Plan, keep int64) (options []page.Option) {
	for _, plan := range plans {
		if plan.Active || plan.ID == keep {
			label := plan.Name + " · " + counted(req.lang, plan.Credits, "1 credit", "%s credits") + " " + req.lang.Period(plan.Period)
			options = append(options, page.Option{Value: idText(plan.ID), Label: label})
		}
	}
	return options
}

type resellerForm struct {
	recordForm
	Plans   []page.Option
	Balance int64
}

// resellerForm is the form of a reseller, or of a new one, which costs credits.
func (s *Server) resellerForm(req *request, form *page.Form, refusal error) error {
	var seller reseller.Reseller
	data := resellerForm{recordForm: req.recordForm("/resellers", form)}
	if data.New {
		data.Plans, data.Balance = planOptions(req, s.planChoices(req), 0), read(req, s.Resellers.Balance)
	} else {
		seller = readOf(req, s.Resellers.Find, req.id)
	}
	if form == nil {
		data.Form = page.NewForm("name", seller.Name, "email", seller.Email, "whatsapp", page.FormatPhone(seller.Whatsapp),
			"type", string(account.Trial), "periods", "1")
	}
	return req.showForm("reseller_form", data.title("New reseller", "Edit reseller"), refusal, data)
}

func (s *Server) createReseller(req *request) error {
	made, err := s.Resellers.Create(req.Context(), req.Actor, reseller.ReadNewReseller(req.form()))
	if err != nil || made.InvitationLink == "" {
		return req.sent(err, s.resellerForm, resellerPath(made.ID), "%s was created. Credits spent: %d. Credits left: %d.",
			made.Name, made.CreditsSpent, made.CreditsBalance)
	}
	req.id = made.ID
	return s.resellerPage(req, resellerData{
		Link: made.InvitationLink, Made: true, Spent: made.CreditsSpent, Left: made.CreditsBalance,
	})
}

func resellerPath(id int64) string { return "/resellers/" + idText(id) }

type resellerData struct {
	Reseller  resellerRow
	Place     place
	Functions []string
	Waiting   bool   // its owner has no password yet
	Link      string // an invitation, this once
	WhatsApp  string // opens a chat with it typed in
	Made      bool   // the reseller is new
	Spent     int64  // credits, on it
	Left      int64
	LevelHelp string
	Levels    bool // its level can be changed
	History   []deedRow
	Below     reseller.Below // the companies below it
}

func (s *Server) reseller(req *request) error { return s.resellerPage(req, resellerData{}) }

func (s *Server) resellerPage(req *request, data resellerData) error {
	seller := readOf(req, s.Resellers.Find, req.id)
	where := placeIn(req, "/resellers", s.resellerList().nth(req, func(seller reseller.Reseller) int64 { return seller.ID }))
	data.Place = placeFrom(req, where)
	if data.Link != "" {
		data.WhatsApp = chatWith(seller.Whatsapp, inviting(seller.Name, data.Link))
	}
	data.Reseller, data.LevelHelp = resellerRowOf(req, seller, s.DB.Now()), levelHelp[seller.Level]
	for _, name := range seller.Subscription.Functions.Names() {
		data.Functions = append(data.Functions, req.lang.T(functionWords[name]))
	}
	_, refusal := reseller.LevelsFor(req.Actor.Company.Level, seller.Level)
	data.Levels = refusal == nil
	data.Waiting, data.Below = readOf(req, s.Resellers.Waiting, req.id), readOf(req, s.Resellers.Below, req.id)
	data.History = deedRows(req, s.auditLines(req, account.AuditFilter{Record: "reseller", ID: req.id}, 10))
	return req.show("reseller", seller.Name, data)
}

func (s *Server) updateReseller(req *request) error {
	seller, err := s.Resellers.Update(req.Context(), req.Actor, req.id, reseller.ReadChanges(req.form()))
	return req.sent(err, s.resellerForm, resellerPath(req.id), "%s was saved.", seller.Name)
}

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
	seller := readOf(req, s.Resellers.Find, req.id)
	data := levelData{Reseller: resellerRowOf(req, seller, s.DB.Now()), Form: cmp.Or(form, page.NewForm())}
	levels, why := reseller.LevelsFor(req.Actor.Company.Level, seller.Level)
	if why != nil && refusal == nil {
		data.Form.Fail(why)
	}
	for _, level := range levels {
		data.Levels = append(data.Levels, levelChoice{Level: level, Label: levelWords[level], Help: levelHelp[level]})
	}
	return req.showForm("reseller_level", "Change level", refusal, data)
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
	seller, plans := readOf(req, s.Resellers.Find, req.id), s.planChoices(req)
	data := renewalData{Plans: planOptions(req, plans, seller.Plan.ID), Current: resellerRowOf(req, seller, s.DB.Now())}
	planID := cmp.Or(req.FormValue("plan_id"), idText(seller.Plan.ID))
	if planID == "" && len(data.Plans) > 0 {
		planID = data.Plans[0].Value
	}
	fields := map[string]string{"plan_id": planID, "periods": cmp.Or(strings.TrimSpace(req.FormValue("periods")), "1")}
	data.Form = page.NewForm("plan_id", fields["plan_id"], "periods", fields["periods"])
	request := reseller.ReadRenewRequest(input.FromStrings(fields))
	quote, err := s.Resellers.QuoteRenewal(req.Context(), req.Actor, req.id, request)
	if err != nil && !refused(err) {
		return err
	}
	data.Quote, data.Priced = quote, err == nil
	data.Form.Fail(cmp.Or(refusal, err))
	// A choice that cannot be reckoned with is no failure: it is asked as one types.
	return req.showForm("reseller_renew", "Renew subscription", refusal, data)
}

func (s *Server) renewReseller(req *request) error {
	paid, err := s.Resellers.Renew(req.Context(), req.Actor, req.id, reseller.ReadAgreedRenewal(req.form()))
	return req.sent(err, s.renewal, resellerPath(req.id), "%s was renewed until %s. Credits spent: %d. Credits left: %d.",
		paid.Name, page.FormatDate(paid.Subscription.ExpiresOn), paid.CreditsSpent, paid.CreditsBalance)
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
