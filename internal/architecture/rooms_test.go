package architecture

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// room is a part of the house and the arrows that leave it.
type room struct {
	path  string  // a package; with /... it and all below it
	place string  // why it is in its place
	may   []arrow // what it may import besides itself
	tests []arrow // what its tests may import besides
	apart bool    // its packages do not import each other
}

// arrow leads to a room that may be imported.
type arrow struct{ to, why string }

const platform = "internal/platform/..."

var (
	tools   = arrow{platform, "tools that know no business"}
	events  = arrow{"internal/event", "a change is recorded as an event, in its transaction"}
	meaning = arrow{"internal/figures", "what a customer is worth and how figures are reckoned is said once"}
	counts  = arrow{"internal/tally", "lists and figures know their totals without counting"}
)

// rooms is the plan. Down the arrow, call; against the arrow, record an event or
// watch the room below.
var rooms = []room{
	{
		path: platform, place: "every room uses it, so it knows none of them",
	},
	{path: "internal/event", place: "what happened is written down before anybody asks for it", may: []arrow{tools}},
	{path: "internal/tally", place: "counts of records, whatever the records are", may: []arrow{tools}},
	{
		path: "internal/account", place: "every room asks it who acts; it cannot need one of them to answer",
		may: []arrow{tools, events, counts},
	},
	{
		path: "internal/catalog", place: "what is sold does not depend on who buys it",
		may: []arrow{tools, {"internal/account", "plans and products are the company's"}},
	},
	{
		path: "internal/customer", place: "invoices, payments and messages know customers, not the other way round",
		may: []arrow{
			tools, events, counts,
			{"internal/account", "customers are the company's"},
			{"internal/catalog", "a customer buys a plan, and renews by its period"},
			meaning,
		},
		tests: []arrow{document, {"internal/customer/sheet", "each field can be imported"}},
	},
	{
		path: "internal/customer/sheet", place: "a file becomes forms; what a customer must have is not its business",
		may: []arrow{tools},
	},
	{
		path: "internal/customer/intake", place: "customers are created by the rules of their room, wherever they come from",
		may: []arrow{
			tools,
			{"internal/account", "files are the company's"},
			{"internal/catalog", "a row names a plan, and may have it made"},
			{"internal/customer", "a row becomes a customer"},
			{"internal/customer/sheet", "a row of a file is one more form"},
		},
		tests: []arrow{events, counts},
	},
	{
		path: "internal/billing", place: "an invoice does not know how it is paid",
		may: []arrow{
			tools, events, counts,
			{"internal/account", "invoices are the company's"},
			{"internal/catalog", "an invoice bears the plan's value"},
			{"internal/customer", "a paid invoice renews its customer in the same transaction"},
			{"internal/billing/terms", "what pays an invoice on a day"},
		},
		tests: []arrow{document},
	},
	{path: "internal/billing/terms", place: "pure: amounts and days in, amounts out", may: []arrow{tools}},
	{
		path: "internal/payment", place: "the end of the line: it watches invoices, and hears so of one that is cancelled",
		may: []arrow{
			tools,
			{"internal/account", "charges are the company's"},
			{"internal/catalog", "what is being paid for"},
			{"internal/customer", "who pays"},
			{"internal/billing", "a settled charge pays its invoice in the same transaction"},
			{"internal/payment/pix", "the code of a charge"},
			{"internal/payment/statement", "the lines of a bank statement"},
		},
		tests: []arrow{events, counts, {"internal/payment/...", "settlement is tested through the sandbox"}},
	},
	{path: "internal/payment/pix", place: "pure: text in, text out", may: []arrow{tools}},
	{path: "internal/payment/statement", place: "pure: a file in, lines out", may: []arrow{tools}},
	{
		path: "internal/payment/wire", place: "how gateways speak, whatever they say",
		may: []arrow{tools, {"internal/payment", "what a refusal is"}},
	},
	{
		path: "internal/payment/...", place: "one package a gateway; wire types stay private", apart: true,
		may: []arrow{
			tools,
			{"internal/payment", "the Gateway contract"},
			{"internal/payment/pix", "BR Codes"},
			{"internal/payment/wire", "JSON over HTTP, the same for all"},
		},
	},
	{
		path: "internal/reseller", place: "a reseller is a company; what it sells is its own business",
		may: []arrow{tools, counts, {"internal/account", "a reseller is a company below another"}},
	},
	{
		path: "internal/reminder", place: "messages know customers and invoices, not the other way round",
		may: []arrow{
			tools,
			{"internal/account", "rules are the company's"},
			{"internal/customer", "who is reminded"},
			{"internal/billing", "of what"},
		},
		tests: []arrow{
			events,
			{"internal/catalog", "what customers buy in tests"},
			{"internal/reminder/...", "sending is tested through a channel"},
		},
	},
	{
		path: "internal/reminder/...", place: "one package a channel; wire types stay private", apart: true,
		may: []arrow{tools, {"internal/reminder", "the contract of channels"}},
	},
	{
		path: "internal/webhook", place: "it sends what event.Record wrote, and need not know what that means",
		may: []arrow{
			tools, events,
			{"internal/account", "endpoints are the company's"},
			{"internal/webhook/sender", "it writes deliveries, which are then sent"},
		},
		tests: []arrow{document},
	},
	{
		path: "internal/webhook/sender", place: "how deliveries are sent does not depend on how webhooks are kept",
		may:   []arrow{tools, events},
		tests: []arrow{{"internal/webhook", "what is sent in tests comes from webhooks"}, {"internal/account", "webhooks are the company's"}},
	},
	{
		path: "internal/privacy", place: "it asks the rooms what they keep about a customer, and owns nothing",
		may: []arrow{
			tools,
			{"internal/account", "whose customer it is, and what the audit log says"},
			{"internal/customer", "who is asked about"},
		},
	},
	{
		path: "internal/dashboard", place: "it reads the counts of other rooms, and changes nothing",
		may: []arrow{tools, counts, meaning, {"internal/account", "numbers are the company's"}},
		tests: []arrow{
			events,
			{"internal/catalog", "its numbers are held against what the rooms list"},
			{"internal/customer", "its numbers are held against what the rooms list"},
			{"internal/billing", "its numbers are held against what the rooms list"},
		},
	},
	{
		path: "internal/sandbox", place: "it moves the clock, and is handed what becomes due: it knows no other room",
		may: []arrow{tools, {"internal/account", "who moves it"}},
	},
	{
		path: "internal/figures", place: "pure: rows in, figures out; who reads the rows is not its business",
		may: []arrow{tools},
	},
	{
		path: "internal/doctor", place: "it looks around the program; what is inside tables is for their rooms",
		may: []arrow{tools},
	},
	{path: "internal/web", place: "the kit of every edge, with no rule of the business", may: []arrow{tools}},
	{
		path: "internal/web/page", place: "the kit of pages that people read: language, layout, styles, and no rule of the business",
		may: []arrow{tools, kit},
	},
	{
		path: "internal/web/idempotency", place: "knows a status and a body, no operation",
		may: []arrow{tools, {"internal/account", "a key is a token's"}},
	},
	{
		path: "internal/web/api", place: "edges are leaves: they call rooms, and never each other",
		may: slices.Concat([]arrow{
			tools, kit,
			{"internal/web/idempotency", "a repeated POST is answered once, whatever the operation"},
		}, capabilities),
		tests: slices.Concat(edgeTests, []arrow{{"internal/payment/...", "charges are made through the sandbox"}}),
	},
	{
		path: "internal/web/docs", place: "edges are leaves: they call rooms, and never each other",
		may:   []arrow{tools, kit, pages, {"openapi", "the document it serves"}},
		tests: edgeTests,
	},
	{
		path: "internal/web/agent", place: "edges are leaves: they call rooms, and never each other",
		may:   []arrow{tools, kit, {"openapi", "tools for models are made of the document"}},
		tests: edgeTests,
	},
	{
		path: "internal/web/panel/kit", place: "what the panel's pages are made of; it knows none of them",
		may: slices.Concat([]arrow{tools, kit, pages}, panelRooms, capabilities),
	},
	{
		path: "internal/web/panel/company", place: "pages about the company itself; no other page is made of them",
		may: slices.Concat([]arrow{tools, kit, pages, {"internal/web/panel/kit", "what its pages are made of"}}, capabilities),
	},
	{
		path: "internal/web/panel", place: "edges are leaves: they call rooms, and never each other",
		may: slices.Concat([]arrow{
			tools, kit, pages,
			{"internal/web/panel/kit", "what its pages are made of"},
			{"internal/web/panel/company", "its pages are in the one table"},
			{"internal/customer/sheet", "an import begins with a file"},
		}, panelRooms, capabilities),
		tests: slices.Concat(edgeTests, []arrow{
			{"internal/reminder/...", "messages are sent through a channel"}, {"internal/payment/...", "payments come through a gateway"},
		}),
	},
	{
		path: "internal/web/checkout", place: "edges are leaves: they call rooms, and never each other",
		may: []arrow{
			tools, kit, pages,
			{"internal/account", "whose page it is"},
			{"internal/billing", "what is paid"},
			{"internal/payment", "the charge that is shown"},
			{"internal/reminder", "a customer opts out of messages on the own page"},
			{"internal/reseller", "the signup page"},
		},
		tests: slices.Concat(edgeTests, []arrow{
			{"internal/payment/...", "an invoice is paid through the sandbox"},
			{"internal/catalog", "what there is to pay"},
			{"internal/customer", "who pays"},
		}),
	},
	{
		path: "internal/web/callback", place: "edges are leaves: they call rooms, and never each other",
		may: []arrow{
			tools, kit,
			{"internal/payment", "the inbox of callbacks"},
			{"internal/reminder", "what carriers report of messages"},
		},
		tests: slices.Concat(edgeTests, []arrow{
			{"internal/payment/...", "the sandbox calls back"},
			{"internal/reminder/...", "Meta calls"},
			{"internal/account", "whose gateway it is"},
			{"internal/billing", "what is paid"},
			{"internal/catalog", "what there is to pay"},
			{"internal/customer", "who pays"},
		}),
	},
	{
		path: "internal/app", place: "the only place where all rooms meet",
		may:   []arrow{{"internal/...", "it builds the program out of all of them"}},
		tests: []arrow{document},
	},
	{
		path: "internal/cli", place: "one of two ways in; nothing imports it but the command",
		may: slices.Concat([]arrow{
			tools,
			{"internal/app", "a command opens the program"},
			{"internal/customer/sheet", "an import begins with a file"},
			{"internal/customer/intake", "imports a file"},
			{"internal/web/api", "the demo prints a call that works when pasted"},
			{"internal/web/agent", "a command serves models over its input and output"},
			{"internal/reminder", "its use cases"},
		}, capabilities),
	},
	{path: "internal/architecture", place: "reads the source and imports none of it"},
	{path: "cmd/carteira", place: "signals and exit code; nothing else", may: []arrow{{"internal/cli", "the commands"}}},
	{path: "openapi/...", place: "describes the API from outside"},
	{
		path: "test/...", place: "drives the whole program",
		may: []arrow{
			{"internal/...", "starts it, fills it, looks inside"},
			{"openapi/...", "holds answers against the document"},
		},
	},
}

