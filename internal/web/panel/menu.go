package panel

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
	role       role
	function   account.Function
}

// group is some entries under one heading.
type group struct {
	Label   string
	Entries []entry
	unused  unused // nil: every company uses it
}

// unused reports whether a company has never made use of what a group leads to.
// Its entries are folded away then, until a person opens them.
type unused func(req *request) bool

// resellsNothing is unused for the pages of resellers.
func resellsNothing(req *request) bool { return !read(req, req.panel.Resellers.Resells) }

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

// May reports to a template whether the company's plan has a function.
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

func (s *Panel) frame(req *request) frame {
	live := req.Actor.Writable(req.today) == nil
	f := frame{
		User: req.User, Company: req.Actor.Company, Desk: live && allows(req.User.Role, desk),
		Staff: live && allows(req.User.Role, staff), Totals: allows(req.User.Role, viewer),
		Owner: allows(req.User.Role, owner), Reach: s.Reach,
	}
	f.Manage = live && f.Owner
	badges := s.badges(req)
	for _, group := range menu {
		if shown := s.shownGroup(req, group, badges); len(shown.Entries) > 0 {
			f.Groups = append(f.Groups, shown)
		}
	}
	f.Notice = s.notice(req)
	return f
}

// shownGroup is what a user sees of a group. The group of the page that is shown
// is never folded.
func (s *Panel) shownGroup(req *request, group group, badges map[string]badge) shownGroup {
	shown, current := shownGroup{Label: group.Label}, false
	for _, entry := range group.Entries {
		if !allows(req.User.Role, entry.role) || !req.Actor.Company.Level.AtLeast(lowest[entry.function]) {
			continue
		}
		here := within(req.URL.Path, entry.Path)
		current = current || here
		shown.Entries = append(shown.Entries, shownEntry{entry, here, !req.Actor.May(entry.function), badges[entry.Path]})
	}
	if group.unused != nil && !current && len(shown.Entries) > 0 {
		shown.Folded = group.unused(req)
	}
	return shown
}

// within reports whether a page belongs to an entry of the menu.
func within(path, entry string) bool {
	return path == entry || entry != "/" && strings.HasPrefix(path, entry+"/")
}

// place is where a record is in the list that the user came from, so that the
// way back leads there, and its neighbours are one click away.
type place struct {
	Label      string // of the list; "": as the page says
	Back       string // the list as it was
	Prev, Next string
}

// neighbour returns the id of the record at a number of a list, 0 where there is
// none.
type neighbour func(query url.Values, page input.Page) int64

// placeIn is the place in a list that has its records at addresses below it.
func placeIn(req *request, list string, neighbour neighbour) place {
	return listed{list, list}.place(req, neighbour)
}

// listed is where a list is, and where its records are.
type listed struct{ List, Records string }

// place reads the place from the address: the list's query and the number of the
// record in it.
func (l listed) place(req *request, neighbour neighbour) place {
	query := req.URL.Query()
	values, err := url.ParseQuery(query.Get("list"))
	if err != nil || !query.Has("list") {
		return place{Back: l.List}
	}
	found := place{Back: l.List}
	if len(values) > 0 {
		found.Back += "?" + values.Encode()
	}
	found.besides(req, func(at, _ int64) string {
		id := neighbour(values, input.Page{Number: at, Size: 1})
		if id == 0 {
			return ""
		}
		place := url.Values{"list": {values.Encode()}, "at": {strconv.FormatInt(at, 10)}}
		return l.Records + "/" + idText(id) + "?" + place.Encode()
	})
	return found
}

// besides adds the neighbours of the record with the number in the address. link
// returns the address of the record at a number, "" where there is none; a record
// without a page it may leave out, and go on in the direction of step.
func (p *place) besides(req *request, link func(at, step int64) string) {
	at, err := strconv.ParseInt(req.URL.Query().Get("at"), 10, 32)
	if err != nil || at < 1 {
		return // an invalid address has no neighbours
	}
	if at > 1 {
		p.Prev = link(at-1, -1)
	}
	p.Next = link(at+1, 1)
}

// placeFrom is the way back to where the user came from, if the address says so.
func placeFrom(req *request, otherwise place) place {
	from := req.URL.Query().Get("from")
	if from == "" {
		return otherwise
	}
	back := page.LocalPath(from)
	path, _, _ := strings.Cut(back, "?")
	for _, section := range menu {
		for _, entry := range section.Entries {
			if entry.Path == path {
				return place{Back: back, Label: req.lang.T(entry.Label)}
			}
		}
	}
	return otherwise
}
