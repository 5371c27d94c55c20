package panel

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/web/page"
)

// list is what the head and the foot of every list show.
type list struct {
	Form   *page.Form // the filters
	Pager  page.Pager
	Chips  []chipLine
	Hidden map[string]string // filters that the search hands on
	Others map[string]string // filters that the form of more filters hands on
	More   bool              // one of the filters of that form is set
	Total  string            // how many, and what they are worth where that is known
	Export string            // where the list can be had as a file
	Query  string            // the list's filters, for the links of its rows
	Back   string            // the list as it is
	Heads  map[string]sortHead

	Filtered bool
	Arranged arrangement
}

// source is how a list is read: the filter of its address, its order, and its rows.
type source[F comparable, T any] struct {
	list   account.List // as users arrange it; "": they cannot
	filter func(*input.Form) F
	sort   func(url.Values) input.Sort
	rows   func(context.Context, account.Actor, F, input.Page) ([]T, int64, error)
}

// fill reads the page of a list that an address asks for. With a filter that is not
// valid it has all rows, and its form says what is wrong.
func fill[F comparable, T any](req *request, into *list, from source[F, T]) (rows []T, filter F) {
	in, none := req.query(), from.filter(input.FromQuery(nil))
	at := in.Page()
	at.Sort, filter = from.sort(req.URL.Query()), from.filter(in)
	if err := in.Err(); err != nil {
		into.Form.Fail(err)
		filter = none
	}
	rows, total, err := from.rows(req.Context(), req.Actor, filter, at)
	req.note(err)
	into.Pager, into.Filtered = page.NewPager(req.URL, at, total), filter != none
	if from.list != "" {
		into.Arranged = req.panel.arranged(req, from.list)
	}
	return rows, filter
}

// nth finds the record at a number of a list.
func (from source[F, T]) nth(req *request, id func(T) int64) neighbour {
	return func(query url.Values, at input.Page) int64 {
		in := input.FromQuery(query)
		filter := from.filter(in)
		if in.Err() != nil {
			return 0 // an invalid address has no list
		}
		at.Sort = from.sort(query)
		found, _, err := from.rows(req.Context(), req.Actor, filter, at)
		if req.note(err); len(found) == 0 {
			return 0
		}
		return id(found[0])
	}
}

// newList makes the list at an address. folded are the filters of the form of
// more filters; those that chips set too do not unfold it.
func newList(req *request, export string, chips []chipLine, folded ...string) list {
	made := list{
		Form: queryForm(req), Chips: chips, Hidden: hiddenFilters(req, "search"), Others: hiddenFilters(req, folded...),
		Query: req.URL.Query().Encode(), Back: req.URL.RequestURI(), Export: export + "?" + req.URL.RawQuery,
	}
	for _, name := range folded {
		days := strings.HasSuffix(name, "from") || strings.HasSuffix(name, "to")
		made.More = made.More || !days && req.URL.Query().Get(name) != ""
	}
	return made
}

// choiceChips are a filter with values that exclude one another; the first of
// the options is none of them.
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

// sortHead is the head of a column by which a list can be sorted: a link, so that
// it works without scripts. The template "sort-head" shows it.
type sortHead struct {
	Label, URL string
	Icon       string // how the list is sorted; "": not by this column
	Aria       string // the value of aria-sort
	Class      string // of the cell
}

// headOf is the head of the column of a field, in a list that has an order now.
// The first click sorts upwards, the second downwards, the third has the newest
// first again. What the list is filtered by stays; it begins at its first page.
func headOf(req *request, now input.Sort, field, label string) sortHead {
	head := sortHead{Label: req.lang.T(label), Aria: "none"}
	next := input.Sort(field)
	switch {
	case now.Field() != field:
	case now.Descending():
		head.Icon, head.Aria, next = "chevron-down", "descending", input.Newest
	default:
		head.Icon, head.Aria, next = "chevron-up", "ascending", now.Turned()
	}
	head.URL = filtered(req, "sort", string(next))
	return head
}

