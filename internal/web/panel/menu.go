package panel

import (
	"strings"

	"carteira/internal/account"
	"carteira/internal/platform/config"
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
	unused  unused // nil: every company uses it
}

// unused reports whether a company has never made use of what a group leads to.
// Its entries are folded away then, until somebody opens them.
type unused func(s *Server, req *request) (bool, error)

// resellsNothing is unused for the pages of resellers.
func resellsNothing(s *Server, req *request) (bool, error) {
	resells, err := s.Resellers.Resells(req.Context(), req.Actor)
	return !resells, err
}

// menu is all of it, in order. A new part of the panel adds its entry here.
var menu = []group{
	{Entries: []entry{
		{"Home", "/", "house", reader, basic},
		{"Customers", "/customers", "users", reader, basic},
		{"Invoices", "/invoices", "receipt", reader, basic},
		{"Payments", "/payments", "wallet", viewer, payments},
		{"Messages", "/messages", "message-circle", reader, reminders},
	}},
	{Label: "What you sell", Entries: []entry{
		{"Plans", "/plans", "layers", reader, basic},
		{"Products", "/products", "package", reader, basic},
	}},
	{Label: "Resale", unused: resellsNothing, Entries: []entry{
		{"Resellers", "/resellers", "store", viewer, resellers},
		{"Subscription plans", "/subscription-plans", "tag", viewer, resellers},
		{"Credits", "/credits", "coins", viewer, basic},
	}},
	{Label: "Integration", Entries: []entry{
		{"API tokens", "/api", "key-round", owner, api},
		{"Webhooks", "/webhooks", "webhook", owner, webhooks},
	}},
	{Label: "Company", Entries: []entry{
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
	Reach   config.Reach // what keeps customers from opening links
}

// May tells a template whether the company's plan has a function.
func (f frame) May(name account.Function) bool {
	return f.Company.Subscription.Functions.Has(name)
}

type shownGroup struct {
	Label   string
	Folded  bool
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
		Reach:   s.Reach,
	}
	f.Manage = live && f.Owner
	badges, err := s.badges(req)
	if err != nil {
		return f, err
	}
	for _, group := range menu {
		shown, err := s.shownGroup(req, group, badges)
		if err != nil {
			return f, err
		}
		if len(shown.Entries) > 0 {
			f.Groups = append(f.Groups, shown)
		}
	}
	f.Notice, err = s.notice(req)
	return f, err
}

// shownGroup is what a user sees of a group. The group of the page that is shown
// is never folded.
func (s *Server) shownGroup(req *request, group group, badges map[string]badge) (shownGroup, error) {
	shown, current := shownGroup{Label: group.Label}, false
	for _, entry := range group.Entries {
		if !allows(req.User.Role, entry.role) || !req.Actor.Company.Level.AtLeast(lowest[entry.function]) {
			continue
		}
		here := within(req.URL.Path, entry.Path)
		current = current || here
		shown.Entries = append(shown.Entries, shownEntry{entry, here, !req.Actor.May(entry.function), badges[entry.Path]})
	}
	if group.unused == nil || current || len(shown.Entries) == 0 {
		return shown, nil
	}
	var err error
	shown.Folded, err = group.unused(s, req)
	return shown, err
}

// within tells whether a page belongs to an entry of the menu.
func within(path, entry string) bool {
	return path == entry || entry != "/" && strings.HasPrefix(path, entry+"/")
}
