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

// NewPager makes the pager of a list at an address.
func NewPager(u *url.URL, p input.Page, total int64) Pager {
	pager := Pager{Total: total, Number: p.Number, Last: p.Last(total), From: p.Offset() + 1, To: min(p.Offset()+p.Size, total)}
	if p.Number > 1 {
		pager.Prev = pageURL(u, min(p.Number-1, pager.Last))
	}
	if p.Number < pager.Last {
		pager.Next = pageURL(u, p.Number+1)
	}
	return pager
}

func pageURL(u *url.URL, number int64) string {
	q := u.Query()
	q.Set("page", strconv.FormatInt(number, 10))
	return u.Path + "?" + q.Encode()
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
