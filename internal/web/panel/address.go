package panel

import (
	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/web/page"
)

type forgotData struct {
	Form *page.Form
	Sent bool
}

func (s *Server) forgotPage(req *request) error {
	if !s.Accounts.SendsMail() {
		return fault.NotFound("page")
	}
	return s.public(req, page.View{
		Name:  "forgot",
		Title: "Forgot the password",
		Data:  forgotData{Form: page.NewForm()},
	})
}

// forgot answers the same whether the address is known or not.
func (s *Server) forgot(req *request) error {
	err := s.Accounts.Forget(req.Context(), account.ReadEmail(req.form()), visitor(req.Request))
	if err != nil && !refused(err) {
		return err
	}
	return s.public(req, page.View{
		Name:   "forgot",
		Title:  "Forgot the password",
		Status: statusOf(err),
		Data:   forgotData{page.Sent(req.Request, err), err == nil},
	})
}

const goneAddressLink = "This link was used or has run out."

func (s *Server) addressPage(req *request) error {
	link, err := s.Accounts.FindAddressLink(req.Context(), req.PathValue("link"))
	if err != nil {
		return s.gone(req, err, goneAddressLink)
	}
	return s.public(req, page.View{Name: "address", Title: "Your e-mail address", Data: link})
}

func (s *Server) useAddressLink(req *request) error {
	link, err := s.Accounts.UseAddressLink(req.Context(), req.PathValue("link"), visitor(req.Request))
	switch {
	case err != nil:
		return s.gone(req, err, goneAddressLink)
	case link.Release:
		return req.done("/login", "%s is free now. Whoever creates an account may use it.", link.User.Email)
	}
	return req.done("/login", "%s is confirmed.", link.User.Email)
}

func (s *Server) confirmAddress(req *request) error {
	if err := s.Accounts.ConfirmAddress(req.Context(), req.Visit); err != nil {
		return req.complain("/profile", err)
	}
	return req.done("/profile", "A link was sent to %s.", req.User.Email)
}

func (s *Server) changeEmail(req *request) error {
	err := s.Accounts.ChangeEmail(req.Context(), req.Visit, account.ReadEmailChange(req.form()))
	if refused(err) {
		return s.profilePage(
			req,
			profileData{
				Form:  page.NewForm(),
				Off:   page.NewForm(),
				Email: page.Sent(req.Request, err),
			},
			err,
		)
	}
	if err != nil {
		return err
	}
	return req.done("/profile", "You sign in with %s from now on.", req.PostFormValue("email"))
}
