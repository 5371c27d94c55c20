package panel

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
)

// Whatever leaves the program as a file or a secret asks who it is, and is in the
// audit log, once.
func TestWhatIsHandedOutIsProvedAndAudited(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		ids := person.fill()
		for _, route := range office.table() {
			pattern := route.Pattern()
			if strings.HasSuffix(route.Path, "/export") && kit.HandedOut[pattern] == "" {
				t.Errorf("%s leaves no line in the audit log", pattern)
			}
			action := kit.HandedOut[pattern]
			if action == "" {
				continue
			}
			if kit.Word(page.Portuguese, action) == action {
				t.Errorf("%s has no words", action)
			}
			person.try(route, ids).want(t, http.StatusOK)
			record, _, _ := strings.Cut(action, ".")
			lines, _, err := office.Accounts.Audit(t.Context(), person.actor, account.AuditFilter{Record: record}, input.Page{Number: 1, Size: 50})
			found := 0
			for _, line := range lines {
				if line.Action == action && line.Who != "" {
					found++
				}
			}
			if err != nil || found != 1 {
				t.Errorf("%s: %d lines, %v", pattern, found, err)
			}
		}
	})
}

func TestCellsWithACommaAreQuoted(t *testing.T) {
	var file bytes.Buffer
	out := bufio.NewWriter(&file)
	if err := kit.WriteRow(out, []string{"a,=cmd|' /C calc'!A0", "10,50", "-3", "", "x;y", `say "b"`, "two\nlines", " c", "plain text"}); err != nil {
		t.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	want := `"a,=cmd|' /C calc'!A0";10,50;-3;;"x;y";"say ""b""";"two` + "\n" + `lines";" c";plain text` + "\n"
	if file.String() != want {
		t.Errorf("%s\nwant %s", file.String(), want)
	}
}

func TestSigningInAgainEndsTheFormerSession(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		sessions := func() int {
			list, err := office.Accounts.Sessions(t.Context(), person.actor)
			if err != nil {
				t.Fatal(err)
			}
			return len(list)
		}
		before := sessions()
		person.signIn("ana@example.com", password)
		if after := sessions(); after != before {
			t.Errorf("%d sessions, then %d", before, after)
		}
		person.get("/customers").want(t, http.StatusOK)
	})
}
