package panel

import (
	"strings"

	"carteira/internal/account"
)

// entry is a line of the menu. It shows to whom the role and the plan allow
// it.
type entry struct {
	Label    string // in English, shown translated
	Path     string
	Icon     string
	role     role
	function string
}

// group is some entries under one heading.
type group struct {
	Label   string
	Entries []entry
}

// menu is all of it, in order. A new part of the panel adds its entry here.
var menu = []group{
	{"", []entry{
		{"Home", "/", "house", reader, basic},
		{"Customers", "/customers", "users", reader, basic},
		{"Invoices", "/invoices", "receipt", reader, basic},
		{"Messages", "/messages", "message-circle", reader, reminders},
	}},
	{"What you sell", []entry{
		{"Plans", "/plans", "layers", reader, basic},
		{"Products", "/products", "package", reader, basic},
	}},
	{"Integration", []entry{
		{"API tokens", "/api", "key-round", owner, api},
		{"Webhooks", "/webhooks", "webhook", owner, webhooks},
	}},
	{"Company", []entry{
		{"Settings", "/settings", "settings", owner, basic},
		{"My account", "/profile", "user", self, basic},
	}},
}

// frame is what the layout needs.
type frame struct {
	Groups  []shownGroup
	User    account.User
	Company account.Company
	Staff   bool // may change things
	Owner   bool
}

type shownGroup struct {
	Label   string
	Entries []shownEntry
}

type shownEntry struct {
	entry
	Current bool
}

func (s *Server) frame(q *request) frame {
	f := frame{User: q.User, Company: q.Actor.Company, Staff: allows(q.User.Role, staff), Owner: allows(q.User.Role, owner)}
	for _, g := range menu {
		shown := shownGroup{Label: g.Label}
		for _, e := range g.Entries {
			if allows(q.User.Role, e.role) && (s.Permit == nil || s.Permit(q.Actor, e.function, false) == nil) {
				shown.Entries = append(shown.Entries, shownEntry{e, within(q.URL.Path, e.Path)})
			}
		}
		if len(shown.Entries) > 0 {
			f.Groups = append(f.Groups, shown)
		}
	}
	return f
}

// within tells whether a page belongs to an entry of the menu.
func within(path, entry string) bool {
	return path == entry || entry != "/" && strings.HasPrefix(path, entry+"/")
}
