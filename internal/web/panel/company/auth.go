package company

import (
	"cmp"
	"html/template"
	"net/url"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/config"
	"carteira/internal/platform/fault"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
)

// public shows a page outside the panel's frame, with the status of a refusal.
func (s *Pages) public(req *kit.Request, name, title string, refusal error, data any) error {
	s.Pages.Render(req.Writer, req.Request, page.View{Name: name, Title: title, Status: kit.StatusOf(refusal), Data: data})
	return nil
}

type loginData struct {
	Form *page.Form
	Next string
	Mail bool // there is a mail server: a forgotten password can be asked for
}

// LoginPage shows the sign-in; who is signed in goes on.
func (s *Pages) LoginPage(req *kit.Request) error {
	_, err := s.Accounts.Authenticate(req.Context(), kit.Token(req.Request), req.Visitor())
	if err == nil {
		return req.GoOn(page.LocalPath(req.URL.Query().Get("next")))
	}
	return s.loginForm(req, nil, nil)
}

func (s *Pages) loginForm(req *kit.Request, form *page.Form, refusal error) error {
	data := loginData{cmp.Or(form, page.NewForm()), req.FormValue("next"), s.Accounts.SendsMail()}
	return s.public(req, "login", "Sign in", refusal, data)
}

// Login signs a user in.
func (s *Pages) Login(req *kit.Request) error {
	in, err := s.Accounts.SignIn(req.Context(), account.ReadCredentials(req.Input()), req.Visitor())
	if err != nil {
		return req.Again(err, s.loginForm)
	}
	return s.enter(req, in, page.LocalPath(req.PostFormValue("next")))
}

// enter begins the session of who has signed in, and asks for the code where there is
// a second factor.
func (s *Pages) enter(req *kit.Request, in account.SignedIn, next string) error {
	if err := s.Accounts.EndFormer(req.Context(), kit.Token(req.Request)); err != nil {
		return err
	}
	req.Remember(in)
	if in.NeedsCode {
		next = "/login/code?next=" + url.QueryEscape(next)
	}
	return req.GoOn(next)
}

// CodeForm asks for a code of the second factor.
func (s *Pages) CodeForm(req *kit.Request, form *page.Form, refusal error) error {
	data := loginData{Form: cmp.Or(form, page.NewForm()), Next: req.FormValue("next")}
	return s.public(req, "code", "Second factor", refusal, data)
}

// Code takes the code of the second factor.
func (s *Pages) Code(req *kit.Request) error {
	in, err := s.Accounts.ConfirmCode(req.Context(), kit.Token(req.Request), account.ReadCode(req.Input()), req.Visitor())
	if err != nil {
		return req.Again(err, s.CodeForm)
	}
	req.Remember(in)
	return req.GoOn(page.LocalPath(req.PostFormValue("next")))
}

// Logout ends the session.
func (s *Pages) Logout(req *kit.Request) error {
	if err := s.Accounts.SignOut(req.Context(), req.Visit); err != nil {
		return err
	}
	req.SetCookie(kit.SessionCookie, "", -time.Second)
	return req.GoOn("/login")
}

type setupData struct {
	Form  *page.Form
	Zones []page.Option
	Reach config.Reach
	URL   string // the public address
}

const goneSetupLink = "This set-up link was used or has run out. Sign in, or start the server again for a new one."

// SetupForm asks for the first company and its owner.
func (s *Pages) SetupForm(req *kit.Request, form *page.Form, refusal error) error {
	if form == nil {
		if err := s.Accounts.SetupWorks(req.Context(), req.PathValue("link")); err != nil {
			return s.gone(req, err, goneSetupLink)
		}
		form = page.NewForm("timezone", account.DefaultTimezone)
	}
	return s.public(req, "setup", "Welcome to Carteira", refusal, setupData{form, zoneOptions(""), s.Reach, s.PublicURL})
}

// Setup makes the first company and its owner.
func (s *Pages) Setup(req *kit.Request) error {
	in, err := s.Accounts.Setup(req.Context(), req.PathValue("link"), account.ReadSetup(req.Input()), req.Visitor())
	if err != nil {
		return s.gone(req, req.Again(err, s.SetupForm), goneSetupLink)
	}
	req.Remember(in)
	return req.Done("/", "The company is ready. Begin with what you sell: a plan.")
}

