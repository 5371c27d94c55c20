package intake_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/customer/intake"
	"carteira/internal/event"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

func intakeOf(db *sqldb.DB, log *event.Log) *intake.Service {
	return intake.New(db, customer.New(db, log))
}

// twoProcesses share a database and a clock.
func twoProcesses(t *testing.T, engine sqldb.Engine) (here, there *intake.Service, actor account.Actor, db *sqldb.DB, clock *sqldbtest.Clock) {
	t.Helper()
	clock = sqldbtest.NewClock(time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC))
	url := sqldbtest.URL(t, engine)
	db = sqldbtest.Open(t, url, sqldbtest.WithClock(clock))
	company, _, err := account.New(db, account.Config{}).CreateCompany(t.Context(), account.ReadNewCompany(input.FromStrings(map[string]string{"name": "Rede", "email": "a@example.com"})))
	if err != nil {
		t.Fatal(err)
	}
	there = intakeOf(sqldbtest.Open(t, url, sqldbtest.WithClock(clock)), &event.Log{})
	return intakeOf(db, &event.Log{}), there, account.System(company, "test"), db, clock
}

func checked(t *testing.T, service *intake.Service, actor account.Actor) intake.Upload {
	t.Helper()
	upload, err := service.SaveUpload(t.Context(), actor, "x.csv", []byte("nome\nAna\nBia\n"))
	if err == nil {
		upload, err = service.CheckUpload(t.Context(), actor, upload.ID, upload.Choices)
	}
	if err != nil || upload.Outcome.Done.Skipped != 2 || upload.Outcome.Total != 2 {
		t.Fatalf("checked %+v, %v", upload, err)
	}
	return upload
}

// An import in the background ends no process: whatever it panics over, it has failed.
func TestUploadOverWhichTheProgramPanicsFails(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		_, there, actor, db, _ := twoProcesses(t, engine)
		log := &event.Log{}
		log.Watch(func(context.Context, *sqldb.Tx, event.Event) error { panic("of a test") })
		here := intakeOf(db, log)
		upload := checked(t, here, actor)
		upload.Choices.Events = true
		upload, err := here.CheckUpload(t.Context(), actor, upload.ID, upload.Choices)
		if err == nil {
			err = here.StartUpload(t.Context(), actor, upload.ID, false)
		}
		for err == nil && (upload.State == intake.UploadNew || upload.State == intake.UploadRunning) {
			upload, err = there.Upload(t.Context(), actor, upload.ID)
		}
		if err != nil || upload.State != intake.UploadFailed || upload.Outcome.Done.Imported != 0 {
			t.Errorf("%+v, %v", upload, err)
		}
	})
}

func TestUploadIsImportedOnceHoweverOftenItIsStarted(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		here, there, actor, db, _ := twoProcesses(t, engine)
		upload := checked(t, here, actor)
		errs := make([]error, 8)
		var wg sync.WaitGroup
		for i := range errs {
			service := here
			if i%2 == 1 {
				service = there
			}
			wg.Go(func() { errs[i] = service.StartUpload(t.Context(), actor, upload.ID, false) })
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
		for upload.State = intake.UploadRunning; upload.State == intake.UploadRunning || upload.State == intake.UploadNew; {
			var err error
			if upload, err = there.Upload(t.Context(), actor, upload.ID); err != nil {
				t.Fatal(err)
			}
		}
		_, n, err := customer.New(db, &event.Log{}).List(t.Context(), actor, customer.Filter{}, input.Page{Number: 1, Size: 10})
		if err != nil || started != 1 || n != 2 || upload.State != intake.UploadDone || upload.Outcome.Done.Imported != 2 {
			t.Errorf("%d started, %d customers, %+v, %v", started, n, upload, err)
		}
	})
}

func TestUploadWhoseProcessDiedShowsAsBrokenOff(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		here, there, actor, db, clock := twoProcesses(t, engine)
		upload := checked(t, here, actor)
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec(t.Context(), `UPDATE customer_uploads SET state = 'running' WHERE company_id = ?`, actor.Company.ID)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if upload, err = there.Upload(t.Context(), actor, upload.ID); err != nil || upload.State != intake.UploadRunning {
			t.Errorf("at once: %s, %v", upload.State, err)
		}
		clock.Advance(2 * time.Minute)
		if upload, err = there.Upload(t.Context(), actor, upload.ID); err != nil || upload.State != intake.UploadFailed || upload.Outcome.Reason == "" {
			t.Errorf("later: %+v, %v", upload, err)
		}
		clock.Advance(4 * 24 * time.Hour)
		if err := here.PruneUploads(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := here.Upload(t.Context(), actor, upload.ID); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("after days: %v", err)
		}
	})
}
