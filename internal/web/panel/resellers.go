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

// levelWords are the levels as people read them.
var levelWords = map[account.Level]string{
	account.LevelUser: "User", account.LevelReseller: "Reseller", account.LevelMaster: "Master", account.LevelUltraMaster: "Ultra master",
}

// levelHelp is what each level means for a company that has it.
var levelHelp = map[account.Level]string{
	account.LevelUser:        "Has customers, and no resellers of its own.",
	account.LevelReseller:    "Makes resellers and subscription plans of its own; cannot change levels.",
	account.LevelMaster:      "Makes resellers, and raises them up to the level Reseller.",
	account.LevelUltraMaster: "Makes resellers, and raises them up to the level Master.",
}

// standingWords are the standings as people read them.
var standingWords = map[account.Standing]string{
	account.StandingTrial: "On trial", account.StandingActive: "Active", account.StandingExpired: "Expired", account.StandingSuspended: "Suspended",
}

type resellerRow struct {
	reseller.Reseller
	Now       account.Standing
	LevelText string
}

func resellerRowOf(q *request, r reseller.Reseller, now time.Time) resellerRow {
	return resellerRow{r, r.Standing(now), q.lang.T(levelWords[r.Level])}
}

type resellersData struct {
	Form     *page.Form // the filters
	List     []resellerRow
	Pager    page.Pager
	Levels   []page.Option
	Statuses []page.Option
	Plans    []page.Option
	Filtered bool
}

func (s *Server) resellers(q *request) error {
	in := q.query()
	p, f := in.Page(), reseller.ReadFilter(in)
	d := resellersData{Form: queryForm(q)}
	if err := in.Err(); err != nil {
		d.Form.Fail(err)
		f = reseller.Filter{}
	}
	list, total, err := s.Resellers.List(q.Context(), q.Actor, f, p)
	if err != nil {
		return err
	}
	now := s.DB.Now()
	for _, r := range list {
		d.List = append(d.List, resellerRowOf(q, r, now))
	}
	d.Pager, d.Filtered = page.NewPager(q.URL, p, total), f != (reseller.Filter{})
	all := page.Option{Value: "", Label: q.lang.T("All")}
	d.Levels, d.Statuses, d.Plans = []page.Option{all}, []page.Option{all}, []page.Option{all}
	for _, l := range account.Levels {
		d.Levels = append(d.Levels, page.Option{Value: string(l), Label: q.lang.T(levelWords[l])})
	}
	for _, st := range account.Standings {
		d.Statuses = append(d.Statuses, page.Option{Value: string(st), Label: q.lang.T(standingWords[st])})
	}
	plans, err := s.planChoices(q)
	if err != nil {
		return err
	}
	for _, plan := range plans {
		d.Plans = append(d.Plans, page.Option{Value: idText(plan.ID), Label: plan.Name})
	}
	return s.show(q, page.View{Name: "resellers", Title: "Resellers", Data: d})
}

// planChoices are the subscription plans that a select offers, newest first.
func (s *Server) planChoices(q *request) ([]reseller.Plan, error) {
	list, _, err := s.Resellers.Plans(q.Context(), q.Actor, reseller.PlanFilter{}, input.Page{Number: 1, Size: maxChoices})
	return list, err
}

// planOptions are those of them that can be chosen, with what they cost. The
// plan keep is offered whether it is sold or not.
func planOptions(q *request, plans []reseller.Plan, keep int64) (options []page.Option) {
	for _, p := range plans {
		if p.Active || p.ID == keep {
			label := p.Name + " · " + creditsText(q.lang, p.Credits) + " " + periodText(q.lang, p.Period)
			options = append(options, page.Option{Value: idText(p.ID), Label: label})
		}
	}
	return options
}

// creditsText is a number of credits in words.
func creditsText(l page.Lang, n int64) string {
	if n == 1 {
		return l.T("1 credit")
	}
	return l.T("%s credits", page.FormatInt(n))
}

type resellerForm struct {
	Form    *page.Form
	Plans   []page.Option
	Balance int64
	Action  string
	Back    string
	New     bool
}

func (s *Server) newReseller(q *request) error {
	return s.resellerForm(q, "New reseller", resellerForm{New: true, Form: page.NewForm("type", string(account.Trial), "periods", "1")}, nil)
}