type passwordData struct {
	Form        *page.Form
	Name, Email string
}

const gonePasswordLink = "This link was used or has run out. Ask an owner of the company for a new one."

// PasswordForm asks for the password that a link sets.
func (s *Pages) PasswordForm(req *kit.Request, form *page.Form, refusal error) error {
	user, err := s.Accounts.LinkedUser(req.Context(), req.PathValue("link"))
	if err != nil && form == nil {
		return s.gone(req, err, gonePasswordLink)
	}
	data := passwordData{cmp.Or(form, page.NewForm()), user.Name, user.Email} // who cannot be found is not greeted
	return s.public(req, "password", "Choose a password", refusal, data)
}

// Password sets a password by a link, and signs in with it.
func (s *Pages) Password(req *kit.Request) error {
	draft := account.ReadNewPassword(req.Input())
	user, err := s.Accounts.UsePasswordLink(req.Context(), req.PathValue("link"), draft, req.Visitor())
	if err != nil {
		return s.gone(req, req.Again(err, s.PasswordForm), gonePasswordLink)
	}
	credentials := account.Credentials{Email: user.Email, Password: req.PostFormValue("password")}
	in, err := s.Accounts.SignIn(req.Context(), credentials, req.Visitor())
	if kit.Refused(err) { // too many sign-ins: the password is set all the same
		return req.Done("/login", "The password is set. Sign in with it.")
	}
	if err != nil {
		return err
	}
	page.Say(req.Writer, req.Request, "The password is set.")
	return s.enter(req, in, "/")
}

// gone explains a link that no longer works; other errors stay what they are.
func (s *Pages) gone(req *kit.Request, err error, text string) error {
	if err == nil || fault.KindOf(err) != fault.KindNotFound {
		return err
	}
	return s.public(req, "gone", "This link no longer works", err, text)
}

type forgotData struct {
	Form *page.Form
	Sent bool
}

// ForgotPage asks for the address to send a link to.
func (s *Pages) ForgotPage(req *kit.Request) error {
	if !s.Accounts.SendsMail() {
		return fault.NotFound("page")
	}
	return s.public(req, "forgot", "Forgot the password", nil, forgotData{Form: page.NewForm()})
}

// Forgot answers the same whether the address is known or not.
func (s *Pages) Forgot(req *kit.Request) error {
	err := s.Accounts.Forget(req.Context(), account.ReadEmail(req.Input()), req.Visitor())
	if err != nil && !kit.Refused(err) {
		return err
	}
	return s.public(req, "forgot", "Forgot the password", err, forgotData{page.Sent(req.Request, err), err == nil})
}

const goneAddressLink = "This link was used or has run out."

// AddressPage shows what a link to an e-mail address does.
func (s *Pages) AddressPage(req *kit.Request) error {
	link, err := s.Accounts.FindAddressLink(req.Context(), req.PathValue("link"))
	if err != nil {
		return s.gone(req, err, goneAddressLink)
	}
	return s.public(req, "address", "Your e-mail address", nil, link)
}

// UseAddressLink does what a link to an e-mail address says.
func (s *Pages) UseAddressLink(req *kit.Request) error {
	link, err := s.Accounts.UseAddressLink(req.Context(), req.PathValue("link"), req.Visitor())
	switch {
	case err != nil:
		return s.gone(req, err, goneAddressLink)
	case link.Restores != "":
		return req.Done("/password/"+link.Password, "You sign in with %s again. Choose another password now.", link.Restores)
	case link.Release:
		return req.Done("/login", "%s is free now. Whoever creates an account may use it.", link.User.Email)
	}
	return req.Done("/login", "%s is confirmed.", link.User.Email)
}

// ConfirmAddress sends a link to the address of the user.
func (s *Pages) ConfirmAddress(req *kit.Request) error {
	return req.Did(s.Accounts.ConfirmAddress(req.Context(), req.Visit), "/profile", "A link was sent to %s.", req.User.Email)
}

// ChangeEmail changes the address of the user.
func (s *Pages) ChangeEmail(req *kit.Request) error {
	err := s.Accounts.ChangeEmail(req.Context(), req.Visit, account.ReadEmail(req.Input()))
	return req.Sent(err, func(req *kit.Request, form *page.Form, refusal error) error {
		return s.profilePage(req, profileData{Email: form}, refusal)
	}, "/profile", "You sign in with %s from now on.", req.PostFormValue("email"))
}

