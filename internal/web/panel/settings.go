package panel

import (
	"strconv"

	"carteira/internal/account"
	"carteira/internal/web/page"
)

type settingsData struct {
	Form  *page.Form
	Zones []page.Option
	From  []page.Option
}

// zones are those of Brazil, and Portugal's for companies that sell there too.
var zones = []string{
	"America/Noronha", "America/Sao_Paulo", "America/Bahia", "America/Fortaleza", "America/Recife", "America/Maceio", "America/Araguaina", "America/Belem",
	"America/Santarem", "America/Manaus", "America/Cuiaba", "America/Campo_Grande", "America/Porto_Velho", "America/Boa_Vista", "America/Rio_Branco",
	"America/Eirunepe", "Europe/Lisbon", "UTC",
}

func zoneOptions(current string) []page.Option {
	var list []page.Option
	known := false
	for _, z := range zones {
		list = append(list, page.Option{Value: z, Label: z})
		known = known || z == current
	}
	if !known && current != "" {
		list = append(list, page.Option{Value: current, Label: current})
	}
	return list
}

func (s *Server) settings(q *request) error {
	c := q.Actor.Company
	return s.settingsPage(q, page.NewForm(
		"name", c.Name, "whatsapp", page.FormatPhone(c.Whatsapp), "timezone", c.Zone.String(), "renew_from", string(c.Settings.RenewFrom), "renew_on_payment", boolText(c.Settings.RenewOnPayment),
		"lead_days", strconv.Itoa(c.Settings.LeadDays)), nil)
}

func (s *Server) settingsPage(q *request, form *page.Form, refusal error) error {
	return s.show(q, page.View{Name: "settings", Title: "Settings", Status: statusOf(refusal), Data: settingsData{
		Form: form, Zones: zoneOptions(q.Actor.Company.Zone.String()),
		From: []page.Option{
			{Value: string(account.FromDueDate), Label: q.lang.T("the due date, as if nothing had happened")},
			{Value: string(account.FromToday), Label: q.lang.T("the day of the renewal")},
		},
	}})
}

func (s *Server) saveSettings(q *request) error {
	q.PostForm.Del("level") // which is the parent's to give
	_, err := s.Accounts.SetCompany(q.Context(), q.Actor, account.ReadCompanyDraft(q.form()))
	if refused(err) {
		return s.settingsPage(q, page.Sent(q.Request, err), err)
	}
	if err != nil {
		return err
	}
	return q.done("/settings", "The settings were saved.")
}

type usersData struct {
	List []userRow
	Me   int64
	Link string // to set a password, this once
	Name string
}

type userRow struct {
	account.Person
	Seen     string
	RoleText string
}

func (s *Server) users(q *request) error { return s.usersPage(q, usersData{}) }

func (s *Server) usersPage(q *request, d usersData) error {
	list, err := s.Accounts.Users(q.Context(), q.Actor)
	if err != nil {
		return err
	}
	for _, p := range list {
		d.List = append(d.List, userRow{p, q.lang.Ago(p.SeenAt, s.DB.Now()), word(q.lang, string(p.Role))})
	}
	d.Me = q.User.ID
	return s.show(q, page.View{Name: "users", Title: "Users", Data: d})
}

type userForm struct {
	Form   *page.Form
	Roles  []page.Option
	Action string
	New    bool
	ID     int64
	Me     bool
}

func (s *Server) userForm(q *request, title string, d userForm, refusal error) error {
	d.Roles = []page.Option{
		{Value: string(account.RoleOwner), Label: q.lang.T("Owner: everything, users and settings too")},
		{Value: string(account.RoleStaff), Label: q.lang.T("Staff: customers, invoices, plans and products")},
		{Value: string(account.RoleReadOnly), Label: q.lang.T("Read-only: sees and changes nothing")},
	}
	return s.show(q, page.View{Name: "user_form", Title: title, Status: statusOf(refusal), Data: d})
}

func (s *Server) newUser(q *request) error {
	return s.userForm(q, "New user", userForm{Form: page.NewForm("role", string(account.RoleStaff)), Action: "/settings/users/new", New: true}, nil)
}

func (s *Server) createUser(q *request) error {
	u, link, err := s.Accounts.CreateUser(q.Context(), q.Actor, account.ReadNewUser(q.form()))
	if refused(err) {
		return s.userForm(q, "New user", userForm{Form: page.Sent(q.Request, err), Action: "/settings/users/new", New: true}, err)
	}
	if err != nil {
		return err
	}
	return s.usersPage(q, usersData{Link: s.PublicURL + "/password/" + link, Name: u.Name})
}

func (s *Server) editUser(q *request) error {
	u, err := s.Accounts.User(q.Context(), q.Actor, q.id)
	if err != nil {
		return err
	}
	return s.userForm(q, "Edit user", userForm{
		Form: page.NewForm("name", u.Name, "email", u.Email, "role", string(u.Role)), Action: "/settings/users/" + idText(u.ID), ID: u.ID, Me: u.ID == q.User.ID,
	}, nil)
}

func (s *Server) updateUser(q *request) error {
	u, err := s.Accounts.UpdateUser(q.Context(), q.Actor, q.id, account.ReadUserChanges(q.form()))
	if refused(err) {
		return s.userForm(q, "Edit user", userForm{
			Form: page.Sent(q.Request, err), Action: "/settings/users/" + idText(q.id), ID: q.id, Me: q.id == q.User.ID,
		}, err)
	}
	if err != nil {
		return err
	}
	return q.done("/settings/users", "%s was saved.", u.Name)
}

func (s *Server) userLink(q *request) error {
	u, link, err := s.Accounts.NewPasswordLink(q.Context(), q.Actor, q.id)
	if err != nil {
		return err
	}
	return s.usersPage(q, usersData{Link: s.PublicURL + "/password/" + link, Name: u.Name})
}

func (s *Server) removeSecondFactor(q *request) error {
	if _, err := s.Accounts.RemoveSecondFactor(q.Context(), q.Actor, q.id); err != nil {
		return err
	}
	return q.done("/settings/users", "The second factor is off.")
}

func (s *Server) askRemoveUser(q *request) error {
	u, err := s.Accounts.User(q.Context(), q.Actor, q.id)
	if err != nil {
		return err
	}
	return s.ask(q, page.Confirm{
		Question: "Remove %s?", Args: []any{u.Name}, Danger: true, Button: "Remove user", Back: "/settings/users",
		Action:  "/settings/users/" + idText(u.ID) + "/remove",
		Effects: []string{"They are signed out at once and cannot sign in again.", "What they did stays in the audit log."},
	})
}

func (s *Server) removeUser(q *request) error {
	if err := s.Accounts.RemoveUser(q.Context(), q.Actor, q.id); err != nil {
		return q.complain("/settings/users", err)
	}
	return q.done("/settings/users", "The user was removed.")
}

type auditData struct {
	List  []deedRow
	Pager page.Pager
}

func (s *Server) audit(q *request) error {
	p := q.query().Page()
	list, total, err := s.Accounts.Audit(q.Context(), q.Actor, account.AuditFilter{}, p)
	if err != nil {
		return err
	}
	return s.show(q, page.View{Name: "audit", Title: "Audit log", Data: auditData{deedRows(q, list), page.NewPager(q.URL, p, total)}})
}
