// Package company has the pages about the company itself and who works in it: sign-in,
// users, settings, API tokens and webhooks. Its paths are in the table of panel.
package company

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/taxid"
	"carteira/internal/sandbox"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
)

// Pages are the pages about the company itself.
type Pages struct{ *kit.Panel }

type settingsData struct {
	Form        *page.Form
	Zones, From []page.Option

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

// settingsValues is the form of the settings as they are.
func (s *Pages) settingsValues(req *kit.Request) *page.Form {
	company := req.Actor.Company
	form := page.NewForm()
	for _, field := range account.CompanyFields {
		switch place := field.At(&company).(type) {
		case *money.Percent:
			form.Set(field.Name, kit.AmountText(money.Cents(*place)))
		case *money.Cents:
			form.Set(field.Name, kit.AmountText(*place))
		case *bool:
			form.Set(field.Name, kit.BoolText(*place))
		default:
			form.Set(field.Name, fmt.Sprint(field.Of(&company)))
		}
	}
	form.Set("color", cmp.Or(company.Brand.Color, account.HouseColor))
	form.Set("whatsapp", page.FormatPhone(company.Whatsapp))
	form.Set("cpf_cnpj", taxid.Format(company.CpfCnpj))
	return form
}

// Settings shows the settings of the company.
func (s *Pages) Settings(req *kit.Request, form *page.Form, refusal error) error {
	return req.ShowForm("settings", "Settings", refusal, settingsData{
		Form: cmp.Or(form, s.settingsValues(req)), Zones: zoneOptions(req.Actor.Company.Zone.String()), RenewInvoice: kit.RenewChoices(req),
		From: req.Options(string(account.FromDueDate), "the due date, as if nothing had happened",
			string(account.FromToday), "the day of the renewal"),
	})
}

// SaveSettings changes the settings of the company.
func (s *Pages) SaveSettings(req *kit.Request) error {
	req.PostForm.Del("level") // which is the parent's to give
	_, err := s.Accounts.SetCompany(req.Context(), req.Actor, account.ReadCompanyDraft(settingsForm(req)))
	return req.Sent(err, s.Settings, "/settings", "The settings were saved.")
}

// settingsForm is what was sent, with amounts and percentages as people in Brazil
// write them.
func settingsForm(req *kit.Request) *input.Form {
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
	Seen, RoleText string
}

// Users lists the users.
func (s *Pages) Users(req *kit.Request) error { return s.usersPage(req, usersData{}) }

func (s *Pages) usersPage(req *kit.Request, data usersData) error {
	for _, person := range kit.Read(req, s.Accounts.Users) {
		data.List = append(data.List, userRow{person, req.Lang.Ago(person.SeenAt, s.DB.Now()), kit.Word(req.Lang, string(person.Role))})
	}
	data.Me = req.User.ID
	return req.Show("users", "Users", data)
}

type userForm struct {
	kit.RecordForm
	Roles []page.Option
	Me    bool
}

// UserForm is the form of a user, or of a new one.
func (s *Pages) UserForm(req *kit.Request, form *page.Form, refusal error) error {
	if form == nil {
		user := account.User{Role: account.RoleStaff}
		if req.ID != 0 {
			user = kit.ReadOf(req, s.Accounts.User, req.ID)
		}
		form = page.NewForm("name", user.Name, "email", user.Email, "role", string(user.Role))
	}
	data := userForm{RecordForm: req.RecordForm(UsersPath, form), Me: req.ID == req.User.ID, Roles: req.Options(
		string(account.RoleOwner), "Owner: everything, users and settings too",
		string(account.RoleStaff), "Staff: customers, invoices, plans and products",
		string(account.RoleAttendant), "Attendant: works with customers, without totals, export and deleting",
		string(account.RoleReadOnly), "Read-only: sees and changes nothing",
	)}
	return req.ShowForm("user_form", data.Title("New user", "Edit user"), refusal, data)
}

// UsersPath is the address of the users.
const UsersPath = "/settings/users"

// CreateUser makes a user, and shows the link of the invitation this once.
func (s *Pages) CreateUser(req *kit.Request) error {
	user, link, err := s.Accounts.CreateUser(req.Context(), req.Actor, account.ReadNewUser(req.Input()))
	if err != nil {
		return req.Again(err, s.UserForm)
	}
	return s.usersPage(req, s.invitation(user.Name, s.PublicURL+"/password/"+link))
}

// invitation is a link by which a user chooses a password, ready to be sent.
func (s *Pages) invitation(name, link string) usersData {
	return usersData{Link: link, Name: name, WhatsApp: kit.ChatWith("", kit.Inviting(name, link))}
}

// UpdateUser changes a user.
func (s *Pages) UpdateUser(req *kit.Request) error {
	user, err := s.Accounts.UpdateUser(req.Context(), req.Actor, req.ID, account.ReadUserChanges(req.Input()))
	return req.Sent(err, s.UserForm, UsersPath, "%s was saved.", user.Name)
}

// UserLink makes another link to set a password.
func (s *Pages) UserLink(req *kit.Request) error {
	user, link, err := s.Accounts.NewPasswordLink(req.Context(), req.Actor, req.ID)
	if err != nil {
		return err
	}
	return s.usersPage(req, s.invitation(user.Name, s.PublicURL+"/password/"+link))
}

// AskRemoveUser asks before a user is removed.
func (s *Pages) AskRemoveUser(req *kit.Request, user account.User) error {
	made := kit.ReadOf(req, s.Accounts.TokensMadeBy, user.ID)
	confirm := page.Confirm{
		Question: "Remove %s?", Args: []any{user.Name}, Danger: true, Button: "Remove user", Back: UsersPath,
		Effects: []string{"They are signed out at once and cannot sign in again.", "What they did stays in the audit log."},
	}
	if len(made) > 0 {
		confirm.Effects = append(confirm.Effects, "The API tokens that they made are deleted: programs that use one stop at once.")
		confirm.Box, confirm.BoxLabel = "keep_tokens", "Keep the tokens"
	}
	return req.Ask(confirm)
}

// RemoveUser removes a user.
func (s *Pages) RemoveUser(req *kit.Request) error {
	err := s.Accounts.RemoveUser(req.Context(), req.Actor, req.ID, req.PostFormValue("keep_tokens") == "true")
	return req.Did(err, UsersPath, "The user was removed.")
}

type sandboxData struct {
	sandbox.Advance
	Form    *page.Form
	Percent int
	NextDue string // the next due date; "": there is none
}

// moveTime is how long a page waits for a short move to end, before it shows how
// far a longer one has come.
const moveTime = 2 * time.Second

// Clock shows the clock of a sandbox, and the buttons that move it.
func (s *Pages) Clock(req *kit.Request, form *page.Form, refusal error) error {
	if s.Sandbox == nil {
		return fault.NotFound("page")
	}
	state, err := s.Sandbox.State(req.Context(), req.Actor.Company.ID)
	req.Note(err)
	data := sandboxData{Advance: state, Form: cmp.Or(form, page.NewForm("to", ""))}
	if due := kit.Read(req, s.Customers.NextDue); !due.IsZero() {
		data.NextDue = due.String()
	}
	if whole := state.To.Sub(state.From); state.Running && whole > 0 {
		data.Percent = int(100 * state.Now.Sub(state.From) / whole)
	}
	return req.ShowForm("sandbox", "The clock", refusal, data)
}

// MoveClock is a button or the date.
func (s *Pages) MoveClock(req *kit.Request) error {
	if s.Sandbox == nil {
		return fault.NotFound("page")
	}
	return req.Sent(s.advance(req, req.Input()), s.Clock, "/sandbox", "The clock goes forward.")
}

func (s *Pages) advance(req *kit.Request, in *input.Form) error {
	target := sandbox.ReadTarget(in, req.Actor.Company.Zone)
	if err := s.Sandbox.Begin(req.Context(), req.Actor, target); err != nil {
		return err
	}
	return s.Sandbox.Wait(req.Context(), moveTime, nil)
}

// SaveLogo takes the picture. Its size is bounded before it is read.
func (s *Pages) SaveLogo(req *kit.Request) error {
	_ = http.NewResponseController(req.Writer).SetReadDeadline(time.Now().Add(time.Minute))
	req.Body = http.MaxBytesReader(req.Writer, req.Body, account.MaxLogoFile+kit.MaxForm)
	content, err := readLogo(req.Request)
	if err == nil {
		err = s.Accounts.SetLogo(req.Context(), req.Actor, content)
	}
	return req.Sent(err, func(req *kit.Request, _ *page.Form, refusal error) error {
		form := s.settingsValues(req)
		form.Fail(refusal)
		return s.Settings(req, form, refusal)
	}, "/settings#brand", "The logo was saved.")
}

func readLogo(r *http.Request) ([]byte, error) {
	_, content, err := kit.ReadFileOf(r, "logo")
	if _, large := errors.AsType[*http.MaxBytesError](err); large || len(content) > account.MaxLogoFile {
		return nil, fault.Field("logo", "must not be larger than 2 MiB")
	}
	if errors.Is(err, http.ErrMissingFile) || errors.Is(err, http.ErrNotMultipart) {
		return nil, fault.Field("logo", "choose a file")
	}
	return content, err
}

// RemoveLogo removes the logo.
func (s *Pages) RemoveLogo(req *kit.Request) error {
	return req.Did(s.Accounts.RemoveLogo(req.Context(), req.Actor), "/settings#brand", "The logo was removed.")
}