type profileData struct {
	Form     *page.Form // of the password
	Off      *page.Form // of switching the second factor off
	Email    *page.Form // of another address
	Mail     bool       // there is a mail server
	Known    bool       // the address is confirmed
	Sessions []sessionRow
	Factor   bool
	Recovery int
	Role     string
}

type sessionRow struct {
	account.Session
	Seen, Device string
	Current      bool
}

// Profile shows the account of the user.
func (s *Pages) Profile(req *kit.Request) error { return s.profilePage(req, profileData{}, nil) }

func (s *Pages) profilePage(req *kit.Request, data profileData, refusal error) (err error) {
	for _, one := range kit.Read(req, s.Accounts.Sessions) {
		seen := req.Lang.Ago(one.SeenAt, s.DB.Now())
		data.Sessions = append(data.Sessions, sessionRow{one, seen, device(one.Agent), one.ID == req.Session.ID})
	}
	data.Factor, data.Recovery, err = s.Accounts.HasSecondFactor(req.Context(), req.Actor)
	req.Note(err)
	data.Form, data.Off = cmp.Or(data.Form, page.NewForm()), cmp.Or(data.Off, page.NewForm())
	data.Email = cmp.Or(data.Email, page.NewForm("email", req.User.Email))
	data.Mail, data.Known = s.Accounts.SendsMail(), kit.Read(req, s.Accounts.AddressConfirmed)
	data.Role = kit.Word(req.Lang, string(req.User.Role))
	return req.ShowForm("profile", "My account", refusal, data)
}

// device makes of what a browser calls itself what a person would call it.
func device(agent string) string {
	first := func(names ...string) string {
		for _, name := range names {
			word, shown, _ := strings.Cut(name, "=")
			if strings.Contains(agent, word) {
				return cmp.Or(shown, word)
			}
		}
		return ""
	}
	browser := first("Edg=Edge", "OPR=Opera", "Firefox", "Chrome", "CriOS=Chrome", "Safari", "curl")
	system := first("Android", "iPhone", "iPad", "Windows", "Macintosh=macOS", "CrOS=ChromeOS", "Linux")
	if browser == "" || system == "" {
		return cmp.Or(browser, system, agent)
	}
	return browser + " · " + system
}

// ChangePassword changes the password of the user.
func (s *Pages) ChangePassword(req *kit.Request) error {
	err := s.Accounts.ChangePassword(req.Context(), req.Visit, account.ReadPasswordChange(req.Input()))
	return req.Sent(err, func(req *kit.Request, form *page.Form, refusal error) error {
		return s.profilePage(req, profileData{Form: form}, refusal)
	}, "/profile", "The password was changed. Other sessions were ended.")
}

type factorData struct {
	Form   *page.Form
	Factor account.Factor
	QR     template.HTML
	Codes  []string // recovery codes, this once
}

// SecondFactor shows the code to scan.
func (s *Pages) SecondFactor(req *kit.Request, form *page.Form, refusal error) error {
	factor, err := s.Accounts.BeginSecondFactor(req.Context(), req.Actor)
	if err != nil {
		return req.Complain("/profile", err)
	}
	data := factorData{Form: cmp.Or(form, page.NewForm()), Factor: factor, QR: req.QR(factor.URL)}
	return req.ShowForm("second_factor", "Second factor", refusal, data)
}

// ConfirmSecondFactor switches the second factor on, and shows its recovery codes.
func (s *Pages) ConfirmSecondFactor(req *kit.Request) error {
	codes, err := s.Accounts.ConfirmSecondFactor(req.Context(), req.Visit, account.ReadCode(req.Input()))
	if err != nil {
		return req.Again(err, s.SecondFactor)
	}
	return req.Show("recovery", "Recovery codes", codes)
}

// DropSecondFactor switches the second factor off.
func (s *Pages) DropSecondFactor(req *kit.Request) error {
	err := s.Accounts.DropSecondFactor(req.Context(), req.Actor, account.ReadPasswordProof(req.Input()))
	return req.Sent(err, func(req *kit.Request, form *page.Form, refusal error) error {
		return s.profilePage(req, profileData{Off: form}, refusal)
	}, "/profile", "The second factor is off.")
}
