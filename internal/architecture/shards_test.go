package architecture

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A PostgreSQL that is distributed by company_id sends a statement to one shard
// when it binds the company, and to all of them when it does not. crossing are
// the functions with statements that go to all, with the reason;
// docs/scaling.md says what is done about each kind.
type reach string

const (
	schedule reach = "schedule" // a job that looks for work or prunes, some times a minute at most
	sender   reach = "sender"   // a batch of deliveries, of the lanes that a process has leased
	door     reach = "door"     // the caller is known by a secret or an address: one row by a unique key
	tree     reach = "tree"     // a page of the companies below one
	operator reach = "operator" // a command of the operator, a check, or filling after a migration
)

// crossing is by package and function; what is outside functions has none.
var crossing = map[string]reach{
	"internal/account.actorByToken":       door,
	"internal/account.admitShared":        door,
	"internal/account.emailTaken":         door,
	"internal/account.Logo":               door,
	"internal/account.addressLink":        door,
	"internal/account.userByEmail":        door,
	"internal/account.userByLink":         door,
	"internal/account.visitByHash":        door,
	"internal/payment.customerOfCode":     door,
	"internal/payment.invoiceOfCode":      door,
	"internal/payment.setupByKey":         door,
	"internal/reminder.channelByCallback": door,
	"internal/reseller.planBySignupCode":  door,

	"internal/event.Poll":      schedule,
	"internal/account.ChildOf": tree,
	"internal/tally.Totals":    tree,

	"internal/account.anyAsked":             schedule,
	"internal/account.eachAsked":            schedule,
	"internal/account.SendMails":            schedule,
	"internal/account.PruneAudit":           schedule,
	"internal/account.pruneSessions":        schedule,
	"internal/account.endDay":               schedule,
	"internal/billing.WithScheduled":        schedule,
	"internal/customer.RepricingLook":       schedule,
	"internal/customer.anyRepricing":        schedule,
	"internal/customer/intake.pruneUploads": schedule,
	"internal/customer.WithLapsed":          schedule,
	"internal/payment.NextDue":              schedule,
	"internal/payment.InFlight":             schedule,
	"internal/payment.resolveCallbacks":     schedule,
	"internal/payment.claimCallbacks":       schedule,
	"internal/payment.claimCharges":         schedule,
	"internal/payment.claimAuthorisations":  schedule,
	"internal/payment.dueAuthorisations":    schedule,
	"internal/payment.endLooks":             schedule,
	"internal/payment.dueCharges":           schedule,
	"internal/payment.Look":                 schedule,
	"internal/payment.forgetOptions":        schedule,
	"internal/payment.Prune":                schedule,
	"internal/payment.readBacklog":          schedule,
	"internal/reminder.NextDue":             schedule,
	"internal/reminder.PlanLook":            schedule,
	"internal/reminder.backlogOf":           schedule,
	"internal/reminder.lanes":               schedule,
	"internal/reminder.recover":             schedule,
	"internal/reminder.Look":                schedule,
	"internal/reminder.Prune":               schedule,
	"internal/reminder.rulesToPlan":         schedule,
	"internal/tally.Look":                   schedule,
	"internal/tally.Compact":                schedule,
	"internal/web/idempotency.endLeases":    schedule,
	"internal/web/idempotency.Prune":        schedule,
	"internal/webhook.ReplayLook":           schedule,
	"internal/webhook.newestEvent":          schedule,
	"internal/webhook.oldDeliveries":        schedule,
	"internal/webhook.oldEvents":            schedule,
	"internal/webhook.pruneReplays":         schedule,
	"internal/webhook.Hold":                 schedule,
	"internal/webhook.unfinishedReplays":    schedule,
	"internal/webhook/sender.Look":          schedule,
	"internal/webhook/sender.NextDue":       schedule,

	"internal/webhook/sender.burnAttempts":           sender,
	"internal/webhook/sender.dueAmong":               sender,
	"internal/webhook/sender.findingDue":             sender,
	"internal/webhook/sender.dueLanes":               sender,
	"internal/webhook/sender.overdueUnsent":          sender,
	"internal/webhook/sender.readingCallbackSecrets": sender,
	"internal/webhook/sender.readingJobs":            sender,
	"internal/webhook/sender.readingWebhooks":        sender,
	"internal/webhook/sender.settleAccepted":         sender,

	"internal/account.factorsSealedBefore": operator,
	"internal/billing.CheckCredit":         operator,
	"internal/billing.CheckLedger":         operator,
	"internal/customer.CheckPhones":        operator,
	"internal/customer.CompanyOf":          operator,
	"internal/customer/intake.readStage":   operator, // one row; only imports on SQLite are staged
	"internal/payment.CheckCharges":        operator,
	"internal/payment.CheckReviews":        operator,
	"internal/payment.Reseal":              operator,
	"internal/reminder.Reseal":             operator,
	"internal/reseller.CheckCredits":       operator,
	"internal/sandbox.Begin":               operator,
	"internal/webhook.CheckQueue":          operator,
	"internal/webhook.CheckWebhooks":       operator,
	"internal/webhook.sealedBefore":        operator,
}

