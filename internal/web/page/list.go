package page

import (
	"net/url"
	"strconv"

	"carteira/internal/platform/input"
)

// Pager is where a page of a list stands, with the addresses of its
// neighbours.
type Pager struct {
	Total, Number, Last, From, To int64
	Prev, Next                    string // "": there is none
}

// At is the number in the whole list of the record at a place of the page.
func (p Pager) At(place int) int64 { return p.From + int64(place) }

// Shown is how many records the page has.
func (p Pager) Shown() int64 { return p.To - p.From + 1 }

// NewPager makes the pager of a list at an address.
func NewPager(address *url.URL, page input.Page, total int64) Pager {
	pager := Pager{
		Total:  total,
		Number: page.Number,
		Last:   page.Last(total),
		From:   page.Offset() + 1,
		To:     min(page.Offset()+page.Size, total),
	}
	if page.Number > 1 {
		pager.Prev = pageURL(address, min(page.Number-1, pager.Last))
	}
	if page.Number < pager.Last {
		pager.Next = pageURL(address, page.Number+1)
	}
	return pager
}

// Beyond reports whether the list has more records than the page.
func (p Pager) Beyond() bool { return p.Total > p.Shown() }

func pageURL(address *url.URL, number int64) string {
	values := address.Query()
	values.Set("page", strconv.FormatInt(number, 10))
	return address.Path + "?" + values.Encode()
}

// Confirm is what the page confirm asks before something that cannot be taken
// back. The same page opens as a dialog where there are scripts.
type Confirm struct {
	Question string   // in English, shown translated, with Args
	Args     []any    // of Question
	Effects  []string // what will happen, in English
	Action   string   // where the form is sent
	Button   string   // in English
	Back     string   // where Cancel leads
	Danger   bool
	Hidden   map[string]string // what is sent along
}