func (s *Server) resellerForm(q *request, title string, d resellerForm, refusal error) error {
	d.Action, d.Back = resellerPath(q.id)+"/edit", resellerPath(q.id)
	if d.New {
		d.Action, d.Back = "/resellers/new", "/resellers"
		plans, err := s.planChoices(q)
		if err != nil {
			return err
		}
		d.Plans = planOptions(q, plans, 0)
		if d.Balance, err = s.Resellers.Balance(q.Context(), q.Actor); err != nil {
			return err
		}
	}
	return s.show(q, page.View{Name: "reseller_form", Title: title, Status: statusOf(refusal), Data: d})
}

func (s *Server) createReseller(q *request) error {
	made, err := s.Resellers.Create(q.Context(), q.Actor, reseller.ReadNewReseller(q.form()))
	if refused(err) {
		return s.resellerForm(q, "New reseller", resellerForm{New: true, Form: page.Sent(q.Request, err)}, err)
	}
	if err != nil {
		return err
	}
	if made.InvitationLink == "" {
		return q.done(resellerPath(made.ID), "%s was created. Credits spent: %d. Credits left: %d.", made.Name, made.CreditsSpent, made.CreditsBalance)
	}
	q.id = made.ID
	return s.resellerPage(q, resellerData{Link: made.InvitationLink, Made: true, Spent: made.CreditsSpent, Left: made.CreditsBalance})
}

func resellerPath(id int64) string { return "/resellers/" + idText(id) }

type resellerData struct {
	Reseller  resellerRow
	Functions []string
	Waiting   bool   // its owner has no password yet
	Link      string // an invitation, this once
	Made      bool   // the reseller is new
	Spent     int64  // credits, on it
	Left      int64
	LevelHelp string
	Levels    bool // its level can be changed
	History   []deedRow
}

func (s *Server) reseller(q *request) error { return s.resellerPage(q, resellerData{}) }

func (s *Server) resellerPage(q *request, d resellerData) error {
	r, err := s.Resellers.Find(q.Context(), q.Actor, q.id)
	if err != nil {
		return err
	}
	d.Reseller, d.LevelHelp = resellerRowOf(q, r, s.DB.Now()), levelHelp[r.Level]
	for _, name := range r.Subscription.Functions.Names() {
		d.Functions = append(d.Functions, q.lang.T(functionWords[name]))
	}
	_, refusal := reseller.LevelsFor(q.Actor.Company.Level, r.Level)
	d.Levels = refusal == nil
	if d.Waiting, err = s.Resellers.Waiting(q.Context(), q.Actor, q.id); err != nil {
		return err
	}
	deeds, _, err := s.Accounts.Audit(q.Context(), q.Actor, account.AuditFilter{Record: "reseller", ID: r.ID}, input.Page{Number: 1, Size: 10})
	if err != nil {
		return err
	}
	d.History = deedRows(q, deeds)
	return s.show(q, page.View{Name: "reseller", Title: r.Name, Data: d})
}

func (s *Server) editReseller(q *request) error {
	r, err := s.Resellers.Find(q.Context(), q.Actor, q.id)
	if err != nil {
		return err
	}
	form := page.NewForm("name", r.Name, "email", r.Email, "whatsapp", page.FormatPhone(r.Whatsapp))
	return s.resellerForm(q, "Edit reseller", resellerForm{Form: form}, nil)
}

