package input

import (
	"slices"
	"testing"
	"time"

	"carteira/internal/platform/civil"
)

type sortable struct {
	id      int64
	name    string
	due     civil.Date
	updated time.Time
}

var sortableKeys = Keys[sortable]{
	ID:        func(record sortable) int64 { return record.id },
	Name:      func(record sortable) string { return record.name },
	Day:       func(record sortable) civil.Date { return record.due },
	UpdatedAt: func(record sortable) time.Time { return record.updated },
}

func TestArrangeSortsByTheFieldThenTheIDAndHasTheUndatedLast(t *testing.T) {
	first, second := civil.MustParse("2026-01-31"), civil.MustParse("2026-02-28")
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	page := []sortable{
		{1, "bia", second, begin},
		{2, "ana", civil.Date{}, begin.Add(time.Hour)},
		{3, "ana", first, begin},
		{4, "caio", civil.Date{}, begin.Add(time.Minute)},
	}
	for sort, want := range map[Sort][]int64{
		"id": {1, 2, 3, 4}, "-id": {4, 3, 2, 1},
		"name": {2, 3, 1, 4}, "-name": {4, 1, 3, 2},
		"due_date": {3, 1, 2, 4}, "-due_date": {1, 3, 4, 2},
		"updated_at": {1, 3, 4, 2}, "-updated_at": {2, 4, 3, 1},
	} {
		list := slices.Clone(page)
		sortableKeys.Arrange(list, sort)
		var got []int64
		for _, record := range list {
			got = append(got, record.id)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", sort, got, want)
		}
	}
}
