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
	"carteira/internal/web/panel/kit"
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

func resellerRowOf(req *kit.Request, seller reseller.Reseller, now time.Time) resellerRow {
	if req.Failed != nil {
		return resellerRow{} // it was not found
	}
	return resellerRow{seller, seller.Standing(now), req.Lang.T(kit.LevelWords[seller.Level])}
}

type resellersData struct {
	kit.Listing
	List          []resellerRow
	Levels, Plans []page.Option
}

// resellerList is how resellers are listed.
func (s *Server) resellerList() kit.Source[reseller.Filter, reseller.Reseller] {
	return kit.ListOf(account.ResellerList, reseller.ReadFilter, kit.SortsBy(input.ByName, input.ByExpiry), s.Resellers.List)
}

func resellerChips(req *kit.Request) []kit.ChipLine {
	statuses := kit.WordOptions(req, account.Standings, standingWords, req.Option("", "All"))
	return []kit.ChipLine{kit.ChoiceChips(req, "Status", "status", statuses), kit.DateChips(req, "expires_from", "expires_to", true)}
}

func (s *Server) resellers(req *kit.Request) error {
	data := resellersData{
		Listing: kit.NewList(req, "/resellers/export", resellerChips(req), "level", "plan_id", "expires_from", "expires_to"),
	}
	from := s.resellerList()
	data.Heads = from.Heads(req, input.ByName, "Name", input.ByExpiry, "Ends on")
	list, _ := kit.Fill(req, &data.Listing, from)
	now := s.DB.Now()
	for _, seller := range list {
		data.List = append(data.List, resellerRowOf(req, seller, now))
	}
	data.Total = kit.Counted(req.Lang, data.Pager.Total, "1 reseller", "%s resellers")
	data.Levels = kit.WordOptions(req, account.Levels, kit.LevelWords, req.Option("", "All"))
	data.Plans = kit.NamedOptions(s.planChoices(req), resoldPlanName, req.Option("", "All"))
	return req.Show("resellers", "Resellers", data)
}

// planChoices are the subscription plans that a select offers, newest first.
func (s *Server) planChoices(req *kit.Request) []reseller.Plan {
	list, _ := kit.ReadPage(req, s.Resellers.Plans, reseller.PlanFilter{}, input.Page{Number: 1, Size: kit.MaxChoices})
	return list
}

// planOptions are those of them that can be chosen, with what they cost. The
// plan keep is offered whether it is sold or not.
func planOptions(req *kit.Request, plans []reseller.Plan, keep int64) (options []page.Option) {
	for _, plan := range plans {
		if plan.Active || plan.ID == keep {
			label := plan.Name + " · " + kit.Counted(req.Lang, plan.Credits, "1 credit", "%s credits") + " " + req.Lang.Period(plan.Period)
			options = append(options, page.Option{Value: kit.IDText(plan.ID), Label: label})
		}
	}
	return options
}

type resellerForm struct {
	kit.RecordForm
	Plans   []page.Option
	Balance int64
}

// resellerForm is the form of a reseller, or of a new one, which costs credits.
func (s *Server) resellerForm(req *kit.Request, form *page.Form, refusal error) error {
	var seller reseller.Reseller
	data := resellerForm{RecordForm: req.RecordForm("/resellers", form)}
	if data.New {
		data.Plans, data.Balance = planOptions(req, s.planChoices(req), 0), kit.Read(req, s.Resellers.Balance)
	} else {
		seller = kit.ReadOf(req, s.Resellers.Find, req.ID)
	}
	if form == nil {
		data.Form = page.NewForm("name", seller.Name, "email", seller.Email, "whatsapp", page.FormatPhone(seller.Whatsapp),
			"type", string(account.Trial), "periods", "1")
	}
	return req.ShowForm("reseller_form", data.Title("New reseller", "Edit reseller"), refusal, data)
}

func (s *Server) createReseller(req *kit.Request) error {
	made, err := s.Resellers.Create(req.Context(), req.Actor, reseller.ReadNewReseller(req.Input()))
	if err != nil || made.InvitationLink == "" {
		return req.Sent(err, s.resellerForm, resellerPath(made.ID), "%s was created. Credits spent: %d. Credits left: %d.",
			made.Name, made.CreditsSpent, made.CreditsBalance)
	}
	req.ID = made.ID
	return s.resellerPage(req, resellerData{
		Link: made.InvitationLink, Made: true, Spent: made.CreditsSpent, Left: made.CreditsBalance,
	})
}

func resellerPath(id int64) string { return "/resellers/" + kit.IDText(id) }

type resellerData struct {
	Reseller  resellerRow
	Place     kit.Place
	Functions []string
	Waiting   bool   // its owner has no password yet
	Link      string // an invitation, this once
	WhatsApp  string // opens a chat with it typed in
	Made      bool   // the reseller is new
	Spent     int64  // credits, on it
	Left      int64
	LevelHelp string
	Levels    bool // its level can be changed
	History   []kit.DeedRow
	Below     reseller.Below // the companies below it
}

func (s *Server) reseller(req *kit.Request) error { return s.resellerPage(req, resellerData{}) }

