package architecture

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every statement holds each company's table in it to a company: by an
// equation of company_id, or by company_id among the columns that it inserts. A
// condition that is forgotten shows one company the customers of another. A
// statement that works for all companies says so in a comment.
const everyCompany = "/* every company_id */"

// sparing excuses some tables of one function's statements.
type sparing struct {
	tables []string // a hole is one that varies
	why    string
}

// spared are the functions with an excuse, by package and name.
var spared = map[string]sparing{
	"internal/platform/listing.ids":      {[]string{hole}, "its Table names the Owner, which matches and Rows hold to the company"},
	"internal/platform/listing.IDs":      {[]string{hole}, "as ids"},
	"internal/platform/listing.First":    {[]string{hole}, "as ids"},
	"internal/platform/listing.part":     {[]string{hole}, "as ids"},
	"internal/platform/listing.page":     {[]string{hole}, "as ids"},
	"internal/platform/listing.found":    {[]string{hole}, "as ids"},
	"internal/platform/listing.clear":    {[]string{hole}, "the row that knows whether any row is hidden"},
	"internal/platform/listing.Count":    {[]string{hole}, "as ids"},
	"internal/platform/listing.rowsText": {[]string{hole}, "as ids"},
	"internal/customer.CompanyOf":        {[]string{"customers"}, "the command line has a customer's id and asks whose it is"},
	"internal/tally.Compact":             {[]string{"tally_deltas"}, "finds the companies that have work waiting, and reads nothing else of theirs"},
}

// migrationFolders are the two that must give the same tables.
var migrationFolders = []string{
	"internal/platform/sqldb/migrations/postgres",
	"internal/platform/sqldb/migrations/sqlite",
}

// companyTables finds the tables that have a company_id, in either folder.
func companyTables(fsys fs.FS) (map[string]bool, error) {
	tables := map[string]bool{}
	for _, dir := range migrationFolders {
		names, err := fs.Glob(fsys, path.Join(dir, "*.sql"))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			text, err := fs.ReadFile(fsys, name)
			if err != nil {
				return nil, err
			}
			addCompanyTables(tables, words(string(text)))
		}
	}
	return tables, nil
}

// addCompanyTables reads CREATE TABLE t (…), ALTER TABLE t ADD COLUMN and
// ALTER TABLE t RENAME TO u.
func addCompanyTables(tables map[string]bool, w []string) {
	for i := range w {
		if !is(w, i, "TABLE") {
			continue
		}
		at := i + 1
		if is(w, at, "IF", "NOT", "EXISTS") {
			at += 3
		}
		name := word(w, at)
		switch {
		case word(w, at+1) == "(" && slices.Contains(columns(w[at+2:]), "company_id"),
			is(w, at+1, "ADD", "company_id"), is(w, at+1, "ADD", "COLUMN", "company_id"):
			tables[name] = true
		case is(w, at+1, "RENAME", "TO") && tables[name]:
			tables[word(w, at+3)] = true
		}
	}
}

// columns lists the first word of each part of a parenthesis that w begins
// inside of.
func columns(w []string) []string {
	var list []string
	depth, first := 0, true
	for _, text := range w {
		if first {
			list, first = append(list, text), false
		}
		switch {
		case text == "(":
			depth++
		case text == ")" && depth == 0:
			return list
		case text == ")":
			depth--
		case text == "," && depth == 0:
			first = true
		}
	}
	return list
}

var sqlWord = regexp.MustCompile(`(?s)/\*.*?\*/|--[^\n]*|'[^']*'|[\w` + hole + `]+|[^\s\w]`)

// words cuts SQL into words and signs; comments and quoted texts are left out.
func words(text string) []string {
	var list []string
	for _, s := range sqlWord.FindAllString(text, -1) {
		if !strings.HasPrefix(s, "/*") && !strings.HasPrefix(s, "--") && s[0] != '\'' {
			list = append(list, strings.Trim(s, `"`))
		}
	}
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}

func word(w []string, i int) string {
	if i < 0 || i >= len(w) {
		return ""
	}
	return w[i]
}

// is reports whether the words at i are these, ignoring case.
func is(w []string, i int, these ...string) bool {
	for n, s := range these {
		if !strings.EqualFold(word(w, i+n), s) {
			return false
		}
	}
	return true
}

