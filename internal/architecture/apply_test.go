package architecture

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
)

// applied is a room that writes its records in one place: its unexported
// apply (or applyInvoice, applyRule, … where it has several records), which
// takes a change and draws all its consequences. A use case that reached the
// row by another way could forget the audit line or the event.
type applied struct {
	room string
	// tables hold no records but the state of a mechanism: name → why.
	tables map[string]string
	// functions write records outside apply: name, or Receiver.name → why.
	functions map[string]string
}

// roomsWithApply grows by a line with each room that is converted.
var roomsWithApply = []applied{
	{
		room: "internal/account",
		tables: map[string]string{
			"audit_log":       "it is the log itself: every room's apply writes it, and it is pruned by age",
			"sessions":        "a sign-in is audited as what happened to the user",
			"password_links":  "a link is audited as what happened to the user",
			"recovery_codes":  "they come and go with the second factor, which is audited",
			"setup_links":     "they end with the first company, which is audited",
			"signin_attempts": "counts of a limit",
			"known_devices":   "a sign-in is audited as what happened to the user",
			"user_mails":      "a queue: what a mail is about is audited",
			"token_calls":     "counts of a limit",
			"company_logos":   "the picture that a company's row names; the row's change is audited",
			"list_views":      "how a user looks at a list is nobody else's business",
			"list_columns":    "how a user looks at a list is nobody else's business",
			"day_work_asked":  "a queue: what a company is looked at for is audited where it happened",
		},
		functions: map[string]string{
			"setDayDone":        "how far the calendar is with a company, which nobody sees; for many at once",
			"touchToken":        "the time of the last use is saved for many at once, and changes nothing for anybody",
			"Service.spendCode": "compares and sets at once, so that a code works once; the sign-in is audited",
		},
	},
	{
		room:   "internal/reseller",
		tables: map[string]string{"signup_attempts": "counts of a limit"},
		functions: map[string]string{
			"post":         "the one place of the ledger: the audit line is that of the move or of the subscription paid for",
			"lockBalances": "makes the empty balance that it locks",
		},
	},
	{
		room: "internal/customer",
		tables: map[string]string{
			"customer_expiries": "due dates that customer.expired was recorded for",
			"customer_renewals": "how often a customer was renewed in a month",
			"customer_texts":    "what searches read of a row, written with it",
			"plan_repricings":   "how far the customers of a plan that changed have been counted anew",
		},
		functions: map[string]string{
			"insertMany":   "an import writes many at once; Announce draws their consequences",
			"RemoveStaged": "takes back what nobody has seen of an import that came to nothing",
			"updateWorth":  "a plan's new price counts for all its customers at once; the plan's change is the audited one",
		},
	},
	{
		room: "internal/billing",
		tables: map[string]string{
			"invoice_schedule": "due dates that have no invoice yet: what is left to issue",
			"debtors":          "how long a customer has owed, which follows from its open invoices",
		},
		functions: map[string]string{
			"Service.EraseTx":       "an erasure takes a name off; it is audited as the deletion of the customer",
			"Service.applyDeletion": "is apply for all invoices of a customer at once",
		},
	},
	{
		room: "internal/catalog",
		functions: map[string]string{
			"AddPlan":       "an import makes the plans that its file names; the import has one audit line",
			"AddProduct":    "an import makes the products that its file names; the import has one audit line",
			"deletePlan":    "an import that came to nothing takes its plans back",
			"deleteProduct": "an import that came to nothing takes its products back",
		},
	},
	{
		room: "internal/reminder",
		tables: map[string]string{
			"reminder_messages": "a message is planned, claimed and sent by the engine; a person's decision goes through applyDecision",
			"reminder_attempts": "the engine records each attempt, and what carriers report of it",
		},
		functions: map[string]string{
			"saveCursor":        "how far a rule has been planned",
			"setNext":           "the pace of a channel",
			"Service.noteHeard": "when a channel's carrier last called",
			"addProblem":        "the health of a channel",
			"clearProblem":      "the health of a channel",
			"setSecrets":        "Reseal changes the key and no secret",
			"removeOfCustomer":  "what belongs to a customer who is deleted goes with it; the deletion is audited",
		},
	},
	{
		room: "internal/webhook",
		tables: map[string]string{
			"deliveries":            "written by the transaction of an event, and history",
			"delivery_attempts":     "history",
			"replays":               "how far a replay has come",
			"invoice_notifications": "the address that asked to hear of one invoice",
		},
		functions: map[string]string{"setSecret": "Reseal changes the key and no secret", "sealedSecret.replace": "Reseal changes the key and no secret"},
	},
	{
		room: "internal/payment",
		tables: map[string]string{
			"gateway_callbacks": "the inbox of callbacks is a queue: what they are about is looked up, and settled",
			"pay_links":         "the address of an invoice's page, made once",
			"paid_notices":      "what a payer says, which changes nothing of the company's",
		},
		functions: map[string]string{
			"claimCharges":        "the engine's lease of a charge, and no state",
			"endLooks":            "the engine's lease of a charge, and no state",
			"markHinted":          "makes a charge due, and changes no state",
			"pauseGateway":        "the health of a gateway: it and its charges wait",
			"Service.spaceOut":    "the health of a gateway: the pace of its checks",
			"recordGatewayHealth": "the health of a gateway",
			"countFailure":        "the health of a gateway",
			"setOptions":          "Reseal changes the key and no option",
			"forgetOptions":       "pruning: credentials of a gateway that was left",

			"claimAuthorisations": "the engine's lease of an authorisation, and no state",
			"markAuthorisation":   "makes an authorisation due, and changes no state",
			"markOfGateway":       "makes authorisations due, and changes no state",
			"markOfCustomers":     "makes authorisations due, and changes no state",
			"Service.EraseTx":     "an erasure takes a name and bank accounts off; it is audited as the deletion of the customer",
		},
	},
}

