package panel

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"carteira/internal/account"
)

// strange are ids that no record has, one for each of a company's.
func strange(ids map[string]int64) map[string]int64 {
	missing := map[string]int64{}
	for name, id := range ids {
		missing[name] = id + 700_000
	}
	return missing
}

var (
	number    = regexp.MustCompile(`\d+`)
	volatile  = []string{"X-Request-Id", "Date", "Content-Length"}
	requestID = regexp.MustCompile(`[0-9A-Za-z]{20}`)
)

// plain is an answer without what differs between any two: ids in paths, which
// the caller has sent, and the number of the request.
func (a answer) plain() string {
	header := a.header.Clone()
	for _, name := range volatile {
		header.Del(name)
	}
	body := requestID.ReplaceAllString(number.ReplaceAllString(a.body, "#"), "*")
	return fmt.Sprintf("%d %s %v\n%s", a.status, number.ReplaceAllString(a.location, "#"), len(header), body)
}

// The tenant matrix of the panel: for every route that names a record, every
// role, the record of another company and one that does not exist get the same
// bytes, and nothing of the other company is changed.
func TestForeignRecordsAreAnsweredLikeMissingOnes(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		victim, stranger := office.owner(t, "ana@example.com"), office.owner(t, "stranger@example.com")
		ids := victim.fill()
		people := map[string]*person{
			"owner": stranger, "staff": stranger.colleague(account.RoleStaff), "attendant": stranger.colleague(account.RoleAttendant), "readonly": stranger.colleague(account.RoleReadOnly),
			"nobody": office.visitor(t),
		}
		missing, before := strange(ids), victim.everything()
		for _, route := range office.table() {
			if !strings.Contains(route.Path, "{id}") {
				continue
			}
			for who, person := range people {
				foreign, none := person.try(route, ids), person.try(route, missing)
				if foreign.plain() != none.plain() {
					t.Errorf("%s tells %s whether a record exists: %d and %d\n%s", route.Pattern(), who, foreign.status, none.status, difference(foreign.plain(), none.plain()))
				}
				if refused := foreign.status == http.StatusNotFound || foreign.status == http.StatusForbidden || foreign.status == http.StatusSeeOther; !refused {
					t.Errorf("%s answered %s with %d", route.Pattern(), who, foreign.status)
				}
			}
		}
		if after := victim.everything(); after != before {
			t.Errorf("something was changed:\n%s\nthen\n%s", before, after)
		}
	})
}

// difference is where two texts part.
func difference(one, other string) string {
	for i := range min(len(one), len(other)) {
		if one[i] != other[i] {
			return fmt.Sprintf("%.200q\n%.200q", one[max(0, i-60):], other[max(0, i-60):])
		}
	}
	return fmt.Sprintf("%d and %d bytes", len(one), len(other))
}