// isStatement reports whether a text is SQL, and not another text or a part of
// a statement.
func isStatement(w []string) bool {
	start := 0
	for word(w, start) == "(" {
		start++
	}
	update := is(w, start, "UPDATE") && slices.ContainsFunc(w, func(s string) bool { return strings.EqualFold(s, "SET") })
	return update || is(w, start, "SELECT") || is(w, start, "WITH") || is(w, start, "INSERT", "INTO") ||
		is(w, start, "REPLACE", "INTO") || is(w, start, "DELETE", "FROM") || is(w, start, "TRUNCATE") || is(w, start, "MERGE", "INTO")
}

// tablesIn lists the tables that a statement reads or writes, those of
// subqueries too, each as often as it is named.
func tablesIn(w []string) []string {
	var list []string
	for i := range w {
		switch {
		case is(w, i, "FROM"), is(w, i, "USING"):
			list = append(list, fromList(w, i+1)...)
		case is(w, i, "JOIN"), is(w, i, "INTO"), is(w, i, "UPDATE"), is(w, i, "TRUNCATE"):
			at := i + 1
			for is(w, at, "LATERAL") || is(w, at, "ONLY") || is(w, at, "TABLE") {
				at++
			}
			list = append(list, word(w, at))
		}
	}
	return list
}

// fromList reads t, u AS v, w x.
func fromList(w []string, at int) []string {
	var list []string
	for {
		for is(w, at, "ONLY") || is(w, at, "LATERAL") {
			at++
		}
		list = append(list, word(w, at))
		at++
		if is(w, at, "AS") {
			at++
		}
		if word(w, at) != "," {
			at++
		}
		if word(w, at) != "," {
			return list
		}
		at++
	}
}

// companies counts how often a statement holds a table to a company.
func companies(w []string) int {
	count := 0
	for i := range w {
		switch {
		case w[i] == "=" && (is(w, i-1, "company_id") || is(w, i+1, "company_id") || word(w, i+2) == "." && is(w, i+3, "company_id")),
			is(w, i, "company_id", "IN"), is(w, i, "company_id", "{", "in"),
			is(w, i, "USING", "(") && slices.Contains(columns(w[i+2:]), "company_id"),
			is(w, i, "INTO") && slices.Contains(inserted(w, i+2), "company_id"):
			count++
		}
	}
	return count
}

// inserted lists the columns of INSERT INTO t AS a (…); at is after t.
func inserted(w []string, at int) []string {
	if is(w, at, "AS") {
		at += 2
	}
	if word(w, at) != "(" {
		return nil
	}
	return columns(w[at+1:])
}

// lacking returns what a text lacks: "" when it is no statement, is on no
// company's table but those spared, or holds each to a company. A table that
// the text does not name may be a company's.
func lacking(text string, tables map[string]bool, spare []string) string {
	w := words(text)
	if !isStatement(w) || strings.Contains(text, everyCompany) {
		return ""
	}
	var of []string
	for _, value := range tablesIn(w) {
		value = strings.ToLower(value)
		if strings.Contains(value, hole) {
			value = hole
		}
		if (tables[value] || value == hole) && !slices.Contains(spare, value) {
			of = append(of, value)
		}
	}
	held := companies(w)
	if held >= len(of) {
		return ""
	}
	names := strings.ReplaceAll(strings.Join(of, ", "), hole, "a table that varies")
	return fmt.Sprintf("a statement on %s holds %d of %d to a company_id", names, held, len(of))
}

// checkStatements looks at every text of the program that is a statement.
func checkStatements(module module, tables map[string]bool, spared map[string]sparing) []string {
	var problems []string
	unused := maps.Clone(spared)
	for _, pkg := range programPackages(module) {
		for _, text := range pkg.texts() {
			name := pkg.path + "." + text.function
			if lacking(text.text, tables, nil) != "" {
				delete(unused, name)
			}
			if lack := lacking(text.text, tables, spared[name].tables); lack != "" {
				statement := strings.Join(strings.Fields(strings.ReplaceAll(text.text, hole, " … ")), " ")
				problems = append(problems, fmt.Sprintf("%s: %s: %s", module.at(text.node), lack, statement))
			}
		}
	}
	for name := range unused {
		problems = append(problems, name+" stands in spared and needs no excuse")
	}
	return problems
}

