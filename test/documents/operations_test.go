package documents

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"carteira/internal/web/api"
)

// seed is how many operations the first edition of the API has: they stay.
const seed = 39

// checkOperations wants README.md to say how many operations the API has.
func checkOperations(text string, served int) []string {
	want := fmt.Sprintf("all %d operations of the first edition and %d more", seed, served-seed)
	if !strings.Contains(strings.Join(strings.Fields(strings.ToLower(text)), " "), want) {
		return []string{"it should say that " + want + " are served"}
	}
	return nil
}

func TestReadmeSaysHowManyOperationsThereAre(t *testing.T) {
	report(t, "README.md", checkOperations(read(t, "README.md"), len(api.New(api.Deps{}).Operations())))
}

func TestAWrongNumberOfOperationsIsFound(t *testing.T) {
	wantProblems(t, checkOperations("All\n39 operations of the first edition and 2 more", 41))
	wantProblems(t, checkOperations("all 39 operations of the first edition and 2 more", 42), "and 3 more")
}

var metric = regexp.MustCompile(`\bcarteira_(?:[a-z]+_)+[a-z]+\b`)

// checkMetrics compares the metrics in a text with those in the source.
func checkMetrics(text, source string) []string {
	set := func(s string) []string {
		list := metric.FindAllString(s, -1)
		slices.Sort(list)
		return slices.Compact(list)
	}
	var problems []string
	there, told := set(source), set(text)
	for _, m := range there {
		if !slices.Contains(told, m) {
			problems = append(problems, m+" is not there")
		}
	}
	for _, m := range told {
		if !slices.Contains(there, m) {
			problems = append(problems, "nothing counts "+m)
		}
	}
	return problems
}

// declared is where source names a metric: as the name of its options, or as the
// first argument of its description, of Counter or of Histogram.
var declared = regexp.MustCompile(`(?:Name:|NewDesc\(|Counter\(|Histogram\()\s*"carteira_[a-z_]+"`)

func TestOperatingNamesEveryMetric(t *testing.T) {
	var source []string
	for _, text := range goFiles(t) {
		source = append(source, declared.FindAllString(text, -1)...)
	}
	report(t, "docs/operating.md", checkMetrics(read(t, "docs/operating.md"), strings.Join(source, "\n")))
}

func TestAMetricThatIsNotToldIsFound(t *testing.T) {
	wantProblems(t, checkMetrics("`carteira_http_total`, `carteira_old_total`", `Name: "carteira_http_total"`+"\n"+`NewDesc("carteira_db_open")`),
		"carteira_db_open is not there", "nothing counts carteira_old_total")
}