// graph is which functions of a package mention which. It goes by names, without
// types: x.save is every method save of the package. It so sees some paths that
// the program never takes, and misses none.
type graph struct {
	nodes   map[string]*ast.FuncDecl // Receiver.name, or name
	callers map[string][]string      // outside is a mention in no function
}

const outsideFunctions = "a variable of the package"

func graphOf(pkg texts) graph {
	g := graph{map[string]*ast.FuncDecl{}, map[string][]string{}}
	methods := map[string][]string{} // name → nodes
	for _, fn := range declared(pkg) {
		node := nodeName(fn)
		g.nodes[node] = fn
		if fn.Recv != nil {
			methods[fn.Name.Name] = append(methods[fn.Name.Name], node)
		}
	}
	for _, file := range pkg.files {
		imported := importNames(file)
		for _, decl := range file.Decls {
			caller := outsideFunctions
			if fn, ok := decl.(*ast.FuncDecl); ok {
				caller = nodeName(fn)
			}
			for _, node := range g.mentions(decl, imported, methods) {
				g.callers[node] = append(g.callers[node], caller)
			}
		}
	}
	return g
}

func declared(pkg texts) []*ast.FuncDecl {
	var list []*ast.FuncDecl
	for _, file := range pkg.files {
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				list = append(list, fn)
			}
		}
	}
	return list
}

func nodeName(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	return typeName(fn.Recv.List[0].Type) + "." + fn.Name.Name
}

// typeName is the last name of a type: Form of *input.Form.
func typeName(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.Ident:
		return expr.Name
	case *ast.StarExpr:
		return typeName(expr.X)
	case *ast.SelectorExpr:
		return expr.Sel.Name
	case *ast.IndexExpr:
		return typeName(expr.X)
	case *ast.IndexListExpr:
		return typeName(expr.X)
	}
	return ""
}

// importNames are the names that a file has for other packages.
func importNames(file *ast.File) map[string]bool {
	names := map[string]bool{}
	for _, spec := range file.Imports {
		names[importName(file, strings.Trim(spec.Path.Value, `"`))] = true
	}
	return names
}

