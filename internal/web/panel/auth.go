package panel

import (
	"net/http"

	"carteira/internal/account"
	"carteira/internal/platform/config"
	"carteira/internal/platform/fault"
	"carteira/internal/web/page"
)

// public shows a page outside the panel's frame.
func (s *Server) public(req *request, view page.View) error {
	s.pages.Render(req.w, req.Request, view)
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
		page.Go(req.w, req.Request, page.LocalPath(req.URL.Query().Get("next")))
		return nil
	}
	data := loginData{page.NewForm(), req.URL.Query().Get("next"), s.Accounts.SendsMail()}
	return s.public(req, page.View{Name: "login", Title: "Sign in", Data: data})
}

func (s *Server) login(req *request) error {
	in, err := s.Accounts.SignIn(req.Context(), account.ReadCredentials(req.form()), visitor(req.Request))
	if refused(err) {
		data := loginData{page.Sent(req.Request, err), req.PostFormValue("next"), s.Accounts.SendsMail()}
		return s.public(req, page.View{
			Name:   "login",
			Title:  "Sign in",
			Status: statusOf(err),
			Data:   data,
		})
	}
	if err != nil {
		return err
	}
	if err := s.Accounts.EndFormer(req.Context(), token(req.Request)); err != nil {
		return err
	}
	req.remember(in)
	next := page.LocalPath(req.PostFormValue("next"))
	if in.NeedsCode {
		next = "/login/code?next=" + urlQuery(next)
	}
	page.Go(req.w, req.Request, next)
	return nil
}

func (s *Server) codePage(req *request) error {
	data := loginData{Form: page.NewForm(), Next: req.URL.Query().Get("next")}
	return s.public(req, page.View{Name: "code", Title: "Second factor", Data: data})
}

func (s *Server) code(req *request) error {
	in, err := s.Accounts.ConfirmCode(
		req.Context(),
		token(req.Request),
		account.ReadCode(req.form()),
		visitor(req.Request),
	)
	if refused(err) {
		data := loginData{page.Sent(req.Request, err), req.PostFormValue("next"), s.Accounts.SendsMail()}
		return s.public(req, page.View{
			Name:   "code",
			Title:  "Second factor",
			Status: statusOf(err),
			Data:   data,
		})
	}
	if err != nil {
		return err
	}
	req.remember(in)
	page.Go(req.w, req.Request, page.LocalPath(req.PostFormValue("next")))
	return nil
}

func (s *Server) logout(req *request) error {
	if err := s.Accounts.SignOut(req.Context(), req.Visit); err != nil {
		return err
	}
	req.forget()
	page.Go(req.w, req.Request, "/login")
	return nil
}

type setupData struct {
	Form  *page.Form
	Zones []page.Option
	Reach config.Reach
	URL   string // the public address
}

func (s *Server) setupPage(req *request) error {
	if err := s.Accounts.SetupWorks(req.Context(), req.PathValue("link")); err != nil {
		return s.gone(
			req,
			err,
			"This set-up link was used or has run out. Sign in, or start the server again for a new one.",
		)
	}
	return s.public(req, page.View{
		Name: "setup", Title: "Welcome to Carteira",
		Data: setupData{page.NewForm("timezone", account.DefaultTimezone), zoneOptions(""), s.Reach, s.PublicURL},
	})
}

func (s *Server) setup(req *request) error {
	in, err := s.Accounts.Setup(req.Context(), req.PathValue("link"), account.ReadSetup(req.form()), visitor(req.Request))
	if refused(err) {
		return s.public(req, page.View{
			Name: "setup", Title: "Welcome to Carteira", Status: statusOf(err),
			Data: setupData{page.Sent(req.Request, err), zoneOptions(""), s.Reach, s.PublicURL},
		})
	}
	if err != nil {
		return s.gone(
			req,
			err,
			"This set-up link was used or has run out. Sign in, or start the server again for a new one.",
		)
	}
	req.remember(in)
	return req.done("/", "The company is ready. Begin with what you sell: a plan.")
}

type passwordData struct {
	Form  *page.Form
	Name  string
	Email string
}

func (s *Server) passwordPage(req *request) error {
	user, err := s.Accounts.LinkedUser(req.Context(), req.PathValue("link"))
	if err != nil {
		return s.gone(req, err, "This link was used or has run out. Ask an owner of the company for a new one.")
	}
	return s.public(req, page.View{
		Name:  "password",
		Title: "Choose a password",
		Data:  passwordData{page.NewForm(), user.Name, user.Email},
	})
}

func (s *Server) password(req *request) error {
	user, err := s.Accounts.UsePasswordLink(
		req.Context(),
		req.PathValue("link"),
		account.ReadNewPassword(req.form()),
		visitor(req.Request),
	)
	if refused(err) {
		user, _ = s.Accounts.LinkedUser(req.Context(), req.PathValue("link")) // what cannot be found is not greeted
		return s.public(req, page.View{
			Name:   "password",
			Title:  "Choose a password",
			Status: statusOf(err),
			Data:   passwordData{page.Sent(req.Request, err), user.Name, user.Email},
		})
	}
	if err != nil {
		return s.gone(req, err, "This link was used or has run out. Ask an owner of the company for a new one.")
	}
	return req.done("/login", "The password is set. Sign in with it.")
}

// gone explains a link that no longer works; other errors stay what they are.
func (s *Server) gone(req *request, err error, text string) error {
	if fault.KindOf(err) != fault.KindNotFound {
		return err
	}
	return s.public(req, page.View{
		Name:   "gone",
		Title:  "This link no longer works",
		Status: http.StatusNotFound,
		Data:   text,
	})
}
