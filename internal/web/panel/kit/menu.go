package kit

import (
	"net/url"
	"strconv"
	"strings"

	"carteira/internal/account"
	"carteira/internal/platform/config"
	"carteira/internal/platform/input"
	"carteira/internal/web/page"
)

// entry is a line of the menu. It shows if role and plan allow it.
type entry struct {
	Label      string // in English, shown translated
	Path, Icon string
	Role       Role
	Function   account.Function
}

// group is some entries under one heading.
type group struct {
	Label   string
	Entries []entry
	unused  unused // nil: every company uses it
}

// unused reports whether a company has never made use of what a group leads to.
// Its entries are folded away then, until a person opens them.
type unused func(req *Request) bool

// resellsNothing is unused for the pages of resellers.
func resellsNothing(req *Request) bool { return !Read(req, req.panel.Resellers.Resells) }

// Menu is all of it, in order. A new part of the panel adds its entry here.
var Menu = []group{
	{Entries: []entry{
		{"Home", "/", "house", Reader, Basic},
		{"Customers", "/customers", "users", Reader, Basic},
		{"Invoices", "/invoices", "receipt", Reader, Basic},
		{"Payments", "/payments", "wallet", Viewer, Payments},
		{"Messages", "/messages", "message-circle", Reader, Reminders},
	}},
	{Label: "What you sell", Entries: []entry{
		{"Plans", "/plans", "layers", Reader, Basic},
		{"Products", "/products", "package", Reader, Basic},
	}},
	{Label: "Resale", unused: resellsNothing, Entries: []entry{
		{"Resellers", "/resellers", "store", Viewer, Resellers},
		{"Subscription plans", "/subscription-plans", "tag", Viewer, Resellers},
		{"Credits", "/credits", "coins", Viewer, Basic},
	}},
	{Label: "Integration", Entries: []entry{
		{"API tokens", "/api", "key-round", Owner, API},
		{"Webhooks", "/webhooks", "webhook", Owner, Webhooks},
	}},
	{Label: "Company", Entries: []entry{
		{"Settings", "/settings", "settings", Owner, Basic},
		{"My account", "/profile", "user", Self, Basic},
	}},
}

// Frame is what the layout needs.
type Frame struct {
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

// May reports to a template whether the company's plan has a function.
func (f Frame) May(name account.Function) bool {
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
	Badge   Badge
}

func (s *Panel) frame(req *Request) Frame {
	live := req.Actor.Writable(req.Today) == nil
	f := Frame{
		User: req.User, Company: req.Actor.Company, Desk: live && Allows(req.User.Role, Desk),
		Staff: live && Allows(req.User.Role, Staff), Totals: Allows(req.User.Role, Viewer),
		Owner: Allows(req.User.Role, Owner), Reach: s.Reach,
	}
	f.Manage = live && f.Owner
	badges := s.badges(req)
	for _, group := range Menu {
		if shown := s.shownGroup(req, group, badges); len(shown.Entries) > 0 {
			f.Groups = append(f.Groups, shown)
		}
	}
	f.Notice = s.notice(req)
	return f
}

// shownGroup is what a user sees of a group. The group of the page that is shown
// is never folded.
func (s *Panel) shownGroup(req *Request, group group, badges map[string]Badge) shownGroup {
	shown, current := shownGroup{Label: group.Label}, false
	for _, entry := range group.Entries {
		if !Allows(req.User.Role, entry.Role) || !req.Actor.Company.Level.AtLeast(lowest[entry.Function]) {
			continue
		}
		here := req.URL.Path == entry.Path || entry.Path != "/" && strings.HasPrefix(req.URL.Path, entry.Path+"/")
		current = current || here
		shown.Entries = append(shown.Entries, shownEntry{entry, here, !req.Actor.May(entry.Function), badges[entry.Path]})
	}
	if group.unused != nil && !current && len(shown.Entries) > 0 {
		shown.Folded = group.unused(req)
	}
	return shown
}

// Place is where a record is in the list that the user came from, so that the
// way back leads there, and its neighbours are one click away.
type Place struct {
	Label      string // of the list; "": as the page says
	Back       string // the list as it was
	Prev, Next string
}

// neighbour returns the id of the record at a number of a list, 0 where there is
// none.
type neighbour func(query url.Values, page input.Page) int64

// PlaceIn is the place in a list that has its records at addresses below it.
func PlaceIn(req *Request, list string, neighbour neighbour) Place {
	return Listed{list, list}.Place(req, neighbour)
}

// Listed is where a list is, and where its records are.
type Listed struct{ List, Records string }

// Place reads the place from the address: the list's query and the number of the
// record in it.
func (l Listed) Place(req *Request, neighbour neighbour) Place {
	query := req.URL.Query()
	values, err := url.ParseQuery(query.Get("list"))
	if err != nil || !query.Has("list") {
		return Place{Back: l.List}
	}
	found := Place{Back: l.List}
	if len(values) > 0 {
		found.Back += "?" + values.Encode()
	}
	found.Besides(req, func(at, _ int64) string {
		id := neighbour(values, input.Page{Number: at, Size: 1})
		if id == 0 {
			return ""
		}
		place := url.Values{"list": {values.Encode()}, "at": {strconv.FormatInt(at, 10)}}
		return l.Records + "/" + IDText(id) + "?" + place.Encode()
	})
	return found
}

// Besides adds the neighbours of the record with the number in the address. link
// returns the address of the record at a number, "" where there is none; a record
// without a page it may leave out, and go on in the direction of step.
func (p *Place) Besides(req *Request, link func(at, step int64) string) {
	at, err := strconv.ParseInt(req.URL.Query().Get("at"), 10, 32)
	if err != nil || at < 1 {
		return // an invalid address has no neighbours
	}
	if at > 1 {
		p.Prev = link(at-1, -1)
	}
	p.Next = link(at+1, 1)
}

// PlaceFrom is the way back to where the user came from, if the address says so.
func PlaceFrom(req *Request, otherwise Place) Place {
	from := req.URL.Query().Get("from")
	if from == "" {
		return otherwise
	}
	back := page.LocalPath(from)
	path, _, _ := strings.Cut(back, "?")
	for _, section := range Menu {
		for _, entry := range section.Entries {
			if entry.Path == path {
				return Place{Back: back, Label: req.Lang.T(entry.Label)}
			}
		}
	}
	return otherwise
}
