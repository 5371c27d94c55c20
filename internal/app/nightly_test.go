package app

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/backup"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

func TestNightlyCheckRaisesAMetricAndAnErrorOnceANight(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		program := newApp(t, engine)
		var log bytes.Buffer
		program.Log = slog.New(slog.NewTextHandler(&log, nil))
		housetest.Must(t, program.checkNightly(t.Context()))
		if strings.Contains(log.String(), "wrong") || valueOf(t, program.nightly.at) == 0 {
			t.Errorf("of a sound database it says %s", log.String())
		}
		company, _, err := program.Accounts.CreateCompany(t.Context(), account.ReadNewCompany(housetest.Form(
			"name", "Rede Clara", "email", "ana@example.com")))
		housetest.Must(t, err)
		housetest.Must(t, program.DB.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec(t.Context(), `INSERT INTO tally_deltas (company_id, book, day, plan_id, product_id, state, n, cents)
				VALUES (?, 'customers', '', 0, 0, '', 7, 0)`, company.ID)
			return err
		}))
		housetest.Must(t, program.checkNightly(t.Context())) // the same night
		if strings.Contains(log.String(), "wrong") {
			t.Error("it was checked twice in one night")
		}
		program.nightly.night = "the night before"
		housetest.Must(t, program.checkNightly(t.Context()))
		if !strings.Contains(log.String(), "check=counts") || valueOf(t, program.nightly.wrong.WithLabelValues("counts")) != 1 {
			t.Errorf("it says %s", log.String())
		}
		if valueOf(t, program.nightly.wrong.WithLabelValues("credits")) != 0 {
			t.Error("credits are not wrong")
		}
	})
}

func TestBackupThatFailsLeavesTheOldOnesAndIsTriedAgain(t *testing.T) {
	program := newApp(t, sqldb.SQLite)
	folder := filepath.Join(t.TempDir(), "backups")
	program.backups = newBackups(backup.Folder{Path: folder, Days: 1})
	first := time.Date(2027, 1, 10, 12, 0, 0, 0, time.Local)
	housetest.Must(t, program.backUp(t.Context(), first))
	housetest.Must(t, os.WriteFile(filepath.Join(folder, "carteira-2027-01-20.db.part"), nil, 0o600)) // of a process that died
	housetest.Must(t, os.Chmod(folder, 0o500))
	later := first.AddDate(0, 0, 10)
	if err := program.backUp(t.Context(), later); err == nil && os.Getuid() != 0 {
		t.Error("a folder that cannot be written was written")
	}
	housetest.Must(t, os.Chmod(folder, 0o700))
	housetest.Must(t, program.backUp(t.Context(), later))
	list, err := program.backups.folder.List()
	housetest.Must(t, err)
	if len(list) != 1 || list[0].Night != "2027-01-20" {
		t.Errorf("%+v", list)
	}
}