// mentions lists the functions of the package that a declaration calls or hands
// on as a value.
func (g graph) mentions(decl ast.Decl, imported map[string]bool, methods map[string][]string) []string {
	var list []string
	local := localNames(decl)
	var visit func(ast.Node) bool
	visit = func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.SelectorExpr: // the name after the dot is a method's or another package's
			if x, ok := node.X.(*ast.Ident); !ok || !imported[x.Name] || local[x.Name] {
				list = append(list, methods[node.Sel.Name]...)
			}
			ast.Inspect(node.X, visit)
			return false
		case *ast.KeyValueExpr: // the key is a field's name
			ast.Inspect(node.Value, visit)
			return false
		case *ast.Field: // so is the name of a field or parameter
			ast.Inspect(node.Type, visit)
			return false
		case *ast.Ident:
			if !local[node.Name] && g.nodes[node.Name] != nil {
				list = append(list, node.Name)
			}
		}
		return true
	}
	fn, ok := decl.(*ast.FuncDecl)
	switch {
	case !ok:
		ast.Inspect(decl, visit)
	case fn.Body != nil: // its own name does not count
		ast.Inspect(fn.Body, visit)
		list = slices.DeleteFunc(list, func(node string) bool { return node == nodeName(fn) })
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// localNames are the parameters and variables of a function, which may bear the
// name of a function of the package.
func localNames(decl ast.Decl) map[string]bool {
	names := map[string]bool{}
	fn, ok := decl.(*ast.FuncDecl)
	if !ok {
		return names
	}
	for name := range (scope{}).within(fn).inner {
		names[name] = true
	}
	return names
}

// isApply reports whether a function is that place: apply or apply<Record>
// with a change among its parameters.
func isApply(fn *ast.FuncDecl) bool {
	rest, ok := strings.CutPrefix(fn.Name.Name, "apply")
	if !ok || rest != "" && rest[0] >= 'a' && rest[0] <= 'z' {
		return false
	}
	return slices.ContainsFunc(fn.Type.Params.List, func(node *ast.Field) bool {
		return strings.HasSuffix(strings.ToLower(typeName(node.Type)), "change")
	})
}

// around finds a way from outside the package to a function, which does not
// lead through apply or an excused function: the last link first. It is empty
// when there is none.
func (g graph) around(node string, excused func(string) bool, seen map[string]bool) []string {
	fn := g.nodes[node]
	switch {
	case seen[node]:
		return nil
	case node == outsideFunctions:
		return []string{node}
	case isApply(fn) || excused(node):
		return nil
	case fn.Name.IsExported() || len(g.callers[node]) == 0:
		return []string{node}
	}
	seen[node] = true
	for _, caller := range g.callers[node] {
		if way := g.around(caller, excused, seen); way != nil {
			return append(way, node)
		}
	}
	return nil
}

// checkApply finds writes of a room's records that can be reached around its
// apply.
func checkApply(module module, owned map[string]table, applied applied) []string {
	var pkg texts
	for _, texts := range programPackages(module) {
		if texts.path == applied.room {
			pkg = texts
		}
	}
	if !slices.ContainsFunc(declared(pkg), isApply) {
		return []string{applied.room + " has no apply that takes a change"}
	}
	graph, used := graphOf(pkg), map[string]bool{}
	excused := func(node string) bool {
		used[node] = used[node] || applied.functions[node] != ""
		return applied.functions[node] != ""
	}
	var problems []string
	for _, touch := range writesOf(pkg, owned) {
		if applied.tables[touch.table] != "" {
			used[touch.table] = true
			continue
		}
		if way := graph.around(touch.name, excused, map[string]bool{}); way != nil {
			problems = append(problems, fmt.Sprintf("%s: %s writes %s outside apply, which alone draws the consequences of a change: %s",
				module.at(touch.node), touch.name, touch.table, strings.Join(way, " → ")))
		}
	}
	return append(problems, applied.unused(used)...)
}

// writesOf are the writes of a package to its own tables.
func writesOf(pkg texts, owned map[string]table) []touch {
	tables := map[string]bool{}
	for name, table := range owned {
		if table.owner == pkg.path {
			tables[name] = true
		}
	}
	return slices.DeleteFunc(touches([]texts{pkg}, tables), func(touch touch) bool { return !touch.writes })
}

func (a applied) unused(used map[string]bool) []string {
	var problems []string
	for _, list := range []map[string]string{a.tables, a.functions} {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			if !used[name] {
				problems = append(problems, fmt.Sprintf("%s.%s is excused from apply and needs no excuse", a.room, name))
			}
		}
	}
	return problems
}

func TestRowsAreWrittenInApply(t *testing.T) {
	module := realModule(t)
	for _, applied := range roomsWithApply {
		report(t, checkApply(module, owned, applied))
	}
}

// one is a room with an apply; each case of the test below adds to it.
const one = `package x
import "carteira/internal/platform/sqldb"
type change struct{}
func (s *Service) apply(ctx int, tx *sqldb.Tx, c change) error { return save(tx, c) }
func save(tx *sqldb.Tx, c change) error { return tx.Exec("UPDATE rows SET n = 1") }
`

