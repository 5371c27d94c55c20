package architecture

import (
	"fmt"
	"go/ast"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// table names the owner of a table and the other packages that touch it, each
// with the reason.
type table struct {
	owner   string
	readers map[string]string // package → why it reads the table
	writers map[string]string // package → why it writes the table
}

// firstSteps is why the dashboard looks into tables of four rooms.
const firstSteps = "one statement says which first steps of a company are done, only whether there is a row"

// owned lists every table of the program. The owner alone decides what a row
// means. Another package that reads the table repeats some of that knowledge in
// SQL, so it needs a reason here.
var owned = map[string]table{
	"companies": {owner: account, readers: map[string]string{
		"internal/reseller": "lists resellers, which are companies below another, with their credits in one statement",
		"internal/webhook":  "asks while it enqueues whether the company gets webhooks",
		"internal/sandbox":  "a database with a company is a real installation, unless it was made a sandbox",
	}},
	"users": {owner: account, readers: map[string]string{
		"internal/dashboard": firstSteps,
		"internal/reseller":  "shows the owner of each reseller in its list",
	}},
	"api_tokens":     {owner: account},
	"token_calls":    {owner: account},
	"company_logos":  {owner: account},
	"sessions":       {owner: account},
	"recovery_codes": {owner: account},
	"password_links": {owner: account},
	"setup_links": {owner: account, readers: map[string]string{
		"internal/sandbox": "a database that was served once is a real installation, unless it was made a sandbox",
	}},
	"signin_attempts": {owner: account},
	"known_devices":   {owner: account},
	"user_mails":      {owner: account},
	"audit_log":       {owner: account},
	"list_views":      {owner: account},
	"list_columns":    {owner: account},
	"day_work_asked":  {owner: account},

	"sandbox_clock":    {owner: "internal/sandbox"},
	"sandbox_happened": {owner: "internal/sandbox"},

	"products": {owner: "internal/catalog", readers: map[string]string{
		"internal/customer": "names the product of each customer in a list",
		"internal/billing":  "names the product of each invoice in a list",
		"internal/reminder": "a rule may be for the customers of one product",
	}},
	"customer_plans": {owner: "internal/catalog", readers: map[string]string{
		"internal/dashboard": firstSteps,
		"internal/customer":  "names the plan of each customer in a list",
		"internal/billing":   "names the plan of each invoice in a list",
		"internal/reminder":  "a rule may be for the customers of one plan, and a message names it",
	}},

	"customers": {owner: "internal/customer", readers: map[string]string{
		"internal/billing":  "names the customer of each invoice in a list, and issues for customers whose day has come",
		"internal/reminder": "finds the customers whose due date a rule is about",
	}},
	"customer_uploads": {owner: "internal/customer/intake"},
	"customer_staging": {owner: "internal/customer/intake", readers: map[string]string{
		"internal/customer": "has the condition by which statements leave out what is staged",
	}},
	"customer_texts":    {owner: "internal/customer"},
	"customer_expiries": {owner: "internal/customer"},
	"customer_renewals": {owner: "internal/customer"},
	"plan_repricings":   {owner: "internal/customer"},

	"invoices": {owner: "internal/billing", readers: map[string]string{
		"internal/reminder": "a rule about unpaid invoices finds those of each customer, and a message names one",
		"internal/payment":  "a payer's word counts while its invoice is open",
	}},
	"debtors": {owner: "internal/billing", readers: map[string]string{
		"internal/customer": "lists the customers who owe since a day",
	}},
	"invoice_schedule": {owner: "internal/billing"},
	"payments": {owner: "internal/billing", readers: map[string]string{
		"internal/payment": "shows payments with their reviews, and asks which payments of a report are known",
	}},
	"payment_refunds": {owner: "internal/billing"},

	"gateways":          {owner: "internal/payment", readers: map[string]string{"internal/dashboard": firstSteps}},
	"pay_links":         {owner: "internal/payment"},
	"customer_pages":    {owner: "internal/payment"},
	"paid_notices":      {owner: "internal/payment"},
	"charges":           {owner: "internal/payment"},
	"authorisations":    {owner: "internal/payment"},
	"payment_reviews":   {owner: "internal/payment"},
	"deleted_invoices":  {owner: "internal/billing"},
	"statement_lines":   {owner: "internal/payment"},
	"gateway_callbacks": {owner: "internal/payment"},
	"sandbox_charges":   {owner: "internal/payment/sandbox"},
	"sandbox_payments":  {owner: "internal/payment/sandbox"},

	"authorisation_steps":    {owner: "internal/payment"},
	"sandbox_authorisations": {owner: "internal/payment/sandbox"},
	"sandbox_debits":         {owner: "internal/payment/sandbox"},

	"subscription_plans": {owner: "internal/reseller"},
	"credit_balances":    {owner: "internal/reseller"},
	"credit_entries":     {owner: "internal/reseller"},
	"signup_attempts":    {owner: "internal/reseller"},

	"reminder_settings":  {owner: "internal/reminder"},
	"reminder_channels":  {owner: "internal/reminder"},
	"reminder_templates": {owner: "internal/reminder"},
	"reminder_rules":     {owner: "internal/reminder", readers: map[string]string{"internal/dashboard": firstSteps}},
	"reminder_messages":  {owner: "internal/reminder"},
	"reminder_attempts":  {owner: "internal/reminder"},
	"reminder_optouts":   {owner: "internal/reminder"},

	"events": {
		owner: "internal/event",
		readers: map[string]string{
			"internal/webhook":        "a replay walks over events",
			"internal/webhook/sender": "a delivery carries its event",
		},
		writers: map[string]string{"internal/webhook": "prunes an event after its last delivery, which only this room knows"},
	},
	"event_feeds": {owner: "internal/event"},
	"event_marks": {owner: "internal/event"},
	"webhooks": {
		owner:   "internal/webhook",
		readers: map[string]string{"internal/webhook/sender": "address, secret and switch of a receiver, read with the claim"},
		writers: map[string]string{"internal/webhook/sender": "counts failures in a row and switches a webhook off at the twentieth"},
	},
	"callback_secrets": {owner: "internal/webhook", readers: map[string]string{
		"internal/webhook/sender": "signs notifications of single invoices",
	}},
	"invoice_notifications": {owner: "internal/webhook"},
	"deliveries": {
		owner:   "internal/webhook",
		readers: map[string]string{"internal/webhook/sender": "a claim finds what became of a delivery"},
		writers: map[string]string{"internal/webhook/sender": "records the outcome of an attempt in the history"},
	},
	"delivery_attempts": {
		owner:   "internal/webhook",
		writers: map[string]string{"internal/webhook/sender": "records each attempt in the history"},
	},
	"delivery_lanes": {owner: "internal/webhook/sender"},
	"delivery_queue": {owner: "internal/webhook/sender", readers: map[string]string{
		"internal/webhook": "the history shows when the next attempt is, and pruning leaves alone what waits",
	}},
	"replays": {owner: "internal/webhook"},

	"idempotency_keys": {owner: "internal/web/idempotency"},

	"secret_keys":  {owner: "internal/platform/keyring"},
	"tally_deltas": {owner: "internal/tally"},
	"tally_sums":   {owner: "internal/tally"},
	"tally_months": {owner: "internal/tally"},
	"tally_totals": {owner: "internal/tally"},
}

const account = "internal/account"

// allTables lists the tables that the migrations of either folder leave behind.
func allTables(fsys fs.FS) (map[string]bool, error) {
	tables := map[string]bool{}
	for _, dir := range migrationFolders {
		names, err := fs.Glob(fsys, path.Join(dir, "*.sql"))
		if err != nil {
			return nil, err
		}
		here := map[string]bool{}
		for _, name := range names {
			text, err := fs.ReadFile(fsys, name)
			if err != nil {
				return nil, err
			}
			addTables(here, words(string(text)))
		}
		maps.Copy(tables, here)
	}
	return tables, nil
}

// addTables follows CREATE TABLE t, DROP TABLE t and ALTER TABLE t RENAME TO u.
func addTables(tables map[string]bool, w []string) {
	for i := range w {
		if !is(w, i, "TABLE") {
			continue
		}
		at := i + 1
		for is(w, at, "IF") || is(w, at, "NOT") || is(w, at, "EXISTS") {
			at++
		}
		name := word(w, at)
		switch {
		case is(w, i-1, "DROP"):
			delete(tables, name)
		case is(w, i-1, "ALTER") && is(w, at+1, "RENAME", "TO"):
			delete(tables, name)
			tables[word(w, at+3)] = true
		case is(w, i-1, "CREATE"), is(w, i-2, "CREATE"):
			tables[name] = true
		}
	}
}

// touch is a table that a function reads or writes.
type touch struct {
	node      ast.Node
	pkg, name string // of the function, with its receiver
	table     string
	writes    bool
}

// touches lists every touch of these tables by packages: in statements, in parts
// of statements, and through the search of sqldb.
func touches(packages []texts, tables map[string]bool) []touch {
	var list []touch
	for _, pkg := range packages {
		for _, text := range pkg.texts() {
			written, read := tablesOf(text.text, tables)
			for _, name := range written {
				list = append(list, touch{text.node, pkg.path, text.owner, name, true})
			}
			for _, name := range read {
				list = append(list, touch{text.node, pkg.path, text.owner, name, false})
			}
		}
	}
	return list
}

// tablesOf returns the tables that a text writes and those that it reads. A
// part of a statement counts too, if its words are in capitals as SQL is here:
// English has from, update and into as well.
func tablesOf(text string, tables map[string]bool) (written, read []string) {
	w := words(text)
	whole := isStatement(w)
	for i := range w {
		if !whole && w[i] != strings.ToUpper(w[i]) {
			continue
		}
		switch {
		case is(w, i, "FROM") && is(w, i-1, "DELETE"), is(w, i, "INTO"), is(w, i, "UPDATE"), is(w, i, "TRUNCATE"):
			written = append(written, tablesIn(w[i:min(i+3, len(w))])...)
		case is(w, i, "FROM"), is(w, i, "USING"), is(w, i, "JOIN"):
			read = append(read, firstTables(w[i:])...)
		}
	}
	if len(w) == 2 && len(w[1]) <= 2 { // the From of a Source: customers c
		read = append(read, w[0])
	}
	unknown := func(name string) bool { return !tables[name] }
	return slices.DeleteFunc(written, unknown), slices.DeleteFunc(read, unknown)
}

// firstTables reads the tables that follow the FROM, USING or JOIN that w
// begins with.
func firstTables(w []string) []string {
	if is(w, 0, "JOIN") {
		return tablesIn(w[:min(3, len(w))])
	}
	return fromList(w, 1)
}

// checkOwnership holds every touch of a table against its list, the list
// against the migrations, and finds entries that nothing needs.
func checkOwnership(module module, tables map[string]bool, owned map[string]table) []string {
	var problems []string
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		if owned[name].owner == "" {
			problems = append(problems, name+" is a table without an owner; name one in ownership_test.go")
		}
	}
	used := map[string]bool{}
	for _, touche := range touches(programPackages(module), tables) {
		by := owned[touche.table]
		verb, guests := "read", by.readers
		if touche.writes {
			verb, guests = "write", by.writers
		}
		used[touche.table+" "+verb+" "+touche.pkg] = true
		if by.owner != "" && by.owner != touche.pkg && guests[touche.pkg] == "" {
			problems = append(problems, fmt.Sprintf("%s: %s must not %s %s, which %s owns: ask the owner, or name the reason in ownership_test.go",
				module.at(touche.node), touche.pkg, verb, touche.table, by.owner))
		}
	}
	return append(problems, unusedOwnership(tables, owned, used)...)
}