// programPackages are those with statements that the program runs.
func programPackages(module module) []texts {
	byPath := map[string]*texts{}
	var order []string
	for _, file := range module.files {
		if file.test || covers("test/...", file.pkg) {
			continue
		}
		if byPath[file.pkg] == nil {
			byPath[file.pkg] = &texts{path: file.pkg}
			order = append(order, file.pkg)
		}
		byPath[file.pkg].files = append(byPath[file.pkg].files, file.ast)
	}
	var list []texts
	for _, p := range order {
		list = append(list, *byPath[p])
	}
	return list
}

func TestStatementsNameTheCompany(t *testing.T) {
	tables, err := companyTables(root)
	if err != nil {
		t.Fatal(err)
	}
	report(t, checkStatements(realModule(t), tables, spared))
}

// The check above says nothing when it finds no tables or no statements.
func TestTheCheckSeesTablesAndStatements(t *testing.T) {
	tables, err := companyTables(root)
	if err != nil {
		t.Fatal(err)
	}
	if tables["companies"] || tables["secret_keys"] {
		t.Errorf("tables without company_id are among %v", slices.Sorted(maps.Keys(tables)))
	}
	seen := map[string]int{}
	for _, pkg := range programPackages(realModule(t)) {
		for _, text := range pkg.texts() {
			if w := words(text.text); isStatement(w) {
				for _, table := range tablesIn(w) {
					seen[table]++
				}
			}
		}
	}
	for _, table := range []string{"users", "api_tokens", "customers", "tally_deltas", "products", "customer_plans", "events", "idempotency_keys"} {
		if !tables[table] {
			t.Errorf("%s is not among the companies' tables %v", table, slices.Sorted(maps.Keys(tables)))
		}
		if seen[table] == 0 {
			t.Errorf("no statement on %s was seen: %v", table, seen)
		}
	}
}

func TestCompanyTablesAreReadFromMigrations(t *testing.T) {
	got, err := companyTables(files{
		migrationFolders[0] + "/0001_a.sql": `
			-- CREATE TABLE commented (company_id BIGINT);
			CREATE TABLE companies (id BIGINT PRIMARY KEY, parent_id BIGINT CHECK (parent_id <> id));
			CREATE TABLE IF NOT EXISTS rows (id BIGINT CHECK (id IN (1, 2)), "company_id" BIGINT NOT NULL);
			CREATE UNLOGGED TABLE calls (token_id BIGINT, FOREIGN KEY (company_id) REFERENCES companies (id));`,
		migrationFolders[1] + "/0002_b.sql": `
			CREATE TABLE later (id INTEGER) STRICT; ALTER TABLE later ADD COLUMN company_id INTEGER;
			ALTER TABLE later RENAME TO latest; ALTER TABLE companies RENAME TO firms;`,
	}.fs())
	if err != nil {
		t.Fatal(err)
	}
	if names := strings.Join(slices.Sorted(maps.Keys(got)), " "); names != "later latest rows" {
		t.Errorf("tables %q", names)
	}
}

