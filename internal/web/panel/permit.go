package panel

import (
	"net/http"
	"slices"
	"strings"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/web"
	"carteira/internal/web/page"
)

// lowest is the level from which on a company has the pages of a function. All
// others have theirs at every level.
var lowest = map[account.Function]account.Level{resellers: account.LevelReseller}

// outgoing are the routes that call another machine while the browser waits.
// They are counted: a company could make our server call many addresses.
var outgoing = map[string]bool{
	"POST /webhooks/{id}/test":           true,
	"POST /deliveries/{id}/resend":       true,
	"POST /messages/channels/{id}/test":  true,
	"POST /messages/channels/{id}/phone": true,
	"POST /payments/gateway/check":       true,
	"POST /payments/gateway/webhook":     true,
	"POST /payments/gateways/{provider}": true,
}

// takesAway are the routes that take access away, or erase a person as the law
// wants it: a company may always do that, whatever its standing.
var takesAway = map[string]bool{
	"POST /api/tokens/{id}/delete":       true,
	"POST /settings/users/{id}/remove":   true,
	"POST /customers/{id}/page/withdraw": true,
	"POST /customers/{id}/erase":         true,
}

// barrier is what keeps a company from a page.
type barrier string

const (
	byLevel    barrier = "level"
	byPlan     barrier = "plan"     // it lacks the function
	byStanding barrier = "standing" // expired or suspended
)

// permit is the one place where the panel refuses what a company may not do:
// what is above its level, what its plan does not have, and every change when
// its subscription has ended. What people do about themselves (sign out,
// password, sessions, second factor) is never refused.
func (op route) permit(actor account.Actor, today civil.Date) (barrier, error) {
	if op.role == public || op.role == self {
		return "", nil
	}
	if needs := lowest[op.function]; !actor.Company.Level.AtLeast(needs) {
		return byLevel, fault.Forbidden("level: these pages need the level " + string(needs) + " or higher")
	}
	for _, function := range op.functions() {
		if err := actor.Allow(function); err != nil {
			return byPlan, err
		}
	}
	if op.method == http.MethodGet || takesAway[op.pattern()] {
		return "", nil
	}
	return byStanding, actor.Writable(today)
}

// functions are those that a route needs: its own, and the export's where it sends
// a list as a file.
func (op route) functions() []account.Function {
	if strings.HasSuffix(op.path, "/export") {
		return []account.Function{op.function, exports}
	}
	return []account.Function{op.function}
}

// lacking is the first function that a company has not.
func (op route) lacking(actor account.Actor) account.Function {
	for _, function := range op.functions() {
		if !actor.May(function) {
			return function
		}
	}
	return basic
}

type barData struct {
	Barrier  barrier
	Function account.FunctionEntry // that the plan lacks
	Parent   account.Contact
}

// bar shows in the frame of the panel why a page is not for the company, and
// who can help.
func (s *Server) bar(req *request, op route, barrier barrier, why error) error {
	web.ExchangeOf(req.Context()).Err = why
	data := barData{Barrier: barrier}
	i := slices.IndexFunc(account.FunctionCatalog, func(entry account.FunctionEntry) bool {
		return entry.Name == op.lacking(req.Actor)
	})
	if i >= 0 {
		data.Function = account.FunctionCatalog[i]
	}
	var err error
	if data.Parent, err = s.Accounts.Parent(req.Context(), req.Actor); err != nil {
		return err
	}
	return s.show(req, page.View{Name: "barred", Title: barTitles[barrier], Status: web.Status(why), Data: data})
}

var barTitles = map[barrier]string{
	byLevel:    "Your level does not include this",
	byPlan:     "Your plan does not include this",
	byStanding: "Nothing can be changed at the moment",
}

// noticeDays is how long before its end a subscription is spoken of.
const noticeDays = 7

// notice is what every page says about the company's subscription.
type notice struct {
	Standing account.Standing
	Above    bool // a company above this one is stopped, and this one with it
	Trial    bool
	EndsOn   civil.Date
	Days     int // until then
	Parent   account.Contact
}

// notice is nil while there is nothing to say.
func (s *Server) notice(req *request) (*notice, error) {
	sub := req.Actor.Company.Subscription
	n := &notice{Standing: sub.Standing(req.today), Trial: sub.Kind == account.Trial, EndsOn: sub.ExpiresOn}
	live := n.Standing == account.StandingTrial || n.Standing == account.StandingActive
	n.Above = live && sub.StoppedAbove(req.today)
	if live && !n.Above {
		if sub.ExpiresOn.IsZero() {
			return nil, nil // nothing to say
		}
		if n.Days = sub.ExpiresOn.Sub(req.today); n.Days > noticeDays {
			return nil, nil // nothing to say
		}
	}
	var err error
	n.Parent, err = s.Accounts.Parent(req.Context(), req.Actor)
	return n, err
}

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