// kits is what tests of every room may begin with; the compiler refuses a kit
// that imports the package under test.
var kits = arrow{"test/kit/...", "databases, companies and providers to test with"}

// document is what integrators are promised; what tests see is held against it.
var document = arrow{"openapi/...", "answers and events are held against the document"}

var kit = arrow{"internal/web", "the kit of every edge"}

var pages = arrow{"internal/web/page", "the kit of pages"}

// panelRooms are the rooms that the panel calls and the API does not.
var panelRooms = []arrow{
	{"internal/reminder", "its rules are edited here"},
	{"internal/privacy", "a customer's file and erasure"},
	{"internal/customer/intake", "files are imported here"},
}

var capabilities = []arrow{
	{"internal/event", "the catalog of events"},
	{"internal/account", "its use cases"},
	{"internal/catalog", "its use cases"},
	{"internal/customer", "its use cases"},
	{"internal/billing", "its use cases"},
	{"internal/payment", "its use cases"},
	{"internal/reseller", "its use cases"},
	{"internal/webhook", "its use cases"},
	{"internal/dashboard", "its use cases"},
	{"internal/sandbox", "the clock that is moved"},
}

var edgeTests = []arrow{
	events,
	{"internal/app", "an edge is tested with everything behind it"},
	document,
}

// homes are the libraries that one place has to itself.
var homes = []struct{ library, home, why string }{
	{"database/sql", "internal/platform/sqldb/...", "the two databases meet in one place"},
	{"github.com/jackc/pgx/v5/...", "internal/platform/sqldb/...", "the two databases meet in one place"},
	{"modernc.org/sqlite/...", "internal/platform/sqldb/...", "the two databases meet in one place"},
	{"zombiezen.com/go/sqlite/...", "internal/platform/sqldb/...", "the two databases meet in one place"},
	{"github.com/spf13/cobra/...", "internal/cli", "a command is read in one place"},
	{"testing", "", "what only tests need stays out of the program"},
}