func TestAStatementWithoutTheCompanyIsFound(t *testing.T) {
	tables := map[string]bool{"customers": true, "products": true, "events": true}
	tests := map[string]struct{ body, want string }{
		"plain":         {"func f() { run(`SELECT name FROM customers WHERE id = ?`) }", "a.go:2: a statement on customers holds 0 of 1 to a company_id: SELECT name"},
		"lower case":    {"func f() { run(`select name from customers where id = ?`) }", "on customers holds 0"},
		"update":        {"func f() { run(`UPDATE customers SET name = ? WHERE id = ?`) }", "on customers holds 0"},
		"delete":        {"func f() { run(`DELETE FROM customers WHERE id = ?`) }", "on customers holds 0"},
		"insert":        {"func f() { run(`INSERT INTO customers (name) VALUES (?)`) }", "on customers holds 0"},
		"insert select": {"func f() { run(`INSERT INTO customers SELECT company_id, id FROM x`) }", "on customers holds 0"},
		"join":          {"func f() { run(`SELECT 1 FROM companies c JOIN customers k ON k.id = c.id`) }", "on customers holds 0"},
		"joined only":   {"func f() { run(`SELECT 1 FROM customers c JOIN products p ON p.company_id = c.company_id WHERE c.id = ?`) }", "on customers, products holds 1 of 2"},
		"comma":         {"func f() { run(`SELECT 1 FROM companies AS c, customers k`) }", "on customers holds 0"},
		"subquery":      {"func f() { run(`SELECT (SELECT n FROM products) FROM customers WHERE company_id = ?`) }", "on products, customers holds 1 of 2"},
		"with":          {"func f() { run(`WITH x AS (SELECT id FROM customers) SELECT id FROM x`) }", "on customers holds 0"},
		"selected only": {"func f() { run(`SELECT company_id FROM customers ORDER BY company_id`) }", "on customers holds 0"},
		"in a comment":  {"func f() { run(`SELECT 1 FROM customers -- company_id = ?`) }", "on customers holds 0"},
		"in quotes":     {"func f() { run(`SELECT 'company_id = 1' FROM customers`) }", "on customers holds 0"},
		"concatenation": {"func f() { run(`SELECT name ` + `FROM ` + (`customers`) + ` WHERE id = ?`) }", "on customers holds 0"},
		"constant":      {"const sel = `SELECT name FROM customers`\nfunc f() { run(sel + ` WHERE id = ?`) }", "a.go:3: a statement on customers holds 0"},
		"exported":      {"const Select = `SELECT name FROM customers`", "on customers holds 0"},
		"variable":      {"func f() { q := `SELECT name`; q += ` FROM customers`; run(q) }", "on customers holds 0"},
		"either way":    {"func f() { q := `SELECT 1 FROM customers WHERE company_id = ?`; if x() { q = ` SELECT 1 FROM customers` }; run(q) }", "holds 1 of 2"},
		"one of two":    {"func f() { q := `DELETE FROM customers`; if x() { q = `DELETE FROM companies` }; run(q) }", "on customers holds 0 of 1"},
		"in two parts":  {"func f() { q := `DELETE FROM cust`; q += `omers`; run(q) }", "on customers holds 0 of 1"},
		"returned":      {"func f() string { return `SELECT name FROM customers` }", "on customers holds 0"},
		"in a slice":    {"var all = []string{`SELECT name FROM customers`}", "on customers holds 0"},
		"compared":      {"func f() bool { return x == `SELECT name FROM customers` }", "on customers holds 0"},
		"conditions":    {"func f() { var w Where; w.And(`id = ?`); run(`SELECT 1 FROM customers` + w.String()) }", "on customers holds 0"},
		"in a call":     {"func f() { run(`x` + g(`SELECT 1 FROM customers`)) }", "on customers holds 0"},
		"varying":       {"func f(table string) { run(`DELETE FROM ` + table + ` WHERE id = ?`) }", "on a table that varies holds 0"},
		"returned to": {
			"func f() { run(`SELECT 1 FROM ` + from()) }\nfunc from() string { return `customers` }", "on customers holds 0",
		},
		"returned to the same name": {
			"func f() { q, n := from(); run(`SELECT 1 FROM ` + q) }\nfunc from() (string, int) { q := `customers`; return q, 1 }", "on customers holds 0",
		},
		"returned beside": {
			"func f() { n, q := from(); run(`SELECT 1 FROM ` + q) }\nfunc from() (n int, q string) { return 1, `customers` }", "on customers holds 0",
		},
		"half varying": {"func f(table string) { run(`DELETE FROM customer_` + table + ` WHERE id = ?`) }", "on a table that varies holds 0"},

		"held":                 {"func f() { run(`SELECT c.name FROM customers c WHERE c.company_id = ? AND c.id = ?`) }", ""},
		"both joined and held": {"func f() { run(`SELECT 1 FROM customers c JOIN products p ON p.company_id = c.company_id WHERE c.company_id = ?`) }", ""},
		"by its company":       {"func f() { run(`SELECT 1 FROM customers k JOIN companies c ON c.id = k.company_id`) }", ""},
		"in a list":            {"func f() { run(`SELECT 1 FROM customers WHERE company_id IN (?)`) }", ""},
		"in one argument":      {"func f() { run(`SELECT 1 FROM customers WHERE company_id {in ?}`) }", ""},
		"using":                {"func f() { run(`SELECT 1 FROM customers JOIN products USING (company_id) WHERE company_id = ?`) }", ""},
		"a part":               {"const from = ` FROM customers`\nfunc f() { run(`SELECT name` + from + ` WHERE company_id = ?`) }", ""},
		"another table":        {"func f() { run(`SELECT name FROM companies`) }", ""},
		"a column of the name": {"func f() { run(`INSERT INTO webhooks (events) VALUES (?)`) }", ""},
		"every company":        {"func f() { run(`DELETE FROM customers /* every company_id */`) }", ""},
		"English":              {"func f() { say(`update customers from a file`) }", ""},
		"its condition":        {"func f() { var w Where; w.And(`company_id = ?`); run(`SELECT 1 FROM customers` + w.String()) }", ""},
		"a function's condition": {
			"func f() { w, err := where(1); run(`SELECT 1 FROM customers` + w.String()) }\nfunc where(id int) (w Where, err error) { w.And(`company_id = ?`); return }", "",
		},
		"a function's text": {
			"func f() { from, args := both(1); run(`SELECT n FROM ` + from) }\nfunc both(id int) (string, []any) { return `(SELECT n FROM customers WHERE company_id = ?) AS c`, nil }", "",
		},
		"a parameter of a constant's name": {"const sel = `SELECT 1 FROM customers`\nfunc f(sel string) { run(sel) }", ""},
		"two of each": {
			"func f() { in := ` WHERE company_id = ?`; run(`SELECT 1 FROM customers` + in + ` UNION ALL SELECT 1 FROM products` + in) }", "",
		},
		"an upsert": {
			"func f() { run(`INSERT INTO customers AS c (company_id, n) VALUES (?, ?) ON CONFLICT (company_id) DO UPDATE SET n = c.n`) }", "",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := checkStatements(files{"internal/x/a.go": "package x\n" + tt.body}.module(t), tables, nil)
			if tt.want == "" {
				wantProblems(t, got)
				return
			}
			wantProblems(t, got, tt.want)
		})
	}
}

