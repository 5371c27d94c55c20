package input

import (
	"strings"
	"testing"
)

func TestSortIsAFieldWithItsDirection(t *testing.T) {
	for asked, want := range map[string]Sort{
		"": Newest, "id": "id", "-id": Newest, "name": "name", "-name": "-name",
		"due_date": "due_date", "-due_date": "-due_date", "updated_at": "updated_at", "-updated_at": "-updated_at",
	} {
		form := FromStrings(map[string]string{"sort": asked})
		got := form.Sort()
		if got != want || form.Err() != nil {
			t.Errorf("%q: %q, %v", asked, got, form.Err())
		}
		if got.Descending() != strings.HasPrefix(string(want), "-") || got.Turned().Turned() != got || got.Turned().Field() != got.Field() {
			t.Errorf("%q: descending %t, turned %q", got, got.Descending(), got.Turned())
		}
	}
}

func TestUnknownSortIsRefusedWithThoseAllowed(t *testing.T) {
	for _, asked := range []string{"amount", "--id", "+id", "id,name", "-"} {
		form := FromStrings(map[string]string{"sort": asked})
		form.Sort()
		if err := form.Err(); err == nil || !strings.Contains(err.Error(), "id, -id, name, -name, due_date, -due_date, updated_at, -updated_at") {
			t.Errorf("%q: %v", asked, err)
		}
	}
}

func TestOrderThatAListDoesNotHaveIsTheNewestFirst(t *testing.T) {
	for asked, want := range map[string]Sort{
		"paid_on": "paid_on", "-paid_on": "-paid_on", "": Newest, "-": Newest, "name": Newest, "--paid_on": Newest, "id": Newest,
	} {
		got := KnownSort(asked, ByPaidDay)
		if got != want || got.IsNewest() != (want == Newest) {
			t.Errorf("%q: %q", asked, got)
		}
	}
	for sort, want := range map[Sort]string{"": " DESC", Newest: " DESC", ByID: " ASC"} {
		if got := sort.Direction(); got != want {
			t.Errorf("%q:%s", sort, got)
		}
	}
}
