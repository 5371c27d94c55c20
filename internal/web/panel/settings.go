package panel

import (
	"cmp"
	"maps"
	"strconv"
	"strings"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/taxid"
	"carteira/internal/web/page"
)

type settingsData struct {
	Form  *page.Form
	Zones []page.Option
	From  []page.Option

	RenewInvoice []page.Option
}

// zones are those of Brazil by the places that people know, and Portugal's for
// companies that sell there too. The names of places are the same in every
// language.
var zones = [][2]string{
	{"America/Sao_Paulo", "Brasília, São Paulo, Rio, Sul"},
	{"America/Bahia", "Bahia"},
	{"America/Fortaleza", "Ceará, Maranhão, Piauí"},
	{"America/Recife", "Pernambuco"},
	{"America/Maceio", "Alagoas, Sergipe"},
	{"America/Araguaina", "Tocantins"},
	{"America/Belem", "Amapá, Pará (leste)"},
	{"America/Santarem", "Pará (oeste)"},
	{"America/Manaus", "Amazonas"},
	{"America/Cuiaba", "Mato Grosso"},
	{"America/Campo_Grande", "Mato Grosso do Sul"},
	{"America/Porto_Velho", "Rondônia"},
	{"America/Boa_Vista", "Roraima"},
	{"America/Rio_Branco", "Acre"},
	{"America/Eirunepe", "Amazonas (oeste)"},
	{"America/Noronha", "Fernando de Noronha"},
	{"Europe/Lisbon", "Portugal"},
	{"UTC", "UTC"},
}

func zoneOptions(current string) []page.Option {
	var list []page.Option
	known := false
	for _, zone := range zones {
		list = append(list, page.Option{Value: zone[0], Label: zone[1]})
		known = known || zone[0] == current
	}
	if !known && current != "" {
		list = append(list, page.Option{Value: current, Label: current})
	}
	return list
}

func (s *Server) settings(req *request) error {
	return s.settingsPage(req, s.settingsValues(req), nil)
}

// settingsValues is the form of the settings as they are.
func (s *Server) settingsValues(req *request) *page.Form {
	company := req.Actor.Company
	return page.NewForm(
		"color", cmp.Or(company.Brand.Color, account.HouseColor),
		"name", company.Name, "whatsapp", page.FormatPhone(company.Whatsapp), "cpf_cnpj", taxid.Format(company.CpfCnpj),
		"address", company.Address, "contact_email", company.Email, "timezone", company.Zone.String(),
		"renew_from", string(company.Settings.RenewFrom), "renew_on_payment",
		boolText(company.Settings.RenewOnPayment),
		"renew_invoice", string(company.Settings.RenewInvoice),
		"books_closed_through", company.Settings.ClosedThrough.String(),
		"lead_days", strconv.Itoa(company.Settings.LeadDays),
		"late_fee_percent", percentText(company.Settings.LateFeePercent), "late_interest_percent",
		percentText(company.Settings.LateInterestPercent),
		"discount_percent", percentText(company.Settings.DiscountPercent), "discount_amount",
		amountText(company.Settings.DiscountAmount))
}

// percentText is a percentage as a form shows it; empty: none.
func percentText(percent money.Percent) string {
	return amountText(money.Cents(percent))
}

// amountText is an amount as a form shows it; empty: none.
func amountText(amount money.Cents) string {
	if amount == 0 {
		return ""
	}
	return strings.TrimPrefix(amount.BR(), "R$ ")
}

func (s *Server) settingsPage(req *request, form *page.Form, refusal error) error {
	return s.show(req, page.View{
		Name:   "settings",
		Title:  "Settings",
		Status: statusOf(refusal),
		Data: settingsData{
			Form: form, Zones: zoneOptions(req.Actor.Company.Zone.String()),
			RenewInvoice: renewChoices(req),
			From: []page.Option{
				{Value: string(account.FromDueDate), Label: req.lang.T("the due date, as if nothing had happened")},
				{Value: string(account.FromToday), Label: req.lang.T("the day of the renewal")},
			},
		},
	})
}

func (s *Server) saveSettings(req *request) error {
	req.PostForm.Del("level") // which is the parent's to give
	_, err := s.Accounts.SetCompany(req.Context(), req.Actor, account.ReadCompanyDraft(req.settingsForm()))
	if refused(err) {
		return s.settingsPage(req, page.Sent(req.Request, err), err)
	}
	if err != nil {
		return err
	}
	return req.done("/settings", "The settings were saved.")
}

// settingsForm is what was sent, with amounts and percentages as people in Brazil
// write them.
func (req *request) settingsForm() *input.Form {
	values := maps.Clone(req.PostForm)
	if cents, err := money.ParseBR(req.PostFormValue("discount_amount")); err == nil {
		values.Set("discount_amount", cents.String())
	}
	for _, name := range []string{"late_fee_percent", "late_interest_percent", "discount_percent"} {
		if percent, err := money.ParsePercentBR(req.PostFormValue(name)); err == nil {
			values.Set(name, percent.String())
		}
	}
	return input.FromForm(values)
}

type usersData struct {
	List []userRow
	Me   int64
	Link string // to set a password, this once
	Name string

	WhatsApp string // opens a chat with the link typed in
}

