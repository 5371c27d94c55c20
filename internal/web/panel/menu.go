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
	function account.Function
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
		{"Payments", "/payments", "wallet", viewer, payments},
		{"Messages", "/messages", "message-circle", reader, reminders},
	}},
	{"What you sell", []entry{
		{"Plans", "/plans", "layers", reader, basic},
		{"Products", "/products", "package", reader, basic},
	}},
	{"Resale", []entry{
		{"Resellers", "/resellers", "store", viewer, resellers},
		{"Subscription plans", "/subscription-plans", "tag", viewer, resellers},
		{"Credits", "/credits", "coins", viewer, basic},
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
	Desk    bool // may work with customers
	Staff   bool // may change what is not an owner's
	Totals  bool // may see totals and take lists along
	Owner   bool
	Manage  bool // an owner who may change things
	Notice  *notice
}

// May tells a template whether the company's plan has a function.
func (f frame) May(name account.Function) bool {
	return f.Company.Subscription.Functions.Has(name)
}

type shownGroup struct {
	Label   string
	Entries []shownEntry
}

type shownEntry struct {
	entry
	Current bool
	Locked  bool // the plan lacks it: it leads to the page that says so
	Badge   badge
}

func (s *Server) frame(req *request) (frame, error) {
	live := req.Actor.Writable(req.today) == nil
	f := frame{
		User:    req.User,
		Company: req.Actor.Company,
		Desk:    live && allows(req.User.Role, desk),
		Staff:   live && allows(req.User.Role, staff),
		Totals:  allows(req.User.Role, viewer),
		Owner:   allows(req.User.Role, owner),
	}
	f.Manage = live && f.Owner
	badges, err := s.badges(req)
	if err != nil {
		return f, err
	}
	for _, group := range menu {
		shown := shownGroup{Label: group.Label}
		for _, entry := range group.Entries {
			if allows(req.User.Role, entry.role) && req.Actor.Company.Level.AtLeast(lowest[entry.function]) {
				shown.Entries = append(
					shown.Entries,
					shownEntry{
						entry, within(req.URL.Path, entry.Path), !req.Actor.May(entry.function), badges[entry.Path],
					},
				)
			}
		}
		if len(shown.Entries) > 0 {
			f.Groups = append(f.Groups, shown)
		}
	}
	f.Notice, err = s.notice(req)
	return f, err
}

// within tells whether a page belongs to an entry of the menu.
func within(path, entry string) bool {
	return path == entry || entry != "/" && strings.HasPrefix(path, entry+"/")
}
