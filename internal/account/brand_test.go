package account_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

func TestLogoIsFoundByItsVersionUntilItIsReplaced(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		_, visit := house.signIn(t)
		var file bytes.Buffer
		housetest.Must(t, png.Encode(&file, image.NewPaletted(image.Rect(0, 0, 900, 300), color.Palette{color.Black})))
		housetest.Must(t, house.SetLogo(t.Context(), visit.Actor, file.Bytes()))
		company, err := account.FindCompany(t.Context(), house.db, visit.Actor.Company.ID)
		housetest.Must(t, err)
		content, err := house.Logo(t.Context(), company.Brand.Logo)
		housetest.Must(t, err)
		drawn, err := png.Decode(bytes.NewReader(content))
		housetest.Must(t, err)
		if size := drawn.Bounds().Size(); size.X != 480 || size.Y != 160 {
			t.Errorf("the logo is %v large", size)
		}
		for range 19 {
			if err := house.SetLogo(t.Context(), visit.Actor, []byte("<svg/>")); fault.KindOf(err) != fault.KindInvalid {
				t.Fatal(err)
			}
		}
		if err := house.SetLogo(t.Context(), visit.Actor, file.Bytes()); fault.KindOf(err) != fault.KindRateLimited {
			t.Errorf("the logo after 20 of an hour: %v", err)
		}
		house.clock.Advance(61 * time.Minute)
		for _, wrong := range [][]byte{nil, []byte("<svg/>")} {
			if err := house.SetLogo(t.Context(), visit.Actor, wrong); fault.KindOf(err) != fault.KindInvalid {
				t.Errorf("%q: %v", wrong, err)
			}
		}
		housetest.Must(t, house.RemoveLogo(t.Context(), visit.Actor))
		for _, version := range []string{company.Brand.Logo, ""} {
			if _, err := house.Logo(t.Context(), version); fault.KindOf(err) != fault.KindNotFound {
				t.Errorf("a logo that was removed: %v", err)
			}
		}
		lines, _, err := house.Audit(t.Context(), visit.Actor, account.AuditFilter{Record: "company"}, wholePage)
		if housetest.Must(t, err); len(lines) < 2 || lines[0].Changes[0].Field != "logo" || lines[1].Changes[0].Field != "logo" {
			t.Errorf("%+v", lines)
		}
	})
}

func TestColorsAreReadAsABrowserSendsThem(t *testing.T) {
	for text, want := range map[string]string{"#7A1FA2": "#7a1fa2", account.HouseColor: "", "": ""} {
		draft := account.ReadCompanyDraft(housetest.Form("color", text))
		if draft.Problems.Err() != nil || draft.Color.Value != want {
			t.Errorf("%q is read as %q, %v", text, draft.Color.Value, draft.Problems.Err())
		}
	}
	for _, text := range []string{"red", "#fff", "#7a1fa", "7a1fa2", "#7a1fg2", "#7a1fa2;}"} {
		if draft := account.ReadCompanyDraft(housetest.Form("color", text)); draft.Problems.Err() == nil {
			t.Errorf("%q is a color", text)
		}
	}
}

func TestAuditLogOfSomeDaysIsReadThroughItsIndex(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		_, visit := house.signIn(t)
		fillAudit(t, house, visit.Actor, 3000)
		since, until := house.clock.Now().Add(-time.Hour), house.clock.Now().Add(time.Hour)
		_, all, err := house.Audit(t.Context(), visit.Actor, account.AuditFilter{Since: since, Until: until}, wholePage)
		housetest.Must(t, err)
		walked, last := int64(0), account.AuditLine{}
		housetest.Must(t, house.WalkAudit(t.Context(), visit.Actor, account.AuditFilter{Since: since, Until: until}, func(line account.AuditLine) error {
			if walked++; walked > 1 && (line.At.After(last.At) || line.At.Equal(last.At) && line.ID >= last.ID) {
				return fmt.Errorf("%d comes after %d", line.ID, last.ID)
			}
			last = line
			return nil
		}))
		if walked != all || all < 3000 {
			t.Errorf("%d lines are walked of %d", walked, all)
		}
		if _, none, err := house.Audit(t.Context(), visit.Actor, account.AuditFilter{Until: since}, wholePage); err != nil || none != 0 {
			t.Errorf("%d lines before the first, %v", none, err)
		}
		for _, statistics := range []string{`SELECT 1`, `ANALYZE`} {
			execute(t, house, statistics)
			sqldbtest.WantIndex(t, house.db, "audit_log_when", `SELECT id FROM audit_log WHERE company_id = ? AND at >= ? AND at < ?
				ORDER BY at DESC, id DESC LIMIT 50`, visit.Actor.Company.ID, since.UnixMicro(), until.UnixMicro())
		}
	})
}

func fillAudit(t *testing.T, house house, actor account.Actor, lines int) {
	t.Helper()
	housetest.Must(t, house.db.Write(t.Context(), func(tx *sqldb.Tx) error {
		for range lines {
			if err := account.WriteAudit(t.Context(), actor.In(tx), account.AuditEntry{Action: "x", Record: "y"}); err != nil {
				return err
			}
		}
		return nil
	}))
}

func execute(t *testing.T, house house, text string) {
	t.Helper()
	housetest.Must(t, house.db.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), text)
		return err
	}))
}