// sortOf is the order that an address asks for. Of what is late, the oldest debt
// comes first unless it asks for another.
func sortOf(query url.Values) input.Sort {
	if query.Get("sort") == "" && (query.Get("overdue") == "true" || query.Get("status") == string(customer.Expired)) {
		return input.ByDueDate
	}
	return input.FromQuery(query).Sort()
}

// sortsBy reads the order that an address asks for by one of a list's fields.
func sortsBy(fields ...string) func(url.Values) input.Sort {
	return func(query url.Values) input.Sort { return input.KnownSort(query.Get("sort"), fields...) }
}

// headsOf are the heads of a list by field, of fields and labels in turn.
func headsOf(req *request, now input.Sort, pairs ...string) map[string]sortHead {
	heads := map[string]sortHead{}
	for pair := range slices.Chunk(pairs, 2) {
		heads[pair[0]] = headOf(req, now, pair[0], pair[1])
	}
	return heads
}

// byTime is the order of a list that is in the order of time.
var byTime = sortsBy(input.ByID)

// timeHeads are the heads of a list that is in the order of time: the newest first,
// or the oldest.
func timeHeads(req *request) map[string]sortHead {
	head := sortHead{
		Label: req.lang.T("When"), Icon: "chevron-down", Aria: "descending", URL: filtered(req, "sort", input.ByID),
	}
	if !byTime(req.URL.Query()).IsNewest() {
		head.Icon, head.Aria, head.URL = "chevron-up", "ascending", filtered(req, "sort", "")
	}
	return map[string]sortHead{input.ByID: head}
}

// maxPicked is how many records one piece of work may change.
const maxPicked = 1000

// picks is what a list's form chose: records that are ticked, or all of a filter.
type picks struct {
	IDs   []int64
	All   bool   // of the filter
	Query string // the filter, as the list's address has it
}

func readPicks(req *request) (picks, error) {
	chosen := picks{All: req.PostFormValue("all") != "", Query: req.PostFormValue("of")}
	if chosen.All {
		return chosen, nil
	}
	for _, text := range req.PostForm["id"] {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id <= 0 {
			return chosen, fault.NotFound("customer")
		}
		chosen.IDs = append(chosen.IDs, id)
	}
	if len(chosen.IDs) == 0 {
		return chosen, fault.New(fault.KindInvalid, "pick at least one customer")
	}
	return chosen, nil
}

// filterForm is the filter of picks, as a query.
func (p picks) filterForm() (*input.Form, error) {
	values, err := url.ParseQuery(p.Query)
	if err != nil {
		return nil, fault.New(fault.KindInvalid, "the form could not be read")
	}
	values.Del("page")
	return input.FromQuery(values), nil
}

var (
	errEnough  = errors.New("enough records")
	errTooMany = fault.New(fault.KindInvalid, "pick fewer customers at once")
)

func picked[F, T any](
	req *request, chosen picks, limit int, readFilter func(*input.Form) F,
	find func(context.Context, account.Actor, int64) (T, error),
	walk func(context.Context, account.Actor, F, func(T) error) error,
) (list []T, err error) {
	if !chosen.All && len(chosen.IDs) > limit {
		return nil, errTooMany
	}
	if !chosen.All {
		for _, id := range chosen.IDs {
			record, err := find(req.Context(), req.Actor, id)
			if err != nil {
				return nil, err
			}
			list = append(list, record)
		}
		return list, nil
	}
	in, err := chosen.filterForm()
	if err != nil {
		return nil, err
	}
	filter := readFilter(in)
	if err := in.Err(); err != nil {
		return nil, err
	}
	err = walk(req.Context(), req.Actor, filter, func(record T) error {
		if list = append(list, record); len(list) > limit {
			return errEnough
		}
		return nil
	})
	return list, enough(err, len(list))
}

// enough turns the end of a walk into a text for people.
func enough(err error, found int) error {
	switch {
	case errors.Is(err, errEnough):
		return errTooMany
	case err == nil && found == 0:
		return fault.New(fault.KindInvalid, "pick at least one customer")
	}
	return err
}