func (s *Server) resellerPage(req *kit.Request, data resellerData) error {
	seller := kit.ReadOf(req, s.Resellers.Find, req.ID)
	where := kit.PlaceIn(req, "/resellers", s.resellerList().Nth(req, func(seller reseller.Reseller) int64 { return seller.ID }))
	data.Place = kit.PlaceFrom(req, where)
	if data.Link != "" {
		data.WhatsApp = kit.ChatWith(seller.Whatsapp, kit.Inviting(seller.Name, data.Link))
	}
	data.Reseller, data.LevelHelp = resellerRowOf(req, seller, s.DB.Now()), levelHelp[seller.Level]
	for _, name := range seller.Subscription.Functions.Names() {
		data.Functions = append(data.Functions, req.Lang.T(functionWords[name]))
	}
	_, refusal := reseller.LevelsFor(req.Actor.Company.Level, seller.Level)
	data.Levels = refusal == nil
	data.Waiting, data.Below = kit.ReadOf(req, s.Resellers.Waiting, req.ID), kit.ReadOf(req, s.Resellers.Below, req.ID)
	data.History = kit.DeedRows(req, s.AuditLines(req, account.AuditFilter{Record: "reseller", ID: req.ID}, 10))
	return req.Show("reseller", seller.Name, data)
}

func (s *Server) updateReseller(req *kit.Request) error {
	seller, err := s.Resellers.Update(req.Context(), req.Actor, req.ID, reseller.ReadChanges(req.Input()))
	return req.Sent(err, s.resellerForm, resellerPath(req.ID), "%s was saved.", seller.Name)
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

func (s *Server) levelForm(req *kit.Request, form *page.Form, refusal error) error {
	seller := kit.ReadOf(req, s.Resellers.Find, req.ID)
	data := levelData{Reseller: resellerRowOf(req, seller, s.DB.Now()), Form: cmp.Or(form, page.NewForm())}
	levels, why := reseller.LevelsFor(req.Actor.Company.Level, seller.Level)
	if why != nil && refusal == nil {
		data.Form.Fail(why)
	}
	for _, level := range levels {
		data.Levels = append(data.Levels, levelChoice{Level: level, Label: kit.LevelWords[level], Help: levelHelp[level]})
	}
	return req.ShowForm("reseller_level", "Change level", refusal, data)
}

func (s *Server) setLevel(req *kit.Request) error {
	seller, err := s.Resellers.SetLevel(req.Context(), req.Actor, req.ID, reseller.ReadLevelRequest(req.Input()))
	if err != nil && fault.KindOf(err) == fault.KindForbidden {
		return s.levelForm(req, page.Sent(req.Request, err), err)
	}
	return req.Sent(err, s.levelForm, resellerPath(req.ID), "%s has the level %s now.", seller.Name, req.Lang.T(kit.LevelWords[seller.Level]))
}

type renewalData struct {
	Form    *page.Form
	Quote   reseller.Quote
	Plans   []page.Option
	Priced  bool // the form could be reckoned with
	Current resellerRow
}

// renewal shows what a renewal costs and brings, with the button that does it.
func (s *Server) renewal(req *kit.Request, _ *page.Form, refusal error) error {
	seller, plans := kit.ReadOf(req, s.Resellers.Find, req.ID), s.planChoices(req)
	data := renewalData{Plans: planOptions(req, plans, seller.Plan.ID), Current: resellerRowOf(req, seller, s.DB.Now())}
	planID := cmp.Or(req.FormValue("plan_id"), kit.IDText(seller.Plan.ID))
	if planID == "" && len(data.Plans) > 0 {
		planID = data.Plans[0].Value
	}
	fields := map[string]string{"plan_id": planID, "periods": cmp.Or(strings.TrimSpace(req.FormValue("periods")), "1")}
	data.Form = page.NewForm("plan_id", fields["plan_id"], "periods", fields["periods"])
	request := reseller.ReadRenewRequest(input.FromStrings(fields))
	quote, err := s.Resellers.QuoteRenewal(req.Context(), req.Actor, req.ID, request)
	if err != nil && !kit.Refused(err) {
		return err
	}
	data.Quote, data.Priced = quote, err == nil
	data.Form.Fail(cmp.Or(refusal, err))
	// A choice that cannot be reckoned with is no failure: it is asked as one types.
	return req.ShowForm("reseller_renew", "Renew subscription", refusal, data)
}

func (s *Server) renewReseller(req *kit.Request) error {
	paid, err := s.Resellers.Renew(req.Context(), req.Actor, req.ID, reseller.ReadAgreedRenewal(req.Input()))
	return req.Sent(err, s.renewal, resellerPath(req.ID), "%s was renewed until %s. Credits spent: %d. Credits left: %d.",
		paid.Name, page.FormatDate(paid.Subscription.ExpiresOn), paid.CreditsSpent, paid.CreditsBalance)
}

func (s *Server) resumeReseller(req *kit.Request) error {
	seller, err := s.Resellers.Resume(req.Context(), req.Actor, req.ID)
	return req.Did(err, resellerPath(req.ID), "%s is no longer suspended.", seller.Name)
}

func (s *Server) inviteReseller(req *kit.Request) error {
	link, err := s.Resellers.Invite(req.Context(), req.Actor, req.ID)
	if err != nil {
		return req.Complain(resellerPath(req.ID), err)
	}
	return s.resellerPage(req, resellerData{Link: link})
}
