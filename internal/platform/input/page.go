package input

import "strconv"

// Page is which part of a list was asked for.
type Page struct {
	Number int64
	Size   int64
	Sort   Sort // of a list that knows it; "": Newest
}

// Bounds of a page, from the API's contract.
const (
	DefaultPageSize = 50
	MaxPageSize     = 200
	maxPageNumber   = 1 << 40 // keeps Number × Size far from overflow
)

// Page reads page and per_page. What is out of range or no number is adjusted
// to the nearest that is allowed, never refused.
func (f *Form) Page() Page {
	return Page{
		Number: f.adjusted("page", 1, 1, maxPageNumber),
		Size:   f.adjusted("per_page", DefaultPageSize, 1, MaxPageSize),
	}
}

// Adjusted reads a whole number. What is out of range or no number is adjusted
// to the nearest that is allowed, never refused.
func (f *Form) Adjusted(name string, bounds Bounds) int64 {
	return f.adjusted(name, bounds.Default, bounds.Low, bounds.High)
}

// Bounds are those of a number that is adjusted.
type Bounds struct{ Default, Low, High int64 }

func (f *Form) adjusted(name string, fallback, low, high int64) int64 {
	v, _ := f.take(name)
	text, ok := plain(v)
	if !ok {
		return fallback
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil && number == 0 { // ParseInt saturates n when s is a number too large
		return fallback
	}
	return min(max(number, low), high)
}

// Offset is how many records stand before the page.
func (p Page) Offset() int64 { return (p.Number - 1) * p.Size }

// Last is the number of the last page of total records, at least 1.
func (p Page) Last(total int64) int64 { return max(1, (total+p.Size-1)/p.Size) }