// unusedOwnership finds entries for tables that do not exist, and packages that
// do not touch what they are allowed to.
func unusedOwnership(tables map[string]bool, owned map[string]table, used map[string]bool) []string {
	var problems []string
	for _, name := range slices.Sorted(maps.Keys(owned)) {
		by := owned[name]
		if !tables[name] {
			problems = append(problems, name+" has an owner in ownership_test.go and is in no migration")
		}
		for verb, guests := range map[string]map[string]string{"read": by.readers, "write": by.writers} {
			for _, pkg := range slices.Sorted(maps.Keys(guests)) {
				if !used[name+" "+verb+" "+pkg] {
					problems = append(problems, fmt.Sprintf("%s may %s %s by ownership_test.go and does not", pkg, verb, name))
				}
			}
		}
	}
	return problems
}

func TestTablesAreTouchedByTheirOwners(t *testing.T) {
	tables, err := allTables(root)
	if err != nil {
		t.Fatal(err)
	}
	report(t, checkOwnership(realModule(t), tables, owned))
}

func TestATouchOfAnothersTableIsFound(t *testing.T) {
	tables := map[string]bool{"rows": true, "others": true}
	owned := map[string]table{"rows": {owner: "internal/x"}, "others": {owner: "internal/y"}}
	tests := map[string]struct{ body, want string }{
		"select":         {"func f() { run(`SELECT n FROM rows`) }", "a.go:2: internal/y must not read rows, which internal/x owns"},
		"join":           {"func f() { run(`SELECT 1 FROM others o JOIN rows r ON r.id = o.id`) }", "must not read rows"},
		"comma":          {"func f() { run(`SELECT 1 FROM others AS o, rows`) }", "must not read rows"},
		"subquery":       {"func f() { run(`UPDATE others SET n = (SELECT max(n) FROM rows)`) }", "must not read rows"},
		"insert":         {"func f() { run(`INSERT INTO rows (n) VALUES (?)`) }", "must not write rows"},
		"update":         {"func f() { run(`UPDATE rows SET n = 1`) }", "must not write rows"},
		"delete":         {"func f() { run(`DELETE FROM rows WHERE n = 1`) }", "must not write rows"},
		"part":           {"func f() { run(from()) }\nfunc from() string { return ` JOIN rows r ON r.id = o.id` }", "must not read rows"},
		"the From":       {"var s = Source{From: `rows r`}", "must not read rows"},
		"its own":        {"func f() { run(`INSERT INTO others SELECT n FROM others FOR UPDATE`) }", ""},
		"English":        {"func f() { say(`update rows from rows`) }", ""},
		"a name":         {"func f() { say(`rows`) }", ""},
		"on conflict":    {"func f() { run(`INSERT INTO others (n) VALUES (1) ON CONFLICT (n) DO UPDATE SET n = 2`) }", ""},
		"a row of those": {"func f() { run(`WITH rows_of AS (SELECT 1) SELECT n FROM rows_of`) }", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := checkOwnership(files{"internal/y/a.go": "package y\n" + tt.body}.module(t), tables, owned)
			if tt.want == "" {
				wantProblems(t, got)
				return
			}
			wantProblems(t, got, tt.want)
		})
	}
}

