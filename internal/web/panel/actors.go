package panel

import (
	"slices"
	"strings"

	"carteira/internal/account"
	"carteira/internal/web/page"
)

// actorNames are the names of the company's users and tokens by what Actor.By
// calls them. It reads users and tokens only where one of the list needs them.
func (s *Server) actorNames(request *request, by []string) (map[string]string, error) {
	names := map[string]string{}
	needs := func(prefix string) bool {
		return slices.ContainsFunc(by, func(who string) bool {
			return strings.HasPrefix(who, prefix)
		})
	}
	if needs("user:") {
		users, err := s.Accounts.Users(request.Context(), request.Actor)
		if err != nil {
			return nil, err
		}
		for _, user := range users {
			names[account.Actor{UserID: user.ID}.By()] = user.Name
		}
	}
	if needs("token:") {
		tokens, err := s.Accounts.Tokens(request.Context(), request.Actor)
		if err != nil {
			return nil, err
		}
		for _, token := range tokens {
			names[account.Actor{TokenID: token.ID}.By()] = "API · " + token.Name
		}
	}
	return names, nil
}

// actorText is the name of an actor in a record. Records of the first edition
// have "user 3 Ana Lima" in place of "user:3".
func actorText(lang page.Lang, names map[string]string, by string) string {
	if name, known := names[by]; known {
		return name
	}
	kind, rest, _ := strings.Cut(by, " ")
	id, name, _ := strings.Cut(rest, " ")
	switch {
	case by == "":
		return ""
	case strings.HasPrefix(by, "user:"):
		return lang.T("a user who was removed")
	case strings.HasPrefix(by, "token:"):
		return lang.T("a token that was deleted")
	case kind == "token":
		return lang.T("token %s", id)
	case kind == "user" && name != "":
		return name
	case kind == "user":
		return lang.T("user %s", id)
	}
	return lang.T(account.CommandLine)
}
