package panel

import (
	"strings"

	"carteira/internal/web/page"
)

// list is what the head and the foot of every list show.
type list struct {
	Form   *page.Form // the filters
	Pager  page.Pager
	Chips  []chipLine
	Others map[string]string // filters that the form of more filters hands on
	More   bool              // one of the filters of that form is set
	Total  string            // how many, and what they are worth where that is known
	Export string            // where the list can be had as a file
	Query  string            // the list's filters, for the links of its rows
	Back   string            // the list as it is
	Heads  map[string]sortHead

	Arranged arrangement
}

// newList makes the list at an address. folded are the filters of the form of
// more filters; those that chips set too do not unfold it.
func newList(req *request, export string, chips []chipLine, folded ...string) list {
	made := list{
		Form:   queryForm(req),
		Chips:  chips,
		Others: hiddenFilters(req, folded...),
		Query:  listQuery(req),
		Back:   req.URL.RequestURI(),
		Export: export + "?" + req.URL.RawQuery,
	}
	for _, name := range folded {
		days := strings.HasSuffix(name, "from") || strings.HasSuffix(name, "to")
		made.More = made.More || !days && req.URL.Query().Get(name) != ""
	}
	return made
}

// choiceChips are a filter whose values exclude one another; the first of the
// options is none of them.
func choiceChips(req *request, label, name string, options []page.Option) chipLine {
	chosen := req.URL.Query().Get(name)
	line := chipLine{Label: req.lang.T(label)}
	for _, option := range options {
		line.Chips = append(line.Chips, chip{
			Label:   option.Label,
			URL:     filtered(req, name, option.Value),
			Current: chosen == option.Value,
		})
	}
	return line
}

// counted is a number of records in words; one and many are English, many with
// the verb of the number.
func counted(lang page.Lang, count int64, one, many string) string {
	if count == 1 {
		return lang.T(one)
	}
	return lang.T(many, page.FormatInt(count))
}

// countedTo is counted of what is counted no further than a bound.
func countedTo(lang page.Lang, count, bound int64, one, many string) string {
	if count < bound {
		return counted(lang, count, one, many)
	}
	return lang.T("more than %s", counted(lang, count, one, many))
}
