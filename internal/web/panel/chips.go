package panel

import (
	"slices"

	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/web/page"
)

// chip is a filter that one click sets: a link, so that it works everywhere.
type chip struct {
	Label   string
	URL     string
	Current bool
}

// chipLine is chips that exclude one another.
type chipLine struct {
	Label string // for who does not see it
	Chips []chip
}

// filtered is the list's address with other filters; empty ones go, and the list
// begins at its first page.
func filtered(req *request, pairs ...string) string {
	values := req.URL.Query()
	values.Del("page")
	for pair := range slices.Chunk(pairs, 2) {
		values.Del(pair[0])
		if value := pair[len(pair)-1]; value != "" {
			values.Set(pair[0], value)
		}
	}
	if len(values) == 0 {
		return req.URL.Path
	}
	return req.URL.Path + "?" + values.Encode()
}

// preset is a span of days that has a name.
type preset struct {
	label    string
	from, to civil.Date
}

// presets are the spans that people ask for. Of what lies ahead the next days
// count, of what was paid the last ones.
func presets(today civil.Date, ahead bool) []preset {
	first := today.AddDays(1 - today.Day())
	before := first.AddDays(-1)
	week := preset{"Last 7 days", today.AddDays(-6), today}
	if ahead {
		week = preset{"Next 7 days", today, today.AddDays(6)}
	}
	return []preset{
		{"Today", today, today},
		week,
		{"This month", first, lastOfMonth(first)},
		{"Last month", before.AddDays(1 - before.Day()), before},
	}
}

func lastOfMonth(first civil.Date) civil.Date {
	next := first.AddDays(31)
	return next.AddDays(-next.Day())
}

// dateChips are presets for the fields from and to of a filter.
func dateChips(req *request, from, to string, ahead bool) chipLine {
	query := req.URL.Query()
	line := chipLine{Label: req.lang.T("Period"), Chips: []chip{{
		Label:   req.lang.T("Any date"),
		URL:     filtered(req, from, "", to, ""),
		Current: query.Get(from) == "" && query.Get(to) == "",
	}}}
	for _, span := range presets(req.today, ahead) {
		line.Chips = append(line.Chips, chip{
			Label:   req.lang.T(span.label),
			URL:     filtered(req, from, span.from.String(), to, span.to.String()),
			Current: query.Get(from) == span.from.String() && query.Get(to) == span.to.String(),
		})
	}
	return line
}

func customerChips(req *request) []chipLine {
	status := req.URL.Query().Get("status")
	line := chipLine{Label: req.lang.T("Status"), Chips: []chip{{req.lang.T("All"), filtered(req, "status", ""), status == ""}}}
	for _, option := range []customer.Status{customer.Active, customer.DueToday, customer.Expired, customer.Cancelled} {
		line.Chips = append(line.Chips, chip{
			word(req.lang, string(option)), filtered(req, "status", string(option)), status == string(option),
		})
	}
	return []chipLine{line, dateChips(req, "due_from", "due_to", true)}
}

func invoiceChips(req *request) []chipLine {
	query := req.URL.Query()
	status, overdue := query.Get("status"), query.Get("overdue") == "true"
	line := chipLine{Label: req.lang.T("Status"), Chips: []chip{
		{req.lang.T("All invoices"), filtered(req, "status", "", "overdue", ""), status == "" && !overdue},
		{req.lang.T("Overdue ones"), filtered(req, "status", "", "overdue", "true"), overdue},
		{req.lang.T("Open"), filtered(req, "status", billing.Open.String(), "overdue", ""), status == billing.Open.String() && !overdue},
		{req.lang.T("Paid ones"), filtered(req, "status", billing.Paid.String(), "overdue", ""), status == billing.Paid.String()},
		{req.lang.T("Void ones"), filtered(req, "status", billing.Cancelled.String(), "overdue", ""), status == billing.Cancelled.String()},
	}}
	if status == billing.Paid.String() {
		return []chipLine{line, dateChips(req, "paid_from", "paid_to", false)}
	}
	return []chipLine{line, dateChips(req, "due_from", "due_to", true)}
}

// hiddenFilters are the filters of the address that a form hands on, without
// those that it shows.
func hiddenFilters(req *request, shown ...string) map[string]string {
	values := req.URL.Query()
	for _, name := range append(shown, "page") {
		values.Del(name)
	}
	kept := map[string]string{}
	for name := range values {
		kept[name] = values.Get(name)
	}
	return kept
}

// listQuery is the list's filter, for the links of its rows.
func listQuery(req *request) string { return req.URL.Query().Encode() }

// total is the foot of a list: how many, and what they are worth where that is
// known.
func invoicesTotal(lang page.Lang, count int64, worth string) string {
	text := lang.T("%s invoices", page.FormatInt(count))
	if count == 1 {
		text = lang.T("1 invoice")
	}
	if worth != "" {
		text += " · " + worth
	}
	return text
}
