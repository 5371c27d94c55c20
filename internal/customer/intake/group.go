package intake

import "slices"

// Group is what several lines have in common: a plan that does not exist, phones
// without a ninth digit.
type Group struct {
	Field  string    `json:"field"`
	Value  string    `json:"value"` // that all of them have; "": it differs
	Reason string    `json:"reason"`
	Count  int       `json:"count"`
	First  []Problem `json:"first"` // the first of them
}

const (
	maxGroups = 40
	maxFirst  = 8 // lines that are shown of a group
)

// addTo counts a problem among those that are alike. A missing plan or product is
// another problem for each name. What fits no group any more is counted with the last.
func addTo(groups []Group, problem Problem) []Group {
	value := ""
	if problem.Field == "plan" || problem.Field == "product" {
		value = problem.Value
	}
	n := slices.IndexFunc(groups, func(group Group) bool {
		return group.Field == problem.Field && group.Reason == problem.Reason && group.Value == value
	})
	switch {
	case n >= 0:
	case len(groups) == maxGroups:
		n = maxGroups - 1
	default:
		groups = append(groups, Group{Field: problem.Field, Value: value, Reason: problem.Reason})
		n = len(groups) - 1
	}
	groups[n].Count++
	if len(groups[n].First) < maxFirst {
		groups[n].First = append(groups[n].First, problem)
	}
	return groups
}
