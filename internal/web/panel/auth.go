package panel

import (
	"cmp"
	"html/template"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/config"
	"carteira/internal/platform/fault"
	"carteira/internal/web/page"
)

// public shows a page outside the panel's frame, with the status of a refusal.
func (s *Server) public(req *request, name, title string, refusal error, data any) error {
	s.pages.Render(req.w, req.Request, page.View{Name: name, Title: title, Status: statusOf(refusal), Data: data})
	return nil
}

type loginData struct {
	Form *page.Form
	Next string
	Mail bool // there is a mail server: a forgotten password can be asked for
}

func (s *Server) loginPage(req *request) error {
	_, err := s.Accounts.Authenticate(req.Context(), token(req.Request), visitor(req.Request))
	if err == nil {
		return req.goOn(page.LocalPath(req.URL.Query().Get("next")))
	}
	return s.loginForm(req, nil, nil)
}

func (s *Server) loginForm(req *request, form *page.Form, refusal error) error {
	data := loginData{cmp.Or(form, page.NewForm()), req.FormValue("next"), s.Accounts.SendsMail()}
	return s.public(req, "login", "Sign in", refusal, data)
}

func (s *Server) login(req *request) error {
	in, err := s.Accounts.SignIn(req.Context(), account.ReadCredentials(req.form()), visitor(req.Request))
	if err != nil {
		return req.again(err, s.loginForm)
	}
	return s.enter(req, in, page.LocalPath(req.PostFormValue("next")))
}

// enter begins the session of who has signed in, and asks for the code where there is
// a second factor.
func (s *Server) enter(req *request, in account.SignedIn, next string) error {
	if err := s.Accounts.EndFormer(req.Context(), token(req.Request)); err != nil {
		return err
	}
	req.remember(in)
	if in.NeedsCode {
		next = "/login/code?next=" + urlQuery(next)
	}
	return req.goOn(next)
}

func (s *Server) codeForm(req *request, form *page.Form, refusal error) error {
	data := loginData{Form: cmp.Or(form, page.NewForm()), Next: req.FormValue("next")}
	return s.public(req, "code", "Second factor", refusal, data)
}

func (s *Server) code(req *request) error {
	in, err := s.Accounts.ConfirmCode(req.Context(), token(req.Request), account.ReadCode(req.form()), visitor(req.Request))
	if err != nil {
		return req.again(err, s.codeForm)
	}
	req.remember(in)
	return req.goOn(page.LocalPath(req.PostFormValue("next")))
}

func (s *Server) logout(req *request) error {
	if err := s.Accounts.SignOut(req.Context(), req.Visit); err != nil {
		return err
	}
	req.setCookie(sessionCookie, "", -time.Second)
	return req.goOn("/login")
}

type setupData struct {
	Form  *page.Form
	Zones []page.Option
	Reach config.Reach
	URL   string // the public address
}

const goneSetupLink = "This set-up link was used or has run out. Sign in, or start the server again for a new one."

func (s *Server) setupForm(req *request, form *page.Form, refusal error) error {
	if form == nil {
		if err := s.Accounts.SetupWorks(req.Context(), req.PathValue("link")); err != nil {
			return s.gone(req, err, goneSetupLink)
		}
		form = page.NewForm("timezone", account.DefaultTimezone)
	}
	return s.public(req, "setup", "Welcome to Carteira", refusal, setupData{form, zoneOptions(""), s.Reach, s.PublicURL})
}

func (s *Server) setup(req *request) error {
	in, err := s.Accounts.Setup(req.Context(), req.PathValue("link"), account.ReadSetup(req.form()), visitor(req.Request))
	if err != nil {
		return s.gone(req, req.again(err, s.setupForm), goneSetupLink)
	}
	req.remember(in)
	return req.done("/", "The company is ready. Begin with what you sell: a plan.")
}

type passwordData struct {
	Form        *page.Form
	Name, Email string
}

const gonePasswordLink = "This link was used or has run out. Ask an owner of the company for a new one."

func (s *Server) passwordForm(req *request, form *page.Form, refusal error) error {
	user, err := s.Accounts.LinkedUser(req.Context(), req.PathValue("link"))
	if err != nil && form == nil {
		return s.gone(req, err, gonePasswordLink)
	}
	data := passwordData{cmp.Or(form, page.NewForm()), user.Name, user.Email} // who cannot be found is not greeted
	return s.public(req, "password", "Choose a password", refusal, data)
}

func (s *Server) password(req *request) error {
	draft := account.ReadNewPassword(req.form())
	user, err := s.Accounts.UsePasswordLink(req.Context(), req.PathValue("link"), draft, visitor(req.Request))
	if err != nil {
		return s.gone(req, req.again(err, s.passwordForm), gonePasswordLink)
	}
	credentials := account.Credentials{Email: user.Email, Password: req.PostFormValue("password")}
	in, err := s.Accounts.SignIn(req.Context(), credentials, visitor(req.Request))
	if refused(err) { // too many sign-ins: the password is set all the same
		return req.done("/login", "The password is set. Sign in with it.")
	}
	if err != nil {
		return err
	}
	page.Say(req.w, req.Request, "The password is set.")
	return s.enter(req, in, "/")
}

