package panel

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
)

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
func (s *Server) settingsValues(req *request) *page.Form {
	company := req.Actor.Company
	form := page.NewForm()
	for _, field := range account.CompanyFields {
		switch place := field.At(&company).(type) {
		case *money.Percent:
			form.Set(field.Name, amountText(money.Cents(*place)))
		case *money.Cents:
			form.Set(field.Name, amountText(*place))
		case *bool:
			form.Set(field.Name, boolText(*place))
		default:
			form.Set(field.Name, fmt.Sprint(field.Of(&company)))
		}
	}
	form.Set("color", cmp.Or(company.Brand.Color, account.HouseColor))
	form.Set("whatsapp", page.FormatPhone(company.Whatsapp))
	form.Set("cpf_cnpj", taxid.Format(company.CpfCnpj))
	return form
}

func (s *Server) settings(req *request, form *page.Form, refusal error) error {
	return req.showForm("settings", "Settings", refusal, settingsData{
		Form: cmp.Or(form, s.settingsValues(req)), Zones: zoneOptions(req.Actor.Company.Zone.String()), RenewInvoice: renewChoices(req),
		From: req.options(string(account.FromDueDate), "the due date, as if nothing had happened",
			string(account.FromToday), "the day of the renewal"),
	})
}

func (s *Server) saveSettings(req *request) error {
	req.PostForm.Del("level") // which is the parent's to give
	_, err := s.Accounts.SetCompany(req.Context(), req.Actor, account.ReadCompanyDraft(settingsForm(req)))
	return req.sent(err, s.settings, "/settings", "The settings were saved.")
}

// settingsForm is what was sent, with amounts and percentages as people in Brazil
// write them.
func settingsForm(req *request) *input.Form {
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

func (s *Server) users(req *request) error { return s.usersPage(req, usersData{}) }

func (s *Server) usersPage(req *request, data usersData) error {
	for _, person := range read(req, s.Accounts.Users) {
		data.List = append(data.List, userRow{person, req.lang.Ago(person.SeenAt, s.DB.Now()), word(req.lang, string(person.Role))})
	}
	data.Me = req.User.ID
	return req.show("users", "Users", data)
}

type userForm struct {
	recordForm
	Roles []page.Option
	Me    bool
}

// userForm is the form of a user, or of a new one.
func (s *Server) userForm(req *request, form *page.Form, refusal error) error {
	if form == nil {
		user := account.User{Role: account.RoleStaff}
		if req.id != 0 {
			user = readOf(req, s.Accounts.User, req.id)
		}
		form = page.NewForm("name", user.Name, "email", user.Email, "role", string(user.Role))
	}
	data := userForm{recordForm: req.recordForm(usersPath, form), Me: req.id == req.User.ID, Roles: req.options(
		string(account.RoleOwner), "Owner: everything, users and settings too",
		string(account.RoleStaff), "Staff: customers, invoices, plans and products",
		string(account.RoleAttendant), "Attendant: works with customers, without totals, export and deleting",
		string(account.RoleReadOnly), "Read-only: sees and changes nothing",
	)}
	return req.showForm("user_form", data.title("New user", "Edit user"), refusal, data)
}

const usersPath = "/settings/users"

func (s *Server) createUser(req *request) error {
	user, link, err := s.Accounts.CreateUser(req.Context(), req.Actor, account.ReadNewUser(req.form()))
	if err != nil {
		return req.again(err, s.userForm)
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

func (s *Server) updateUser(req *request) error {
	user, err := s.Accounts.UpdateUser(req.Context(), req.Actor, req.id, account.ReadUserChanges(req.form()))
	return req.sent(err, s.userForm, usersPath, "%s was saved.", user.Name)
}

func (s *Server) userLink(req *request) error {
	user, link, err := s.Accounts.NewPasswordLink(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	return s.usersPage(req, s.invitation(user.Name, s.PublicURL+"/password/"+link))
}

func (s *Server) askRemoveUser(req *request, user account.User) error {
	made := readOf(req, s.Accounts.TokensMadeBy, user.ID)
	confirm := page.Confirm{
		Question: "Remove %s?", Args: []any{user.Name}, Danger: true, Button: "Remove user", Back: usersPath,
		Effects: []string{"They are signed out at once and cannot sign in again.", "What they did stays in the audit log."},
	}
	if len(made) > 0 {
		confirm.Effects = append(confirm.Effects, "The API tokens that they made are deleted: programs that use one stop at once.")
		confirm.Box, confirm.BoxLabel = "keep_tokens", "Keep the tokens"
	}
	return req.ask(confirm)
}

func (s *Server) removeUser(req *request) error {
	err := s.Accounts.RemoveUser(req.Context(), req.Actor, req.id, req.PostFormValue("keep_tokens") == "true")
	return req.did(err, usersPath, "The user was removed.")
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

// clock shows the clock of a sandbox, and the buttons that move it.
func (s *Server) clock(req *request, form *page.Form, refusal error) error {
	if s.Sandbox == nil {
		return fault.NotFound("page")
	}
	state, err := s.Sandbox.State(req.Context(), req.Actor.Company.ID)
	req.note(err)
	data := sandboxData{Advance: state, Form: cmp.Or(form, page.NewForm("to", ""))}
	if due := read(req, s.Customers.NextDue); !due.IsZero() {
		data.NextDue = due.String()
	}
	if whole := state.To.Sub(state.From); state.Running && whole > 0 {
		data.Percent = int(100 * state.Now.Sub(state.From) / whole)
	}
	return req.showForm("sandbox", "The clock", refusal, data)
}

// moveClock is a button or the date.
func (s *Server) moveClock(req *request) error {
	if s.Sandbox == nil {
		return fault.NotFound("page")
	}
	return req.sent(s.advance(req, req.form()), s.clock, "/sandbox", "The clock goes forward.")
}

func (s *Server) advance(req *request, in *input.Form) error {
	target := sandbox.ReadTarget(in, req.Actor.Company.Zone)
	if err := s.Sandbox.Begin(req.Context(), req.Actor, target); err != nil {
		return err
	}
	return s.Sandbox.Wait(req.Context(), moveTime, nil)
}

// saveLogo takes the picture. Its size is bounded before it is read.
func (s *Server) saveLogo(req *request) error {
	_ = http.NewResponseController(req.w).SetReadDeadline(time.Now().Add(time.Minute))
	req.Body = http.MaxBytesReader(req.w, req.Body, account.MaxLogoFile+maxForm)
	content, err := readLogo(req.Request)
	if err == nil {
		err = s.Accounts.SetLogo(req.Context(), req.Actor, content)
	}
	return req.sent(err, func(req *request, _ *page.Form, refusal error) error {
		form := s.settingsValues(req)
		form.Fail(refusal)
		return s.settings(req, form, refusal)
	}, "/settings#brand", "The logo was saved.")
}

func readLogo(r *http.Request) ([]byte, error) {
	_, content, err := readFileOf(r, "logo")
	if _, large := errors.AsType[*http.MaxBytesError](err); large || len(content) > account.MaxLogoFile {
		return nil, fault.Field("logo", "must not be larger than 2 MiB")
	}
	if errors.Is(err, http.ErrMissingFile) || errors.Is(err, http.ErrNotMultipart) {
		return nil, fault.Field("logo", "choose a file")
	}
	return content, err
}

func (s *Server) removeLogo(req *request) error {
	return req.did(s.Accounts.RemoveLogo(req.Context(), req.Actor), "/settings#brand", "The logo was removed.")
}
