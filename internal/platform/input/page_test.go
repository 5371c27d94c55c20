package input

import "testing"

func TestPageIsAdjustedNeverRefused(t *testing.T) {
	tests := []struct {
		page, perPage string
		want          Page
	}{
		{"", "", Page{Number: 1, Size: DefaultPageSize}},
		{"3", "20", Page{Number: 3, Size: 20}},
		{" 3 ", " 20 ", Page{Number: 3, Size: 20}},
		{"0", "0", Page{Number: 1, Size: 1}},
		{"-5", "-5", Page{Number: 1, Size: 1}},
		{"x", "x", Page{Number: 1, Size: DefaultPageSize}},
		{"1.5", "1e2", Page{Number: 1, Size: DefaultPageSize}},
		{"1", "200", Page{Number: 1, Size: 200}},
		{"1", "201", Page{Number: 1, Size: 200}},
		{"99999999999999999999", "99999999999999999999", Page{Number: maxPageNumber, Size: MaxPageSize}},
		{"-99999999999999999999", "-99999999999999999999", Page{Number: 1, Size: 1}},
	}
	for _, tt := range tests {
		form := FromStrings(map[string]string{"page": tt.page, "per_page": tt.perPage})
		if got := form.Page(); got != tt.want || form.Err() != nil {
			t.Errorf("page %q of %q: %v, %v; want %v", tt.page, tt.perPage, got, form.Err(), tt.want)
		}
	}
	if got := FromStrings(nil).Page(); got != (Page{Number: 1, Size: DefaultPageSize}) {
		t.Errorf("nothing asked: %v", got)
	}
}

func TestPageKnowsItsPlace(t *testing.T) {
	tests := []struct {
		page                Page
		total, offset, last int64
	}{
		{Page{Number: 1, Size: 50}, 0, 0, 1},
		{Page{Number: 1, Size: 50}, 50, 0, 1},
		{Page{Number: 2, Size: 50}, 51, 50, 2},
		{Page{Number: 9, Size: 10}, 25, 80, 3},
		{Page{Number: maxPageNumber, Size: MaxPageSize}, 1, (maxPageNumber - 1) * MaxPageSize, 1},
	}
	for _, tt := range tests {
		if o, l := tt.page.Offset(), tt.page.Last(tt.total); o != tt.offset || l != tt.last {
			t.Errorf("%v of %d: offset %d, last page %d; want %d and %d", tt.page, tt.total, o, l, tt.offset, tt.last)
		}
	}
}