// covers reports whether pattern names a package.
func covers(pattern, pkg string) bool {
	dir, tree := strings.CutSuffix(pattern, "/...")
	return pkg == dir || tree && strings.HasPrefix(pkg, dir+"/")
}

// roomOf finds the room of a package: of several patterns the narrowest.
func roomOf(pkg string) (room, bool) {
	var found room
	for _, room := range rooms {
		if room.path == pkg {
			return room, true
		}
		if covers(room.path, pkg) && len(room.path) > len(found.path) {
			found = room
		}
	}
	return found, found.path != ""
}

// checkImports holds every import against the plan.
func checkImports(module module) []string {
	var problems []string
	for _, file := range module.files {
		from, ok := roomOf(file.pkg)
		if !ok {
			problems = append(problems, fmt.Sprintf("%s: %s stands in no room; give it one in rooms_test.go, with a reason for each arrow", file.path, file.pkg))
			continue
		}
		for _, spec := range file.ast.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			if reason := refuse(file, from, imported); reason != "" {
				problems = append(problems, fmt.Sprintf("%s: %s must not import %s: %s", module.at(spec), file.pkg, imported, reason))
			}
		}
	}
	return problems
}

// refuse says why a file may not import something; "" when it may.
func refuse(source source, from room, imported string) string {
	pkg, ours := strings.CutPrefix(imported, modulePath+"/")
	switch {
	case !ours:
		return refuseLibrary(source, imported)
	case pkg == source.pkg: // an external test package
		return ""
	case isKit(pkg) && !source.test && !covers("test/...", source.pkg):
		return "it is a test kit, for tests only"
	}
	to, _ := roomOf(pkg)
	if to.path == from.path && !from.apart {
		return ""
	}
	arrows := from.may
	if source.test {
		arrows = slices.Concat(arrows, from.tests, []arrow{kits})
	}
	var allowed []string
	for _, arrow := range arrows {
		if covers(arrow.to, pkg) || arrow.to == to.path {
			return ""
		}
		allowed = append(allowed, fmt.Sprintf("%s (%s)", arrow.to, arrow.why))
	}
	if len(allowed) == 0 {
		allowed = []string{"nothing of this module"}
	}
	return fmt.Sprintf("%s; it may import %s", from.place, strings.Join(allowed, ", "))
}

