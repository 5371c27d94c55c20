package api

import (
	"net/http"
	"strconv"
	"strings"

	"carteira/internal/platform/input"
)

// links is the header that leads from a page of a list to its neighbours, with
// all that was asked for besides the page.
func (c *call) links(paging input.Page, total int64) http.Header {
	last := paging.Last(total)
	var parts []string
	add := func(relation string, number int64) {
		parts = append(parts, "<"+c.pageAddress(number)+`>; rel="`+relation+`"`)
	}
	if paging.Number < last {
		add("next", paging.Number+1)
	}
	if paging.Number > 1 {
		add("prev", min(paging.Number-1, last))
	}
	add("first", 1)
	add("last", last)
	return http.Header{"Link": {strings.Join(parts, ", ")}}
}

// pageAddress is the address of another page of the list. The first needs no
// number.
func (c *call) pageAddress(number int64) string {
	query := c.http.URL.Query()
	query.Del("page")
	if number > 1 {
		query.Set("page", strconv.FormatInt(number, 10))
	}
	address := c.base + c.http.URL.EscapedPath()
	if encoded := query.Encode(); encoded != "" {
		address += "?" + encoded
	}
	return address
}