func TestTheListOfOwnersIsNeitherShortNorLong(t *testing.T) {
	module := files{"internal/y/a.go": "package y\nfunc f() { run(`SELECT n FROM rows`) }"}.module(t)
	reads := map[string]table{"rows": {owner: "internal/x", readers: map[string]string{"internal/y": "because"}}}
	wantProblems(t, checkOwnership(module, map[string]bool{"rows": true}, reads))
	wantProblems(t, checkOwnership(module, map[string]bool{"rows": true, "new": true}, reads), "new is a table without an owner")
	reads["gone"] = table{owner: "internal/x"}
	reads["rows"].readers["internal/z"] = "because"
	wantProblems(t, checkOwnership(module, map[string]bool{"rows": true}, reads), "gone has an owner", "internal/z may read rows")
	writes := map[string]table{"rows": {owner: "internal/x", writers: map[string]string{"internal/y": "because"}}}
	wantProblems(t, checkOwnership(module, map[string]bool{"rows": true}, writes), "must not read rows", "internal/y may write rows")
}

func TestTablesAreFollowedThroughMigrations(t *testing.T) {
	got, err := allTables(files{
		migrationFolders[0] + "/0001_a.sql": "CREATE TABLE a (n INT); CREATE UNLOGGED TABLE calls (n INT); -- CREATE TABLE x (n INT);",
		migrationFolders[1] + "/0001_a.sql": "CREATE TABLE IF NOT EXISTS a (n INT); CREATE VIRTUAL TABLE a_search USING fts5(n);",
		migrationFolders[1] + "/0002_b.sql": "CREATE TABLE b (n INT); CREATE TABLE b_new (n INT); DROP TABLE IF EXISTS b; ALTER TABLE b_new RENAME TO b;",
	}.fs())
	if err != nil {
		t.Fatal(err)
	}
	if names := strings.Join(slices.Sorted(maps.Keys(got)), " "); names != "a a_search b calls" {
		t.Errorf("tables %q", names)
	}
}