func (s *Server) updateReseller(q *request) error {
	r, err := s.Resellers.Update(q.Context(), q.Actor, q.id, reseller.ReadResellerChanges(q.form()))
	if refused(err) {
		return s.resellerForm(q, "Edit reseller", resellerForm{Form: page.Sent(q.Request, err)}, err)
	}
	if err != nil {
		return err
	}
	return q.done(resellerPath(r.ID), "%s was saved.", r.Name)
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

func (s *Server) levelPage(q *request) error { return s.levels(q, page.NewForm(), nil) }

func (s *Server) levels(q *request, form *page.Form, refusal error) error {
	r, err := s.Resellers.Find(q.Context(), q.Actor, q.id)
	if err != nil {
		return err
	}
	d := levelData{Reseller: resellerRowOf(q, r, s.DB.Now()), Form: form}
	levels, why := reseller.LevelsFor(q.Actor.Company.Level, r.Level)
	if why != nil && refusal == nil {
		form.Fail(why)
	}
	for _, l := range levels {
		d.Levels = append(d.Levels, levelChoice{Level: l, Label: levelWords[l], Help: levelHelp[l]})
	}
	return s.show(q, page.View{Name: "reseller_level", Title: "Change level", Status: statusOf(refusal), Data: d})
}

func (s *Server) setLevel(q *request) error {
	r, err := s.Resellers.SetLevel(q.Context(), q.Actor, q.id, reseller.ReadLevelRequest(q.form()))
	if refused(err) || fault.KindOf(err) == fault.KindForbidden {
		return s.levels(q, page.Sent(q.Request, err), err)
	}
	if err != nil {
		return err
	}
	return q.done(resellerPath(r.ID), "%s has the level %s now.", r.Name, q.lang.T(levelWords[r.Level]))
}

type renewalData struct {
	Form    *page.Form
	Quote   reseller.Quote
	Plans   []page.Option
	Priced  bool // the form could be reckoned with
	Current resellerRow
}

func (s *Server) renewalPage(q *request) error {
	return s.renewal(q, q.URL.Query().Get("plan_id"), q.URL.Query().Get("periods"), nil)
}

// renewal shows what a renewal costs and brings, with the button that does it.
func (s *Server) renewal(q *request, planID, periods string, refusal error) error {
	r, err := s.Resellers.Find(q.Context(), q.Actor, q.id)
	if err != nil {
		return err
	}
	plans, err := s.planChoices(q)
	if err != nil {
		return err
	}
	d := renewalData{Plans: planOptions(q, plans, r.Plan.ID), Current: resellerRowOf(q, r, s.DB.Now())}
	if planID = cmp.Or(planID, idText(r.Plan.ID)); planID == "" && len(d.Plans) > 0 {
		planID = d.Plans[0].Value
	}
	fields := map[string]string{"plan_id": planID, "periods": cmp.Or(strings.TrimSpace(periods), "1")}
	d.Form = page.NewForm("plan_id", fields["plan_id"], "periods", fields["periods"])
	d.Quote, err = s.Resellers.QuoteRenewal(q.Context(), q.Actor, q.id, reseller.ReadRenewRequest(input.FromStrings(fields)))
	if err != nil && !refused(err) {
		return err
	}
	d.Priced = err == nil
	d.Form.Fail(cmp.Or(refusal, err))
	// A choice that cannot be reckoned with is no failure: it is asked as one types.
	return s.show(q, page.View{Name: "reseller_renew", Title: "Renew subscription", Status: statusOf(refusal), Data: d})
}

func (s *Server) renewReseller(q *request) error {
	r, err := s.Resellers.Renew(q.Context(), q.Actor, q.id, reseller.ReadAgreedRenewal(q.form()))
	if refused(err) {
		return s.renewal(q, q.PostFormValue("plan_id"), q.PostFormValue("periods"), err)
	}
	if err != nil {
		return err
	}
	return q.done(resellerPath(r.ID), "%s was renewed until %s. Credits spent: %d. Credits left: %d.",
		r.Name, page.FormatDate(r.Subscription.ExpiresOn), r.CreditsSpent, r.CreditsBalance)
}

func (s *Server) askSuspendReseller(q *request) error {
	r, err := s.Resellers.Find(q.Context(), q.Actor, q.id)
	if err != nil {
		return err
	}
	return s.ask(q, page.Confirm{
		Question: "Suspend %s?", Args: []any{r.Name}, Danger: true, Button: "Suspend reseller", Back: resellerPath(r.ID), Action: resellerPath(r.ID) + "/suspend",
		Effects: []string{
			"It can sign in and look, and change nothing. Its webhooks stop.", "Its days go on: the subscription ends when it would have.",
			"You can resume it at any time. A renewal resumes it too.",
		},
	})
}

func (s *Server) suspendReseller(q *request) error {
	r, err := s.Resellers.Suspend(q.Context(), q.Actor, q.id)
	if err != nil {
		return err
	}
	return q.done(resellerPath(r.ID), "%s is suspended.", r.Name)
}

func (s *Server) resumeReseller(q *request) error {
	r, err := s.Resellers.Resume(q.Context(), q.Actor, q.id)
	if err != nil {
		return err
	}
	return q.done(resellerPath(r.ID), "%s is no longer suspended.", r.Name)
}

func (s *Server) inviteReseller(q *request) error {
	link, err := s.Resellers.Invite(q.Context(), q.Actor, q.id)
	if err != nil {
		return q.complain(resellerPath(q.id), err)
	}
	return s.resellerPage(q, resellerData{Link: link})
}