// unbound reports whether a statement reads or writes a company's table
// without binding a company: neither company_id = ?, nor company_id among the
// columns that it inserts, nor a company by its id.
func unbound(text string, tables map[string]bool) bool {
	w := words(text)
	if !isStatement(w) {
		return false
	}
	of := slices.ContainsFunc(tablesIn(w), func(name string) bool {
		return tables[strings.ToLower(name)] || strings.Contains(name, hole)
	})
	return of && !binds(w)
}

func binds(w []string) bool {
	for i := range w {
		switch {
		case is(w, i, "company_id", "=") && isArgument(w, i+2),
			is(w, i, "INTO") && slices.Contains(inserted(w, i+2), "company_id"):
			return true
		}
	}
	return bindsCompany(w)
}

// bindsCompany finds c.id = ? where c is a row of companies.
func bindsCompany(w []string) bool {
	for i := range w {
		if !is(w, i, "companies") {
			continue
		}
		alias := word(w, i+1)
		if is(w, i+1, "AS") {
			alias = word(w, i+2)
		}
		for j := range w {
			if is(w, j, alias, ".", "id", "=") && isArgument(w, j+4) {
				return true
			}
		}
	}
	return false
}

// isArgument reports whether an expression is an argument, not a column of
// another row.
func isArgument(w []string, i int) bool {
	return word(w, i) == "?" || strings.Contains(word(w, i), hole) || is(w, i, "CAST", "(", "?")
}

// checkShards compares the functions that cross shards with those listed. What
// is excused in spared for a table that varies is put together from parts, which
// are held to a company where they are made.
func checkShards(module module, tables map[string]bool, listed map[string]reach) []string {
	var problems []string
	unused := maps.Clone(listed)
	for _, pkg := range programPackages(module) {
		for _, text := range pkg.texts() {
			name := pkg.path + "." + text.function
			if !unbound(text.text, tables) || len(spared[name].tables) > 0 && slices.Contains(spared[name].tables, hole) {
				continue
			}
			delete(unused, name)
			if listed[name] == "" {
				statement := strings.Join(strings.Fields(strings.ReplaceAll(text.text, hole, " … ")), " ")
				problems = append(problems, fmt.Sprintf("%s: %s crosses shards and is not in crossing: %s", module.at(text.node), name, statement))
			}
		}
	}
	for name := range unused {
		problems = append(problems, name+" is in crossing and crosses no shards")
	}
	return problems
}

func TestOnlyWhatIsListedCrossesShards(t *testing.T) {
	tables, err := companyTables(root)
	if err != nil {
		t.Fatal(err)
	}
	report(t, checkShards(realModule(t), tables, crossing))
}

func TestAStatementThatCrossesShardsIsFound(t *testing.T) {
	tables := map[string]bool{"customers": true, "api_tokens": true}
	tests := map[string]struct{ statement, want string }{
		"bound":              {"SELECT 1 FROM customers WHERE company_id = ?", ""},
		"bound by a cast":    {"SELECT 1 FROM customers WHERE company_id = CAST(? AS BIGINT)", ""},
		"inserted":           {"INSERT INTO customers (company_id, name) VALUES (?, ?)", ""},
		"by the company":     {"SELECT 1 FROM companies c JOIN customers k ON k.company_id = c.id WHERE c.id = ?", ""},
		"another table":      {"SELECT 1 FROM companies WHERE parent_id = ?", ""},
		"every company":      {"SELECT 1 FROM customers /* every company_id */", "internal/x.f crosses shards"},
		"of named companies": {"SELECT 1 FROM customers WHERE company_id {in ?}", "internal/x.f crosses shards"},
		"joined only":        {"SELECT 1 FROM api_tokens t JOIN companies c ON c.id = t.company_id WHERE t.hash = ?", "internal/x.f crosses shards"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			module := files{"internal/x/a.go": "package x\nfunc f() { run(`" + tt.statement + "`) }"}.module(t)
			got := checkShards(module, tables, nil)
			if tt.want == "" {
				wantProblems(t, got)
				return
			}
			wantProblems(t, got, tt.want)
			wantProblems(t, checkShards(module, tables, map[string]reach{"internal/x.f": schedule}))
		})
	}
	module := files{"internal/x/a.go": "package x\nfunc f() { run(`SELECT 1 FROM customers WHERE company_id = ?`) }"}.module(t)
	wantProblems(t, checkShards(module, tables, map[string]reach{"internal/x.f": schedule}), "crosses no shards")
}

// The document counts them and names the doors, which every request goes
// through.
func TestScalingNamesWhatCrossesShards(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("..", "..", "docs", "scaling.md"))
	if err != nil {
		t.Fatal(err)
	}
	document := string(content)
	count := map[reach]int{}
	for name, kind := range crossing {
		count[kind]++
		if short := strings.TrimPrefix(name, "internal/"); kind == door && !strings.Contains(document, "`"+short+"`") {
			t.Errorf("docs/scaling.md does not name the door %s", short)
		}
	}
	for kind, number := range count {
		if row := fmt.Sprintf("| %s | %d |", kind, number); !strings.Contains(document, row) {
			t.Errorf("docs/scaling.md has no row %q", row)
		}
	}
}
