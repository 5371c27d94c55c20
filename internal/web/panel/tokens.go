package panel

import (
	"carteira/internal/account"
	"carteira/internal/web/page"
)

type tokensData struct {
	Form *page.Form
	List []tokenRow
	Made string // the text of a new one, this once
	Name string
	Curl string // a call that works when pasted

	Scopes []page.Option
}

type tokenRow struct {
	account.Token
	Used    string
	Reads   bool // and nothing else
	Expired bool
}

func (s *Server) tokens(req *request) error {
	return s.tokensPage(req, tokensData{Form: page.NewForm()}, nil)
}

func (s *Server) tokensPage(req *request, data tokensData, refusal error) error {
	list, err := s.Accounts.Tokens(req.Context(), req.Actor)
	if err != nil {
		return err
	}
	for _, t := range list {
		data.List = append(data.List, tokenRow{
			t, req.lang.Ago(t.LastUsedAt, s.DB.Real()), t.Scope == account.ScopeRead, t.Expired(s.DB.Real()),
		})
	}
	data.Scopes = []page.Option{
		{Value: string(account.ScopeFull), Label: req.lang.T("Read and change everything")},
		{Value: string(account.ScopeRead), Label: req.lang.T("Only read")},
	}
	if data.Made != "" {
		data.Curl = "curl -H 'Authorization: Bearer " + data.Made + "' '" + s.PublicURL + "/api/v1/customers?per_page=3'"
	}
	return s.show(req, page.View{Name: "tokens", Title: "API tokens", Status: statusOf(refusal), Data: data})
}

func (s *Server) createToken(req *request) error {
	t, plain, err := s.Accounts.CreateToken(req.Context(), req.Actor, account.ReadNewToken(req.form()))
	if refused(err) {
		return s.tokensPage(req, tokensData{Form: page.Sent(req.Request, err)}, err)
	}
	if err != nil {
		return err
	}
	return s.tokensPage(req, tokensData{Form: page.NewForm(), Made: plain, Name: t.Name}, nil)
}

func (s *Server) askDeleteToken(req *request) error {
	t, err := s.Accounts.Token(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	return s.ask(req, page.Confirm{
		Question: "Delete the token %s?",
		Args:     []any{t.Name},
		Danger:   true,
		Button:   "Delete token",
		Back:     "/api",
		Action:   "/api/tokens/" + idText(t.ID) + "/delete",
		Effects:  []string{"The very next call with it fails.", "This cannot be undone."},
	})
}

func (s *Server) deleteToken(req *request) error {
	if err := s.Accounts.DeleteToken(req.Context(), req.Actor, req.id); err != nil {
		return err
	}
	return req.done("/api", "The token was deleted.")
}
