package main

import (
	"fmt"
	"slices"
)

// row is one line of the table.
type row struct{ name, value string }

func (m *metrics) rows() []row {
	code := float64(max(1, m.codeLines))
	functions := max(1, len(m.functions))
	return []row{
		{"code lines", fmt.Sprint(m.codeLines)},
		{"test / code", fmt.Sprintf("%.2f", float64(m.testLines)/code)},
		{"functions", fmt.Sprint(len(m.functions))},
		{"function lines: median / p90 / p99 / max", spread(m.functions)},
		{"function tokens: median / p90 / p99 / max", spread(m.functionTokens)},
		{"tokens per line", fmt.Sprintf("%.1f", float64(m.tokens)/code)},
		{fmt.Sprintf("lines > %d wide, %%", wide), fmt.Sprintf("%.1f", 100*float64(m.wideLines)/code)},
		{"file lines: median / p90 / p99 / max", spread(m.fileLines)},
		{"files > 400", fmt.Sprint(above(m.fileLines, 400))},
		{"cyclomatic: median / p90 / p99 / max", spread(m.complexity)},
		{"functions with cyclomatic > 10, %", share(above(m.complexity, 10), functions)},
		{"deepest nesting", fmt.Sprint(m.deepest)},
		{"parameters: median / p90 / p99 / max", spread(m.parameters)},
		{"functions with > 4 parameters, %", share(above(m.parameters, 4), functions)},
		{"bool parameters per 100 functions", share(m.boolParameters, functions)},
		{"local names: mean length", fmt.Sprintf("%.1f", mean(m.localNames))},
		{"local names of one letter, %", share(len(m.localNames)-above(m.localNames, 1), max(1, len(m.localNames)))},
		{"structs that embed their service", fmt.Sprint(m.embedded)},
		{"interfaces", fmt.Sprint(m.interfaces)},
		{"comment lines, % of code", share(m.commentLines, int(code))},
		{"undocumented exports, %", share(m.undocumented, max(1, m.exported))},
		{"packages with a doc", fmt.Sprintf("%d/%d", len(m.documented), len(m.packages))},
		{"TODO/FIXME", fmt.Sprint(m.todos)},
		{"longest test function", fmt.Sprint(m.longestTest)},
	}
}

func spread(list []int) string {
	return fmt.Sprintf(
		"%d / %d / %d / %d",
		quantile(list, 50),
		quantile(list, 90),
		quantile(list, 99),
		quantile(list, 100),
	)
}

// quantile is the smallest number that percent of a list do not exceed.
func quantile(list []int, percent int) int {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return sorted[max(0, (len(sorted)*percent+99)/100-1)]
}

func above(list []int, limit int) int {
	n := 0
	for _, v := range list {
		if v > limit {
			n++
		}
	}
	return n
}

func share(part, of int) string {
	return fmt.Sprintf("%.1f", 100*float64(part)/float64(of))
}

func mean(list []int) float64 {
	sum := 0
	for _, v := range list {
		sum += v
	}
	return float64(sum) / float64(max(1, len(list)))
}
