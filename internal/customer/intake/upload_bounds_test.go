package intake_test

import (
	"bytes"
	"strings"
	"testing"

	"carteira/internal/customer"
	"carteira/internal/customer/intake"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
	"carteira/test/kit/worldtest"
)

// Files are bounded by count and by size; those that were imported make room first, then
// those that were uploaded longest ago, and never one that is being imported.
func TestUploadsHaveABound(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := worldtest.New(t, engine)
		save := func(size int) error {
			content := append([]byte("nome;obs\n"), bytes.Repeat([]byte("Ana;x\n"), size/6)...)
			_, err := world.Intake.SaveUpload(t.Context(), world.Actor, "clientes.csv", content)
			return err
		}
		for range 10 {
			housetest.Must(t, save(100))
		}
		become := func(state intake.UploadState, ids string) {
			housetest.Must(t, world.DB.Write(t.Context(), func(tx *sqldb.Tx) error {
				_, err := tx.Exec(t.Context(), `UPDATE customer_uploads SET state = ? WHERE company_id = ? AND id IN (`+ids+`)`, string(state), world.Actor.Company.ID)
				return err
			}))
		}
		gone := func(id int64) {
			t.Helper()
			housetest.Must(t, save(100))
			if _, err := world.Intake.Upload(t.Context(), world.Actor, id); fault.KindOf(err) != fault.KindNotFound {
				t.Errorf("file %d is still there: %v", id, err)
			}
		}
		become(intake.UploadRunning, "1")
		become(intake.UploadDone, "4")
		gone(4)
		gone(2)
		gone(3)
		become(intake.UploadRunning, "5, 6, 7, 8, 9, 10, 11, 12, 13")
		if err := save(100); fault.KindOf(err) != fault.KindInvalid {
			t.Errorf("a file was taken while ten are being imported: %v", err)
		}
		world.Actor.Company.Subscription.Anonymous = true
		if err := save(2 << 20); fault.KindOf(err) != fault.KindInvalid {
			t.Errorf("a stranger's large file was taken: %v", err)
		}
	})
}

func TestAStrangersCompanyHasFewCustomers(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := worldtest.New(t, engine)
		world.Actor.Company.Subscription.Anonymous = true
		importing := func(n int) error {
			file := "name\n" + strings.Repeat("Ana\n", n)
			_, err := world.Intake.Import(t.Context(), world.Actor, rowsOf([]byte(file)), intake.ImportOptions{})
			return err
		}
		if err := importing(301); fault.KindOf(err) != fault.KindForbidden {
			t.Errorf("301 at once: %v", err)
		}
		housetest.Must(t, importing(299))
		create := func() error {
			_, err := world.Customers.Create(t.Context(), world.Actor, customer.ReadNew(housetest.Form("name", "Bia")))
			return err
		}
		housetest.Must(t, create())
		if err := create(); fault.KindOf(err) != fault.KindForbidden {
			t.Errorf("one too many: %v", err)
		}
		world.Actor.Company.Subscription.Anonymous = false
		housetest.Must(t, create())
	})
}
