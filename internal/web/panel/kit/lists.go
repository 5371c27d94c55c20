package kit

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

// Listing is what the head and the foot of every list show.
type Listing struct {
	Form   *page.Form // the filters
	Pager  page.Pager
	Chips  []ChipLine
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

// Source is how a list is read: the filter of its address, its order, and its rows.
type Source[F comparable, T any] struct {
	list   account.List // as users arrange it; "": they cannot
	filter func(*input.Form) F
	sort   func(url.Values) input.Sort
	rows   func(context.Context, account.Actor, F, input.Page) ([]T, int64, error)
}

// ListOf is a list of rows that a filter and an order choose; name is what users
// arrange it by, "" where they cannot.
func ListOf[F comparable, T any](
	name account.List, filter func(*input.Form) F, order func(url.Values) input.Sort,
	rows func(context.Context, account.Actor, F, input.Page) ([]T, int64, error),
) Source[F, T] {
	return Source[F, T]{name, filter, order, rows}
}

// Fill reads the page of a list that an address asks for. With a filter that is not
// valid it has all rows, and its form says what is wrong.
func Fill[F comparable, T any](req *Request, into *Listing, from Source[F, T]) (rows []T, filter F) {
	in, none := req.Query(), from.filter(input.FromQuery(nil))
	at := in.Page()
	at.Sort, filter = from.sort(req.URL.Query()), from.filter(in)
	if err := in.Err(); err != nil {
		into.Form.Fail(err)
		filter = none
	}
	rows, total, err := from.rows(req.Context(), req.Actor, filter, at)
	req.Note(err)
	into.Pager, into.Filtered = page.NewPager(req.URL, at, total), filter != none
	if from.list != "" {
		into.Arranged = req.panel.arranged(req, from.list)
	}
	return rows, filter
}

// Nth finds the record at a number of a list.
func (from Source[F, T]) Nth(req *Request, id func(T) int64) neighbour {
	return func(query url.Values, at input.Page) int64 {
		in := input.FromQuery(query)
		filter := from.filter(in)
		if in.Err() != nil {
			return 0 // an invalid address has no list
		}
		at.Sort = from.sort(query)
		found, _, err := from.rows(req.Context(), req.Actor, filter, at)
		if req.Note(err); len(found) == 0 {
			return 0
		}
		return id(found[0])
	}
}

// NewList makes the list at an address. folded are the filters of the form of
// more filters; those that chips set too do not unfold it.
func NewList(req *Request, export string, chips []ChipLine, folded ...string) Listing {
	made := Listing{
		Form: QueryForm(req), Chips: chips, Hidden: hiddenFilters(req, "search"), Others: hiddenFilters(req, folded...),
		Query: req.URL.Query().Encode(), Back: req.URL.RequestURI(), Export: export + "?" + req.URL.RawQuery,
	}
	for _, name := range folded {
		days := strings.HasSuffix(name, "from") || strings.HasSuffix(name, "to")
		made.More = made.More || !days && req.URL.Query().Get(name) != ""
	}
	return made
}

// ChoiceChips are a filter with values that exclude one another; the first of
// the options is none of them.
func ChoiceChips(req *Request, label, name string, options []page.Option) ChipLine {
	chosen := req.URL.Query().Get(name)
	line := ChipLine{Label: req.Lang.T(label)}
	for _, option := range options {
		line.Chips = append(line.Chips, Chip{
			Label:   option.Label,
			URL:     Filtered(req, name, option.Value),
			Current: chosen == option.Value,
		})
	}
	return line
}

// Counted is a number of records in words; one and many are English, many with
// the verb of the number.
func Counted(lang page.Lang, count int64, one, many string) string {
	if count == 1 {
		return lang.T(one)
	}
	return lang.T(many, page.FormatInt(count))
}

// CountedTo is counted of what is counted no further than a bound.
func CountedTo(lang page.Lang, count, bound int64, one, many string) string {
	if count < bound {
		return Counted(lang, count, one, many)
	}
	return lang.T("more than %s", Counted(lang, count, one, many))
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
func headOf(req *Request, now input.Sort, field, label string) sortHead {
	head := sortHead{Label: req.Lang.T(label), Aria: "none"}
	next := input.Sort(field)
	switch {
	case now.Field() != field:
	case now.Descending():
		head.Icon, head.Aria, next = "chevron-down", "descending", input.Newest
	default:
		head.Icon, head.Aria, next = "chevron-up", "ascending", now.Turned()
	}
	head.URL = Filtered(req, "sort", string(next))
	return head
}

// SortOf is the order that an address asks for. Of what is late, the oldest debt
// comes first unless it asks for another.
func SortOf(query url.Values) input.Sort {
	if query.Get("sort") == "" && (query.Get("overdue") == "true" || query.Get("status") == string(customer.Expired)) {
		return input.ByDueDate
	}
	return input.FromQuery(query).Sort()
}

// SortsBy reads the order that an address asks for by one of a list's fields.
func SortsBy(fields ...string) func(url.Values) input.Sort {
	return func(query url.Values) input.Sort { return input.KnownSort(query.Get("sort"), fields...) }
}

// Heads are the heads of a list by field, of fields and labels in turn.
func (from Source[F, T]) Heads(req *Request, pairs ...string) map[string]sortHead {
	heads, now := map[string]sortHead{}, from.sort(req.URL.Query())
	for pair := range slices.Chunk(pairs, 2) {
		heads[pair[0]] = headOf(req, now, pair[0], pair[1])
	}
	return heads
}

// ByTime is the order of a list that is in the order of time.
var ByTime = SortsBy(input.ByID)

// TimeHeads are the heads of a list that is in the order of time: the newest first,
// or the oldest.
func TimeHeads(req *Request) map[string]sortHead {
	head := sortHead{
		Label: req.Lang.T("When"), Icon: "chevron-down", Aria: "descending", URL: Filtered(req, "sort", input.ByID),
	}
	if !ByTime(req.URL.Query()).IsNewest() {
		head.Icon, head.Aria, head.URL = "chevron-up", "ascending", Filtered(req, "sort", "")
	}
	return map[string]sortHead{input.ByID: head}
}

// MaxPicked is how many records one piece of work may change.
const MaxPicked = 1000

// Picks is what a list's form chose: records that are ticked, or all of a filter.
type Picks struct {
	IDs   []int64
	All   bool   // of the filter
	Query string // the filter, as the list's address has it
}

// ReadPicks reads what a form chose.
func ReadPicks(req *Request) (Picks, error) {
	chosen := Picks{All: req.PostFormValue("all") != "", Query: req.PostFormValue("of")}
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
func (p Picks) filterForm() (*input.Form, error) {
	values, err := url.ParseQuery(p.Query)
	if err != nil {
		return nil, fault.New(fault.KindInvalid, "the form could not be read")
	}
	values.Del("page")
	return input.FromQuery(values), nil
}

var errEnough = errors.New("enough records")

// ErrTooMany refuses work over more records than may be changed at once.
var ErrTooMany = fault.New(fault.KindInvalid, "pick fewer customers at once")

// Picked reads the records of picks, as long as they are not too many.
func Picked[F, T any](
	req *Request, chosen Picks, limit int, readFilter func(*input.Form) F,
	find func(context.Context, account.Actor, int64) (T, error),
	walk func(context.Context, account.Actor, F, func(T) error) error,
) (list []T, err error) {
	if !chosen.All && len(chosen.IDs) > limit {
		return nil, ErrTooMany
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
		return ErrTooMany
	case err == nil && found == 0:
		return fault.New(fault.KindInvalid, "pick at least one customer")
	}
	return err
}