// gone explains a link that no longer works; other errors stay what they are.
func (s *Server) gone(req *request, err error, text string) error {
	if err == nil || fault.KindOf(err) != fault.KindNotFound {
		return err
	}
	return s.public(req, "gone", "This link no longer works", err, text)
}

type forgotData struct {
	Form *page.Form
	Sent bool
}

func (s *Server) forgotPage(req *request) error {
	if !s.Accounts.SendsMail() {
		return fault.NotFound("page")
	}
	return s.public(req, "forgot", "Forgot the password", nil, forgotData{Form: page.NewForm()})
}

// forgot answers the same whether the address is known or not.
func (s *Server) forgot(req *request) error {
	err := s.Accounts.Forget(req.Context(), account.ReadEmail(req.form()), visitor(req.Request))
	if err != nil && !refused(err) {
		return err
	}
	return s.public(req, "forgot", "Forgot the password", err, forgotData{page.Sent(req.Request, err), err == nil})
}

const goneAddressLink = "This link was used or has run out."

func (s *Server) addressPage(req *request) error {
	link, err := s.Accounts.FindAddressLink(req.Context(), req.PathValue("link"))
	if err != nil {
		return s.gone(req, err, goneAddressLink)
	}
	return s.public(req, "address", "Your e-mail address", nil, link)
}

func (s *Server) useAddressLink(req *request) error {
	link, err := s.Accounts.UseAddressLink(req.Context(), req.PathValue("link"), visitor(req.Request))
	switch {
	case err != nil:
		return s.gone(req, err, goneAddressLink)
	case link.Restores != "":
		return req.done("/password/"+link.Password, "You sign in with %s again. Choose another password now.", link.Restores)
	case link.Release:
		return req.done("/login", "%s is free now. Whoever creates an account may use it.", link.User.Email)
	}
	return req.done("/login", "%s is confirmed.", link.User.Email)
}

func (s *Server) confirmAddress(req *request) error {
	return req.did(s.Accounts.ConfirmAddress(req.Context(), req.Visit), "/profile", "A link was sent to %s.", req.User.Email)
}

func (s *Server) changeEmail(req *request) error {
	err := s.Accounts.ChangeEmail(req.Context(), req.Visit, account.ReadEmailChange(req.form()))
	return req.sent(err, func(req *request, form *page.Form, refusal error) error {
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

func (s *Server) profile(req *request) error { return s.profilePage(req, profileData{}, nil) }

func (s *Server) profilePage(req *request, data profileData, refusal error) (err error) {
	for _, one := range read(req, s.Accounts.Sessions) {
		seen := req.lang.Ago(one.SeenAt, s.DB.Now())
		data.Sessions = append(data.Sessions, sessionRow{one, seen, device(one.Agent), one.ID == req.Session.ID})
	}
	data.Factor, data.Recovery, err = s.Accounts.HasSecondFactor(req.Context(), req.Actor)
	req.note(err)
	data.Form, data.Off = cmp.Or(data.Form, page.NewForm()), cmp.Or(data.Off, page.NewForm())
	data.Email = cmp.Or(data.Email, page.NewForm("email", req.User.Email))
	data.Mail, data.Known = s.Accounts.SendsMail(), read(req, s.Accounts.AddressConfirmed)
	data.Role = word(req.lang, string(req.User.Role))
	return req.showForm("profile", "My account", refusal, data)
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

func (s *Server) changePassword(req *request) error {
	err := s.Accounts.ChangePassword(req.Context(), req.Visit, account.ReadPasswordChange(req.form()))
	return req.sent(err, func(req *request, form *page.Form, refusal error) error {
		return s.profilePage(req, profileData{Form: form}, refusal)
	}, "/profile", "The password was changed. Other sessions were ended.")
}

type factorData struct {
	Form   *page.Form
	Factor account.Factor
	QR     template.HTML
	Codes  []string // recovery codes, this once
}

func (s *Server) secondFactor(req *request, form *page.Form, refusal error) error {
	factor, err := s.Accounts.BeginSecondFactor(req.Context(), req.Actor)
	if err != nil {
		return req.complain("/profile", err)
	}
	data := factorData{Form: cmp.Or(form, page.NewForm()), Factor: factor, QR: req.qr(factor.URL)}
	return req.showForm("second_factor", "Second factor", refusal, data)
}

func (s *Server) confirmSecondFactor(req *request) error {
	codes, err := s.Accounts.ConfirmSecondFactor(req.Context(), req.Visit, account.ReadCode(req.form()))
	if err != nil {
		return req.again(err, s.secondFactor)
	}
	return req.show("recovery", "Recovery codes", codes)
}

func (s *Server) dropSecondFactor(req *request) error {
	err := s.Accounts.DropSecondFactor(req.Context(), req.Actor, account.ReadPasswordProof(req.form()))
	return req.sent(err, func(req *request, form *page.Form, refusal error) error {
		return s.profilePage(req, profileData{Off: form}, refusal)
	}, "/profile", "The second factor is off.")
}