type userRow struct {
	account.Person
	Seen     string
	RoleText string
}

func (s *Server) users(req *request) error {
	return s.usersPage(req, usersData{})
}

func (s *Server) usersPage(req *request, data usersData) error {
	list, err := s.Accounts.Users(req.Context(), req.Actor)
	if err != nil {
		return err
	}
	for _, person := range list {
		data.List = append(
			data.List,
			userRow{person, req.lang.Ago(person.SeenAt, s.DB.Now()), word(req.lang, string(person.Role))},
		)
	}
	data.Me = req.User.ID
	return s.show(req, page.View{Name: "users", Title: "Users", Data: data})
}

type userForm struct {
	Form   *page.Form
	Roles  []page.Option
	Action string
	New    bool
	ID     int64
	Me     bool
}

func (s *Server) userForm(req *request, title string, form userForm, refusal error) error {
	form.Roles = []page.Option{
		{Value: string(account.RoleOwner), Label: req.lang.T("Owner: everything, users and settings too")},
		{Value: string(account.RoleStaff), Label: req.lang.T("Staff: customers, invoices, plans and products")},
		{Value: string(account.RoleAttendant), Label: req.lang.T("Attendant: works with customers, without totals, export and deleting")},
		{Value: string(account.RoleReadOnly), Label: req.lang.T("Read-only: sees and changes nothing")},
	}
	return s.show(req, page.View{Name: "user_form", Title: title, Status: statusOf(refusal), Data: form})
}

func (s *Server) newUser(req *request) error {
	return s.userForm(req, "New user", userForm{
		Form:   page.NewForm("role", string(account.RoleStaff)),
		Action: "/settings/users/new", New: true,
	}, nil)
}

func (s *Server) createUser(req *request) error {
	user, link, err := s.Accounts.CreateUser(req.Context(), req.Actor, account.ReadNewUser(req.form()))
	if refused(err) {
		return s.userForm(
			req,
			"New user",
			userForm{Form: page.Sent(req.Request, err), Action: "/settings/users/new", New: true},
			err,
		)
	}
	if err != nil {
		return err
	}
	return s.usersPage(req, s.invitation(user.Name, s.PublicURL+"/password/"+link))
}

// invitation is a link by which a user chooses a password, ready to be sent.
func (s *Server) invitation(name, link string) usersData {
	return usersData{Link: link, Name: name, WhatsApp: chatWith("", inviting(name, link))}
}

// inviting is what an invitation says.
func inviting(name, link string) string {
	return page.Portuguese.T("Hello, %s! Choose your password here to begin: %s (it works once, for 7 days)", name, link)
}

func (s *Server) editUser(req *request) error {
	user, err := s.Accounts.User(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	return s.userForm(req, "Edit user", userForm{
		Form:   page.NewForm("name", user.Name, "email", user.Email, "role", string(user.Role)),
		Action: "/settings/users/" + idText(user.ID), ID: user.ID, Me: user.ID == req.User.ID,
	}, nil)
}

func (s *Server) updateUser(req *request) error {
	user, err := s.Accounts.UpdateUser(req.Context(), req.Actor, req.id, account.ReadUserChanges(req.form()))
	if refused(err) {
		return s.userForm(req, "Edit user", userForm{
			Form:   page.Sent(req.Request, err),
			Action: "/settings/users/" + idText(req.id),
			ID:     req.id,
			Me:     req.id == req.User.ID,
		}, err)
	}
	if err != nil {
		return err
	}
	return req.done("/settings/users", "%s was saved.", user.Name)
}

func (s *Server) userLink(req *request) error {
	user, link, err := s.Accounts.NewPasswordLink(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	return s.usersPage(req, s.invitation(user.Name, s.PublicURL+"/password/"+link))
}

func (s *Server) removeSecondFactor(req *request) error {
	if _, err := s.Accounts.RemoveSecondFactor(req.Context(), req.Actor, req.id); err != nil {
		return err
	}
	return req.done("/settings/users", "The second factor is off.")
}

func (s *Server) askRemoveUser(req *request) error {
	user, err := s.Accounts.User(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	made, err := s.Accounts.TokensMadeBy(req.Context(), req.Actor, user.ID)
	if err != nil {
		return err
	}
	confirm := page.Confirm{
		Question: "Remove %s?",
		Args:     []any{user.Name},
		Danger:   true,
		Button:   "Remove user",
		Back:     "/settings/users",
		Action:   "/settings/users/" + idText(user.ID) + "/remove",
		Effects:  []string{"They are signed out at once and cannot sign in again.", "What they did stays in the audit log."},
	}
	if len(made) > 0 {
		confirm.Effects = append(confirm.Effects, "The API tokens that they made are deleted: programs that use one stop at once.")
		confirm.Box, confirm.BoxLabel = "keep_tokens", "Keep the tokens"
	}
	return s.ask(req, confirm)
}

func (s *Server) removeUser(req *request) error {
	keep := req.PostFormValue("keep_tokens") == "true"
	if err := s.Accounts.RemoveUser(req.Context(), req.Actor, req.id, keep); err != nil {
		return req.complain("/settings/users", err)
	}
	return req.done("/settings/users", "The user was removed.")
}
