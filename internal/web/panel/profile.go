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

func (s *Server) profile(q *request) error {
	return s.profilePage(q, profileData{Form: page.NewForm(), Off: page.NewForm()}, nil)
}

func (s *Server) profilePage(q *request, d profileData, refusal error) error {
	list, err := s.Accounts.Sessions(q.Context(), q.Actor)
	if err != nil {
		return err
	}
	for _, one := range list {
		d.Sessions = append(d.Sessions, sessionRow{one, q.lang.Ago(one.SeenAt, s.DB.Now()), device(one.Agent), one.ID == q.Session.ID})
	}
	if d.Factor, d.Recovery, err = s.Accounts.HasSecondFactor(q.Context(), q.Actor); err != nil {
		return err
	}
	d.Role = word(q.lang, string(q.User.Role))
	return s.show(q, page.View{Name: "profile", Title: "My account", Status: statusOf(refusal), Data: d})
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

func (s *Server) changePassword(q *request) error {
	err := s.Accounts.ChangePassword(q.Context(), q.Visit, account.ReadPasswordChange(q.form()))
	if refused(err) {
		return s.profilePage(q, profileData{Form: page.Sent(q.Request, err), Off: page.NewForm()}, err)
	}
	if err != nil {
		return err
	}
	return q.done("/profile", "The password was changed. Other sessions were ended.")
}

func (s *Server) endSession(q *request) error {
	if err := s.Accounts.EndSession(q.Context(), q.Actor, q.id); err != nil {
		return err
	}
	return q.done("/profile", "The session was ended.")
}

type factorData struct {
	Form   *page.Form
	Factor account.Factor
	QR     template.HTML
	Codes  []string // recovery codes, this once
}

func (s *Server) secondFactor(q *request) error { return s.factorPage(q, page.NewForm(), nil) }

func (s *Server) factorPage(q *request, form *page.Form, refusal error) error {
	f, err := s.Accounts.BeginSecondFactor(q.Context(), q.Actor)
	if err != nil {
		return q.complain("/profile", err)
	}
	qr, err := page.QR(f.URL)
	if err != nil {
		return err
	}
	return s.show(q, page.View{
		Name: "second_factor", Title: "Second factor", Status: statusOf(refusal), Data: factorData{Form: form, Factor: f, QR: qr},
	})
}

func (s *Server) confirmSecondFactor(q *request) error {
	codes, err := s.Accounts.ConfirmSecondFactor(q.Context(), q.Actor, account.ReadCode(q.form()))
	if refused(err) {
		return s.factorPage(q, page.Sent(q.Request, err), err)
	}
	if err != nil {
		return err
	}
	return s.show(q, page.View{Name: "recovery", Title: "Recovery codes", Data: codes})
}

func (s *Server) dropSecondFactor(q *request) error {
	err := s.Accounts.DropSecondFactor(q.Context(), q.Actor, account.ReadPasswordProof(q.form()))
	if refused(err) {
		return s.profilePage(q, profileData{Form: page.NewForm(), Off: page.Sent(q.Request, err)}, err)
	}
	if err != nil {
		return err
	}
	return q.done("/profile", "The second factor is off.")
}
