package panel

import (
	"cmp"

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

// tokens shows the tokens, and the form of a new one.
func (s *Server) tokens(req *request, form *page.Form, refusal error) error {
	return s.tokensPage(req, tokensData{Form: cmp.Or(form, page.NewForm())}, refusal)
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
		req.option(string(account.ScopeFull), "Read and change everything"), req.option(string(account.ScopeRead), "Only read"),
	}
	if data.Made != "" {
		data.Curl = "curl -H 'Authorization: Bearer " + data.Made + "' '" + s.PublicURL + "/api/v1/customers?per_page=3'"
	}
	return s.showForm(req, "tokens", "API tokens", refusal, data)
}

func (s *Server) createToken(req *request) error {
	t, plain, err := s.Accounts.CreateToken(req.Context(), req.Actor, account.ReadNewToken(req.form()))
	if err != nil {
		return req.again(err, s.tokens)
	}
	return s.tokensPage(req, tokensData{Form: page.NewForm(), Made: plain, Name: t.Name}, nil)
}

func askDeleteToken(t account.Token) page.Confirm {
	return page.Confirm{
		Question: "Delete the token %s?", Args: []any{t.Name}, Danger: true, Button: "Delete token", Back: "/api",
		Effects: []string{"The very next call with it fails.", "This cannot be undone."},
	}
}

func (s *Server) deleteToken(req *request) error {
	return req.did(s.Accounts.DeleteToken(req.Context(), req.Actor, req.id), "/api", "The token was deleted.")
}