func refuseLibrary(source source, imported string) string {
	for _, home := range homes {
		if !covers(home.library, imported) || covers(home.home, source.pkg) || covers("test/...", source.pkg) {
			continue
		}
		if home.library == "testing" && source.test {
			continue
		}
		return home.why
	}
	return ""
}

func TestImportsFollowTheArrows(t *testing.T) { report(t, checkImports(realModule(t))) }

func TestEveryArrowLeadsToARoom(t *testing.T) {
	for _, r := range rooms {
		if r.place == "" {
			t.Errorf("%s: no reason for its place", r.path)
		}
		for _, arrow := range slices.Concat(r.may, r.tests) {
			known := arrow.to == "internal/..." || slices.ContainsFunc(rooms, func(room room) bool { return covers(room.path, arrow.to) || room.path == arrow.to })
			if !known || arrow.why == "" {
				t.Errorf("%s: the arrow to %q leads nowhere or has no reason", r.path, arrow.to)
			}
		}
	}
}

func TestAnImportAgainstTheArrowsIsFound(t *testing.T) {
	imports := func(pkg string, paths ...string) string {
		return "package " + pkg + "\nimport (\n_ \"" + strings.Join(paths, "\"\n_ \"") + "\"\n)"
	}
	tests := map[string]struct {
		path, text, want string
	}{
		"up the line":            {"internal/account/a.go", imports("account", "carteira/internal/customer"), "internal/account/a.go:3: internal/account must not import carteira/internal/customer: every room asks it who acts"},
		"platform to a room":     {"internal/platform/money/a.go", imports("money", "carteira/internal/webhook"), "every room uses it"},
		"edge to edge":           {"internal/web/panel/a.go", imports("panel", "carteira/internal/web/api"), "edges are leaves"},
		"room to edge":           {"internal/billing/a.go", imports("billing", "carteira/internal/web"), "must not import carteira/internal/web"},
		"room to app":            {"internal/billing/a.go", imports("billing", "carteira/internal/app"), "must not import carteira/internal/app"},
		"gateway to gateway":     {"internal/payment/efi/a.go", imports("efi", "carteira/internal/payment/asaas"), "one package a gateway"},
		"payment to a gateway":   {"internal/payment/a.go", imports("payment", "carteira/internal/payment/efi"), "the end of the line"},
		"the document":           {"internal/web/api/a.go", imports("api", "carteira/openapi"), "must not import carteira/openapi"},
		"a kit in the program":   {"internal/account/a.go", imports("account", "carteira/test/kit/sqldbtest"), "it is a test kit"},
		"database/sql elsewhere": {"internal/account/a.go", imports("account", "database/sql"), "the two databases meet in one place"},
		"a driver elsewhere":     {"internal/account/a_test.go", imports("account", "github.com/jackc/pgx/v5/stdlib"), "the two databases meet in one place"},
		"testing in the program": {"internal/account/a.go", imports("account", "testing"), "what only tests need"},
		"a test up the line":     {"internal/account/a_test.go", imports("account_test", "carteira/internal/app"), "every room asks it who acts"},
		"a package in no room":   {"internal/utils/a.go", "package utils", "internal/utils stands in no room"},

		"down the line":      {"internal/billing/a.go", imports("billing", "carteira/internal/customer", "carteira/internal/platform/money"), ""},
		"within a room":      {"internal/platform/money/a.go", imports("money", "carteira/internal/platform/sqldb"), ""},
		"api to idempotency": {"internal/web/api/a.go", imports("api", "carteira/internal/web/idempotency", "carteira/internal/web"), ""},
		"a kit in a test":    {"internal/account/a_test.go", imports("account", "testing", "carteira/test/kit/sqldbtest"), ""},
		"a gateway's kit":    {"internal/payment/efi/a_test.go", imports("efi", "carteira/test/kit/gatewaytest"), ""},
		"a kit's own imports": {
			"test/kit/sqldbtest/a.go", imports("sqldbtest", "testing", "database/sql", "carteira/internal/platform/sqldb"), "",
		},
		"the driver's values":   {"internal/platform/civil/a.go", imports("civil", "database/sql/driver"), ""},
		"an external test":      {"internal/account/a_test.go", imports("account_test", "carteira/internal/account"), ""},
		"an edge's test":        {"internal/web/api/a_test.go", imports("api_test", "carteira/internal/app", "carteira/test/kit/openapitest"), ""},
		"a whole-program test":  {"test/bench/main.go", imports("main", "carteira/internal/cli", "database/sql", "carteira/test/kit/sqldbtest"), ""},
		"a gateway to the kind": {"internal/payment/efi/a.go", imports("efi", "carteira/internal/payment", "carteira/internal/payment/pix"), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := checkImports(files{tt.path: tt.text}.module(t))
			if tt.want == "" {
				wantProblems(t, got)
				return
			}
			wantProblems(t, got, tt.want)
		})
	}
}