func TestAWriteAroundApplyIsFound(t *testing.T) {
	owned := map[string]table{"rows": {owner: "internal/x"}, "leases": {owner: "internal/x"}, "others": {owner: "internal/y"}}
	tests := map[string]struct{ body, want string }{
		"a use case":      {"func (s *Service) Rename() { s.db.Write(func(tx *sqldb.Tx) error { return save(tx, c) }) }", "a.go:5: save writes rows outside apply, which alone draws the consequences of a change: Service.Rename → save"},
		"its own":         {"func (s *Service) Rename() { run(`DELETE FROM rows`) }", "Service.Rename writes rows outside apply"},
		"a detour":        {"func (s *Service) Rename() { s.rename() }\nfunc (s *Service) rename() { put() }\nfunc put() { run(`INSERT INTO rows (n) VALUES (1)`) }", "Service.Rename → Service.rename → put"},
		"beside apply":    {"func (s *Service) Rename() { s.apply(1, tx, change{}); save(tx, c) }", "Service.Rename → save"},
		"as a value":      {"func (s *Service) Rename() { s.db.Write(save) }", "Service.Rename → save"},
		"in a table":      {"var all = []any{save}", "a variable of the package → save"},
		"called by none":  {"func put() { run(`INSERT INTO rows (n) VALUES (1)`) }", "put writes rows outside apply"},
		"a method":        {"func (s *Service) Rename() { s.store.put() }\nfunc (s store) put() { run(`INSERT INTO rows (n) VALUES (1)`) }", "Service.Rename → store.put"},
		"named like it":   {"func (s *Service) Rename() { s.applyName() }\nfunc (s *Service) applyName() { save(tx, c) }", "Service.Rename → Service.applyName → save"},
		"only alike":      {"func (s *Service) Rename() { applying(c) }\nfunc applying(c change) { save(tx, c) }", "Service.Rename → applying → save"},
		"a lease":         {"func (s *Service) Claim() { run(`UPDATE leases SET n = 1`) }", "Service.Claim writes leases"},
		"through apply":   {"func (s *Service) Rename() { s.renameTx() }\nfunc (s *Service) renameTx() { s.apply(1, tx, change{}) }", ""},
		"a second record": {"func (s *Service) applyRow(tx *sqldb.Tx, c rowChange) { put() }\nfunc put() { run(`INSERT INTO rows (n) VALUES (1)`) }", ""},
		"below apply":     {"func (s *Service) applyRow(tx *sqldb.Tx, c rowChange) { s.write() }\nfunc (s *Service) write() { put(); s.write() }\nfunc put() { run(`INSERT INTO rows (n) VALUES (1)`) }", ""},
		"a local name":    {"func (s *Service) Rename() { save := 1; use(save) }", ""},
		"another's":       {"func (s *Service) Rename() { sqldb.save() }", ""},
		"a namesake":      {"func (s *Service) Rename() { s.save() }\nfunc (s *Service) save() { s.apply(1, tx, change{}) }", ""},
		"a field's name":  {"type row struct { save int }\nfunc (s *Service) Rename() { use(row{save: 1}) }", ""},
		"a read":          {"func (s *Service) Find() { run(`SELECT n FROM rows`) }", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := checkApply(files{"internal/x/a.go": one + tt.body}.module(t), owned, applied{room: "internal/x"})
			if tt.want == "" {
				wantProblems(t, got)
				return
			}
			wantProblems(t, got, tt.want)
		})
	}
}

func TestOnlyNamedExceptionsWriteOutsideApply(t *testing.T) {
	owned := map[string]table{"rows": {owner: "internal/x"}, "leases": {owner: "internal/x"}}
	check := func(body string, tables, functions map[string]string) []string {
		return checkApply(files{"internal/x/a.go": one + body}.module(t), owned, applied{"internal/x", tables, functions})
	}
	body := "func (s *Service) Import() { save(tx, c) }\nfunc (s *Service) Claim() { run(`UPDATE leases SET n = 1`) }"
	leases, imports := map[string]string{"leases": "no record"}, map[string]string{"Service.Import": "in bulk"}
	wantProblems(t, check(body, leases, imports))
	wantProblems(t, check(body, leases, nil), "Service.Import → save")
	wantProblems(t, check(body, nil, imports), "Service.Claim writes leases")
	wantProblems(t, check("", leases, imports), "internal/x.leases is excused", "internal/x.Service.Import is excused")
	none := files{"internal/x/a.go": "package x"}.module(t)
	wantProblems(t, checkApply(none, owned, applied{room: "internal/x"}), "internal/x has no apply")
}