func TestOnlyWhatIsSparedIsSpared(t *testing.T) {
	module := files{"internal/x/a.go": "package x\nfunc f(t string) { run(`SELECT 1 FROM customers c JOIN ` + t + ` u`) }"}.module(t)
	tables := map[string]bool{"customers": true}
	wantProblems(t, checkStatements(module, tables, map[string]sparing{"internal/x.f": {[]string{hole, "customers"}, "because"}}))
	wantProblems(t, checkStatements(module, tables, map[string]sparing{"internal/x.f": {[]string{hole}, "because"}}), "on customers holds 0 of 1")
	module = files{"internal/x/a.go": "package x\nfunc f() { run(`SELECT 1 FROM customers WHERE company_id = ?`) }"}.module(t)
	wantProblems(t, checkStatements(module, tables, map[string]sparing{"internal/x.f": {[]string{"customers"}, "because"}}), "internal/x.f stands in spared")
}

// Methods of one name are distinguished by their results, so that the error of one
// is not taken for the statement of another.
func TestAStatementIsOnlyWhatIsReturnedAsOne(t *testing.T) {
	methods := "\nfunc (g group) statement(s string) error { return run(s) }" +
		"\nfunc (r reading) statement(t string) (text string, n int) { return `SELECT 1 FROM ` + t, 1 }"
	spared := map[string]sparing{"internal/x.statement": {[]string{hole}, "because"}}
	tests := map[string]struct {
		body string
		want []string
	}{
		"an error":  {"func f() error { q := `BEGIN`; err := g.statement(q); return err }", nil},
		"a text":    {"func f() { q, n := r.statement(`t`); run(q) }", []string{"a.go:2: a statement on a table that varies holds 0 of 1"}},
		"a number":  {"func f() { q, n := r.statement(`t`); run(n) }", nil},
		"same name": {"func f() { text, n := r.statement(`t`); run(text) }", []string{"a.go:2: a statement on a table that varies holds 0 of 1"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			module := files{"internal/x/a.go": "package x\n" + tt.body + methods}.module(t)
			wantProblems(t, checkStatements(module, nil, spared), tt.want...)
		})
	}
}

func TestStatementsOfTestsMayLookAtEveryRow(t *testing.T) {
	statement := "package x\nfunc f() { run(`SELECT 1 FROM customers`) }"
	module := files{"internal/x/a_test.go": statement, "test/bench/main.go": statement}.module(t)
	wantProblems(t, checkStatements(module, map[string]bool{"customers": true}, nil))
}