// plan is the table of docs/architecture.md.
func plan() string {
	var out strings.Builder
	for _, room := range rooms {
		names := make([]string, len(room.may))
		for i, arrow := range room.may {
			names[i] = short(arrow.to)
		}
		fmt.Fprintf(&out, "| `%s` | %s |\n", short(room.path), cmp.Or(strings.Join(names, ", "), "nothing"))
	}
	return out.String()
}

func short(path string) string {
	if path == "internal/..." {
		return "all of internal"
	}
	dir, tree := strings.CutSuffix(strings.TrimPrefix(path, "internal/"), "/...")
	if tree && (dir == "payment" || dir == "reminder") {
		return dir + "/*"
	}
	return dir
}

// checkPlan wants the document to have the table as it is here.
func checkPlan(document, table string) []string {
	if strings.Contains(document, table) {
		return nil
	}
	return []string{"docs/architecture.md: its table of rooms is not the one of rooms_test.go, which is:\n" + table}
}

func TestTheDocumentShowsThePlan(t *testing.T) {
	document, err := fs.ReadFile(root, "docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	report(t, checkPlan(string(document), plan()))
}

func TestAnOldPlanInTheDocumentIsFound(t *testing.T) {
	table := plan()
	for _, line := range []string{"| `account` | platform", "| `billing` | platform", "| `openapi` | nothing |\n"} {
		if !strings.Contains(table, line) {
			t.Errorf("the plan lacks %q:\n%s", line, table)
		}
	}
	wantProblems(t, checkPlan("# Architecture\n"+table, table))
	wantProblems(t, checkPlan(strings.Replace(table, "| nothing |", "| platform |", 1), table), "is not the one of rooms_test.go")
}

// A plan with rooms that are not built would be a wish.
func TestEveryRoomIsBuilt(t *testing.T) {
	module := realModule(t)
	for _, room := range rooms {
		if !slices.ContainsFunc(module.files, func(source source) bool { found, _ := roomOf(source.pkg); return found.path == room.path }) {
			t.Errorf("%s is in the plan and not in the tree", room.path)
		}
	}
}
