package panel

import (
	"cmp"
	"html/template"
	"strings"

	"carteira/internal/account"
	"carteira/internal/web/page"
)

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
	Seen    string
	Device  string
	Current bool
}

func (s *Server) profile(req *request) error { return s.profilePage(req, profileData{}, nil) }

func (s *Server) profilePage(req *request, data profileData, refusal error) error {
	list, err := s.Accounts.Sessions(req.Context(), req.Actor)
	if err != nil {
		return err
	}
	for _, one := range list {
		seen := req.lang.Ago(one.SeenAt, s.DB.Now())
		data.Sessions = append(data.Sessions, sessionRow{one, seen, device(one.Agent), one.ID == req.Session.ID})
	}
	if data.Factor, data.Recovery, err = s.Accounts.HasSecondFactor(req.Context(), req.Actor); err != nil {
		return err
	}
	data.Form, data.Off = cmp.Or(data.Form, page.NewForm()), cmp.Or(data.Off, page.NewForm())
	data.Email = cmp.Or(data.Email, page.NewForm("email", req.User.Email))
	data.Mail = s.Accounts.SendsMail()
	if data.Known, err = s.Accounts.AddressConfirmed(req.Context(), req.Actor); err != nil {
		return err
	}
	data.Role = word(req.lang, string(req.User.Role))
	return s.showForm(req, "profile", "My account", refusal, data)
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

func (s *Server) endSession(req *request) error {
	return req.did(s.Accounts.EndSession(req.Context(), req.Actor, req.id), "/profile", "The session was ended.")
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
	qr, err := page.QR(factor.URL)
	if err != nil {
		return err
	}
	data := factorData{Form: cmp.Or(form, page.NewForm()), Factor: factor, QR: qr}
	return s.showForm(req, "second_factor", "Second factor", refusal, data)
}

func (s *Server) confirmSecondFactor(req *request) error {
	codes, err := s.Accounts.ConfirmSecondFactor(req.Context(), req.Visit, account.ReadCode(req.form()))
	if err != nil {
		return req.again(err, s.secondFactor)
	}
	return s.show(req, page.View{Name: "recovery", Title: "Recovery codes", Data: codes})
}

func (s *Server) dropSecondFactor(req *request) error {
	err := s.Accounts.DropSecondFactor(req.Context(), req.Actor, account.ReadPasswordProof(req.form()))
	return req.sent(err, func(req *request, form *page.Form, refusal error) error {
		return s.profilePage(req, profileData{Off: form}, refusal)
	}, "/profile", "The second factor is off.")
}
