package architecture

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// An import on SQLite writes customers that stay hidden until all are there. A
// statement that finds customers leaves them out by customer.Visible; one that
// need not, or must not, has a reason here, by package and name. A LEFT JOIN
// finds none: its left side has a row of the customer already.
var seesStaged = map[string]string{
	"internal/billing.scheduled":                  "nothing is scheduled for a customer before it is visible",
	"internal/customer.Unique.Taken":              "a login or key that is staged is taken",
	"internal/customer.a variable of the package": "listing adds the condition, for whichever column has the id",
	"internal/customer.markImported":              "is the import",
	"internal/customer.Staged":                    "is the import",
	"internal/customer.refuseTaken":               "a login or key that is staged is taken",
}

// checkStaged looks at every text that reads customers.
func checkStaged(module module, excused map[string]string) []string {
	var problems []string
	unused := maps.Clone(excused)
	for _, pkg := range programPackages(module) {
		for _, text := range pkg.texts() {
			_, read := tablesOf(strings.ReplaceAll(text.text, "LEFT JOIN customers", ""), map[string]bool{"customers": true})
			if len(read) == 0 || strings.Contains(text.text, visibleMark) {
				continue
			}
			name := pkg.path + "." + text.owner
			if delete(unused, name); excused[name] == "" {
				statement := strings.Join(strings.Fields(strings.ReplaceAll(text.text, hole, " … ")), " ")
				problems = append(problems, fmt.Sprintf("%s: %s reads customers without customer.Visible: %s", module.at(text.node), name, statement))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(unused)) {
		problems = append(problems, name+" is in seesStaged and needs no excuse")
	}
	return problems
}

func TestStatementsLeaveOutCustomersThatAreStaged(t *testing.T) {
	report(t, checkStaged(realModule(t), seesStaged))
}
