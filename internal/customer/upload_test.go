package customer_test

import (
	"sync"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/event"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

// twoProcesses share a database and a clock.
func twoProcesses(t *testing.T, engine sqldb.Engine) (here, there *customer.Service, a account.Actor, db *sqldb.DB, clock *sqldbtest.Clock) {
	t.Helper()
	clock = sqldbtest.NewClock(time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC))
	url := sqldbtest.URL(t, engine)
	db = sqldbtest.Open(t, url, sqldbtest.WithClock(clock))
	company, _, err := account.New(db, account.Config{}).CreateCompany(t.Context(), account.ReadNewCompany(input.FromStrings(map[string]string{"name": "Rede", "email": "a@example.com"})))
	if err != nil {
		t.Fatal(err)
	}
	there = customer.New(sqldbtest.Open(t, url, sqldbtest.WithClock(clock)), &event.Log{})
	return customer.New(db, &event.Log{}), there, account.System(company, "test"), db, clock
}

func checked(t *testing.T, s *customer.Service, a account.Actor) customer.Upload {
	t.Helper()
	u, err := s.SaveUpload(t.Context(), a, "x.csv", []byte("nome\nAna\nBia\n"))
	if err == nil {
		u, err = s.CheckUpload(t.Context(), a, u.ID, u.Choices)
	}
	if err != nil || u.Outcome.Done.Skipped != 2 || u.Outcome.Total != 2 {
		t.Fatalf("checked %+v, %v", u, err)
	}
	return u
}

func TestUploadIsImportedOnceHoweverOftenItIsStarted(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		here, there, a, _, _ := twoProcesses(t, engine)
		u := checked(t, here, a)
		errs := make([]error, 8)
		var wg sync.WaitGroup
		for i := range errs {
			s := here
			if i%2 == 1 {
				s = there
			}
			wg.Go(func() { errs[i] = s.StartUpload(t.Context(), a, u.ID) })
		}
		wg.Wait()
		started := 0
		for _, err := range errs {
			if err == nil {
				started++
			} else if fault.KindOf(err) != fault.KindConflict {
				t.Error(err)
			}
		}
		for u.State = customer.UploadRunning; u.State == customer.UploadRunning || u.State == customer.UploadNew; {
			var err error
			if u, err = there.Upload(t.Context(), a, u.ID); err != nil {
				t.Fatal(err)
			}
		}
		_, n, err := here.List(t.Context(), a, customer.Filter{}, input.Page{Number: 1, Size: 10})
		if err != nil || started != 1 || n != 2 || u.State != customer.UploadDone || u.Outcome.Done.Imported != 2 {
			t.Errorf("%d started, %d customers, %+v, %v", started, n, u, err)
		}
	})
}

func TestUploadWhoseProcessDiedShowsAsBrokenOff(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		here, there, a, db, clock := twoProcesses(t, engine)
		u := checked(t, here, a)
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec(t.Context(), `UPDATE customer_uploads SET state = 'running' WHERE company_id = ?`, a.Company.ID)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if u, err = there.Upload(t.Context(), a, u.ID); err != nil || u.State != customer.UploadRunning {
			t.Errorf("at once: %s, %v", u.State, err)
		}
		clock.Advance(2 * time.Minute)
		if u, err = there.Upload(t.Context(), a, u.ID); err != nil || u.State != customer.UploadFailed || u.Outcome.Reason == "" {
			t.Errorf("later: %+v, %v", u, err)
		}
		clock.Advance(4 * 24 * time.Hour)
		if err := here.PruneUploads(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := here.Upload(t.Context(), a, u.ID); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("after days: %v", err)
		}
	})
}
