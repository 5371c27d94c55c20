package panel

import (
	"net/http"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/web/page"
)

// public shows a page outside the panel's frame.
func (s *Server) public(q *request, v page.View) error {
	s.pages.Render(q.w, q.Request, v)
	return nil
}

type loginData struct {
	Form *page.Form
	Next string
}

func (s *Server) loginPage(q *request) error {
	if _, err := s.Accounts.Authenticate(q.Context(), token(q.Request), visitor(q.Request)); err == nil {
		page.Go(q.w, q.Request, page.LocalPath(q.URL.Query().Get("next")))
		return nil
	}
	return s.public(q, page.View{Name: "login", Title: "Sign in", Data: loginData{page.NewForm(), q.URL.Query().Get("next")}})
}

func (s *Server) login(q *request) error {
	in, err := s.Accounts.SignIn(q.Context(), account.ReadCredentials(q.form()), visitor(q.Request))
	if refused(err) {
		return s.public(q, page.View{
			Name: "login", Title: "Sign in", Status: statusOf(err), Data: loginData{page.Sent(q.Request, err), q.PostFormValue("next")},
		})
	}
	if err != nil {
		return err
	}
	q.remember(in.Token)
	next := page.LocalPath(q.PostFormValue("next"))
	if in.NeedsCode {
		next = "/login/code?next=" + urlQuery(next)
	}
	page.Go(q.w, q.Request, next)
	return nil
}

func (s *Server) codePage(q *request) error {
	return s.public(q, page.View{Name: "code", Title: "Second factor", Data: loginData{page.NewForm(), q.URL.Query().Get("next")}})
}

func (s *Server) code(q *request) error {
	in, err := s.Accounts.ConfirmCode(q.Context(), token(q.Request), account.ReadCode(q.form()), visitor(q.Request))
	if refused(err) {
		return s.public(q, page.View{
			Name: "code", Title: "Second factor", Status: statusOf(err), Data: loginData{page.Sent(q.Request, err), q.PostFormValue("next")},
		})
	}
	if err != nil {
		return err
	}
	q.remember(in.Token)
	page.Go(q.w, q.Request, page.LocalPath(q.PostFormValue("next")))
	return nil
}

func (s *Server) logout(q *request) error {
	if err := s.Accounts.SignOut(q.Context(), q.Visit); err != nil {
		return err
	}
	q.forget()
	page.Go(q.w, q.Request, "/login")
	return nil
}

type setupData struct {
	Form  *page.Form
	Zones []page.Option
}

func (s *Server) setupPage(q *request) error {
	if err := s.Accounts.SetupWorks(q.Context(), q.PathValue("link")); err != nil {
		return s.gone(q, err, "This set-up link was used or has run out. Sign in, or start the server again for a new one.")
	}
	return s.public(q, page.View{Name: "setup", Title: "Welcome to Carteira", Data: setupData{page.NewForm("timezone", account.DefaultTimezone), zoneOptions("")}})
}

func (s *Server) setup(q *request) error {
	in, err := s.Accounts.Setup(q.Context(), q.PathValue("link"), account.ReadSetup(q.form()), visitor(q.Request))
	if refused(err) {
		return s.public(q, page.View{Name: "setup", Title: "Welcome to Carteira", Status: statusOf(err), Data: setupData{page.Sent(q.Request, err), zoneOptions("")}})
	}
	if err != nil {
		return s.gone(q, err, "This set-up link was used or has run out. Sign in, or start the server again for a new one.")
	}
	q.remember(in.Token)
	return q.done("/", "The company is ready. Begin with what you sell: a plan.")
}

type passwordData struct {
	Form  *page.Form
	Name  string
	Email string
}

func (s *Server) passwordPage(q *request) error {
	u, err := s.Accounts.LinkedUser(q.Context(), q.PathValue("link"))
	if err != nil {
		return s.gone(q, err, "This link was used or has run out. Ask an owner of the company for a new one.")
	}
	return s.public(q, page.View{Name: "password", Title: "Choose a password", Data: passwordData{page.NewForm(), u.Name, u.Email}})
}

func (s *Server) password(q *request) error {
	u, err := s.Accounts.UsePasswordLink(q.Context(), q.PathValue("link"), account.ReadNewPassword(q.form()), visitor(q.Request))
	if refused(err) {
		u, _ = s.Accounts.LinkedUser(q.Context(), q.PathValue("link")) // what cannot be found is not greeted
		return s.public(q, page.View{
			Name: "password", Title: "Choose a password", Status: statusOf(err), Data: passwordData{page.Sent(q.Request, err), u.Name, u.Email},
		})
	}
	if err != nil {
		return s.gone(q, err, "This link was used or has run out. Ask an owner of the company for a new one.")
	}
	return q.done("/login", "The password is set. Sign in with it.")
}

// gone explains a link that no longer works; other errors stay what they are.
func (s *Server) gone(q *request, err error, text string) error {
	if fault.KindOf(err) != fault.KindNotFound {
		return err
	}
	return s.public(q, page.View{Name: "gone", Title: "This link no longer works", Status: http.StatusNotFound, Data: text})
}
