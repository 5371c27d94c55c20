package intake_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/customer/intake"
	"carteira/internal/customer/sheet"
	"carteira/internal/event"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// Large enough to be staged: several batches.
const stagedRows = 600

// whileWriting calls then at some rows of the third pass, in which an import that makes plans
// writes.
func whileWriting(file []byte, then func(row int)) intake.Rows {
	pass := 0
	return func() iter.Seq2[sheet.Row, error] {
		pass++
		return func(yield func(sheet.Row, error) bool) {
			n := 0
			for row, err := range rowsOf(file)() {
				if n++; pass == 3 && n%150 == 0 {
					then(n)
				}
				if !yield(row, err) {
					return
				}
			}
		}
	}
}

func staged(n int) []byte {
	var file bytes.Buffer
	crowd(&file, n)
	return file.Bytes()
}

// Before imports were staged this stood still: the import had the one writer.
func TestOthersWriteWhileAnImportDoesAndSeeNothingOfIt(t *testing.T) {
	office := openOffice(t, sqldb.SQLite)
	ctx, own := t.Context(), int64(0)
	firstHidden := int64(0)
	rows := whileWriting(staged(stagedRows), func(row int) {
		record, err := office.customers.Create(ctx, office.actor, customer.ReadNew(pairs("name", fmt.Sprint("Vizinha ", row))))
		if err != nil {
			t.Fatal(err)
		}
		own++
		if firstHidden == 0 {
			firstHidden = record.ID - stagedRows
		}
		if n := office.total(t, customer.Filter{}); n != own || int64(len(office.all(t))) != own {
			t.Errorf("after %d rows %d customers are counted and %d listed, want %d", row, n, len(office.all(t)), own)
		}
		if n := office.total(t, customer.Filter{Search: "souza"}); n != 0 {
			t.Errorf("after %d rows a search finds %d", row, n)
		}
		if _, err := office.customers.Find(ctx, office.actor, firstHidden); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("after %d rows the first is found: %v", row, err)
		}
		if err := office.customers.Delete(ctx, office.actor, firstHidden); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("after %d rows the first can be deleted: %v", row, err)
		}
		_, err = office.customers.Create(ctx, office.actor, customer.ReadNew(pairs("name", "Ana", "usuario", "USER0")))
		if got := fault.FieldsOf(err); got.Get("usuario") == nil {
			t.Errorf("after %d rows a login of the file is free: %v", row, err)
		}
	})
	done, err := office.Import(ctx, office.actor, rows, intake.ImportOptions{CreateMissing: true, Events: true})
	if err != nil {
		t.Fatal(err)
	}
	wantImported(t, done, stagedRows, 0, 0)
	want := own + stagedRows
	if n := office.total(t, customer.Filter{}); n != want || int64(len(office.all(t))) != want {
		t.Errorf("%d customers are counted and %d listed, want %d", n, len(office.all(t)), want)
	}
	if n := office.total(t, customer.Filter{Search: "souza"}); n == 0 {
		t.Error("a search finds nobody afterwards")
	}
	if first, err := office.customers.Find(ctx, office.actor, firstHidden); err != nil || first.ExternalID != "C0" {
		t.Errorf("the first is %+v, %v", first, err)
	}
	if int64(len(office.recorded)) != want {
		t.Errorf("%d events are recorded, want %d", len(office.recorded), want)
	}
}

// plansOf names the plans of a company.
func plansOf(t *testing.T, db *sqldb.DB, actor account.Actor) (names []string) {
	t.Helper()
	list, _, err := catalog.New(db).Plans(t.Context(), actor, catalog.Filter{}, input.Page{Number: 1, Size: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, plan := range list {
		names = append(names, plan.Name)
	}
	return names
}

func TestStagedImportThatIsRefusedLeavesNothing(t *testing.T) {
	office := openOffice(t, sqldb.SQLite)
	ctx := t.Context()
	rows := whileWriting(staged(stagedRows), func(row int) {
		if row == 150 {
			if _, err := office.customers.Create(ctx, office.actor, customer.ReadNew(pairs("name", "Ana", "usuario", "user500"))); err != nil {
				t.Error(err)
			}
		}
		if row == 300 { // one of the plans is in use by now, and stays
			plan := plansOf(t, office.db, office.actor)[0]
			if plan != "Família" {
				t.Errorf("the newest plan is %s", plan)
			}
			office.load(t, "nome,plano\nBia,"+plan+"\n", intake.ImportOptions{})
		}
	})
	var problems []string
	done, err := office.Import(ctx, office.actor, rows, intake.ImportOptions{CreateMissing: true, Problem: func(problem intake.Problem) {
		problems = append(problems, fmt.Sprintf("%d %s: %s", problem.Line, problem.Field, problem.Reason))
	}})
	if err != nil {
		t.Fatal(err)
	}
	wantImported(t, done, 0, 1, stagedRows-1)
	wantProblems(t, problems, "502 usuario: is taken by another customer")
	if n := office.total(t, customer.Filter{}); n != 2 || len(office.all(t)) != 2 {
		t.Errorf("%d customers", n)
	}
	if got := plansOf(t, office.db, office.actor); len(got) != 1 || got[0] != "Família" {
		t.Errorf("the plans %q stay", got)
	}
	done, _ = office.load(t, strings.Replace(string(staged(stagedRows)), ";user500;", ";other;", 1), intake.ImportOptions{CreateMissing: true})
	wantImported(t, done, stagedRows, 0, 0)
}

// A process that is killed in the middle is one that never goes on.
func TestImportWhoseProcessDiedIsTakenBackByAnother(t *testing.T) {
	here, there, actor, db, clock := twoProcesses(t, sqldb.SQLite)
	ctx := t.Context()
	done := make(chan error, 1)
	reached, goOn := make(chan struct{}), make(chan struct{})
	rows := whileWriting(staged(stagedRows), func(row int) {
		if row == 450 {
			close(reached)
			<-goOn
		}
	})
	go func() {
		_, err := here.Import(ctx, actor, rows, intake.ImportOptions{CreateMissing: true})
		done <- err
	}()
	<-reached
	if err := there.ContinueImport(ctx); err != nil {
		t.Fatal(err)
	}
	written := func() int64 {
		count, err := sqldb.Value[int64](ctx, db, `SELECT count(*) FROM customers`)
		if err != nil {
			t.Fatal(err)
		}
		return count
	}
	if written() == 0 || len(plansOf(t, db, actor)) == 0 {
		t.Fatal("an import that goes on was taken back")
	}
	clock.Advance(time.Minute)
	if err := there.ContinueImport(ctx); err != nil {
		t.Fatal(err)
	}
	if n, plans := written(), plansOf(t, db, actor); n != 0 || len(plans) != 0 {
		t.Errorf("%d customers and the plans %q stay", n, plans)
	}
	close(goOn)
	if err := <-done; fault.KindOf(err) != fault.KindConflict {
		t.Errorf("the process that was away says %v", err)
	}
	if n := written(); n != 0 {
		t.Errorf("the process that was away has written %d customers", n)
	}
	imported, err := there.Import(ctx, actor, whileWriting(staged(stagedRows), func(int) {}), intake.ImportOptions{CreateMissing: true})
	if err != nil {
		t.Fatal(err)
	}
	wantImported(t, imported, stagedRows, 0, 0)
}

// recorder counts the events of each customer, and fails at one of them while
// the test asks for it.
type recorder struct {
	log    *event.Log
	names  map[string]int
	failAt int
}

func newRecorder(failAt int, after error) *recorder {
	r := &recorder{log: &event.Log{}, names: map[string]int{}, failAt: failAt}
	n := 0
	r.log.Watch(func(_ context.Context, tx *sqldb.Tx, recorded event.Event) error {
		if n++; n == r.failAt {
			return after
		}
		tx.OnCommit(func() { r.names[recorded.ID]++ })
		return nil
	})
	return r
}

func TestConsequencesOfAnImportWhoseProcessDiedAreDrawnByAnother(t *testing.T) {
	clock := sqldbtest.NewClock(importDay)
	url := sqldbtest.URL(t, sqldb.SQLite)
	db := sqldbtest.Open(t, url, sqldbtest.WithClock(clock))
	first, second := newRecorder(400, sqldb.ErrUnavailable), newRecorder(0, nil)
	here, there := intakeOf(db, first.log), intakeOf(sqldbtest.Open(t, url, sqldbtest.WithClock(clock)), second.log)
	company, _, err := account.New(db, account.Config{}).CreateCompany(t.Context(), account.ReadNewCompany(pairs("name", "Rede", "email", "a@example.com")))
	if err != nil {
		t.Fatal(err)
	}
	actor := account.System(company, "test")
	done, err := here.Import(t.Context(), actor, rowsOf(staged(stagedRows)), intake.ImportOptions{CreateMissing: true, Events: true})
	if !errors.Is(err, sqldb.ErrUnavailable) || done.Imported != stagedRows {
		t.Fatalf("%+v, %v", done, err)
	}
	_, n, err := customer.New(db, second.log).List(t.Context(), actor, customer.Filter{}, input.Page{Number: 1, Size: 1})
	if err != nil || n != stagedRows {
		t.Errorf("%d customers are visible, %v", n, err)
	}
	clock.Advance(time.Minute)
	if err := there.ContinueImport(t.Context()); err != nil {
		t.Fatal(err)
	}
	if here, there := len(first.names), len(second.names); here == 0 || there == 0 || here+there != stagedRows {
		t.Errorf("%d events of one process and %d of the other", here, there)
	}
}

func TestCustomerWhoseConsequencesFailHoldsUpNoOther(t *testing.T) {
	clock := sqldbtest.NewClock(importDay)
	db := sqldbtest.New(t, sqldb.SQLite, sqldbtest.WithClock(clock))
	broken := errors.New("this one cannot be told")
	recorded := 0
	log := &event.Log{}
	log.Watch(func(_ context.Context, tx *sqldb.Tx, e event.Event) error {
		if data, err := json.Marshal(e.Data); err != nil || strings.Contains(string(data), `"username":"user333"`) {
			return broken
		}
		tx.OnCommit(func() { recorded++ })
		return nil
	})
	service := intakeOf(db, log)
	company, _, err := account.New(db, account.Config{}).CreateCompany(t.Context(), account.ReadNewCompany(pairs("name", "Rede", "email", "a@example.com")))
	if err != nil {
		t.Fatal(err)
	}
	actor := account.System(company, "test")
	done, err := service.Import(t.Context(), actor, rowsOf(staged(stagedRows)), intake.ImportOptions{CreateMissing: true, Events: true})
	if !errors.Is(err, broken) || done.Imported != stagedRows || recorded != stagedRows-1 {
		t.Errorf("%+v, %d events, %v", done, recorded, err)
	}
	if done, err = service.Import(t.Context(), actor, rowsOf([]byte(strings.ReplaceAll(strings.ReplaceAll(string(staged(stagedRows)), "user", "x"), "C", "Y"))),
		intake.ImportOptions{CreateMissing: true}); err == nil && done.Imported == stagedRows {
		return
	}
	t.Errorf("the next import: %+v, %v", done, err)
}

func TestUploadCountsAsImportedFromTheMomentItsCustomersAreVisible(t *testing.T) {
	db := sqldbtest.New(t, sqldb.SQLite, sqldbtest.WithClock(sqldbtest.NewClock(importDay)))
	service := intakeOf(db, newRecorder(400, sqldb.ErrUnavailable).log)
	company, _, err := account.New(db, account.Config{}).CreateCompany(t.Context(), account.ReadNewCompany(pairs("name", "Rede", "email", "a@example.com")))
	if err != nil {
		t.Fatal(err)
	}
	actor := account.System(company, "test")
	upload, err := service.SaveUpload(t.Context(), actor, "x.csv", staged(stagedRows))
	if err == nil {
		choices := upload.Choices
		choices.Events, choices.CreateMissing = true, true
		_, err = service.CheckUpload(t.Context(), actor, upload.ID, choices)
	}
	if err == nil {
		err = service.StartUpload(t.Context(), actor, upload.ID, false)
	}
	for err == nil && (upload.State == intake.UploadNew || upload.State == intake.UploadRunning) {
		upload, err = service.Upload(t.Context(), actor, upload.ID)
	}
	if err != nil || upload.State != intake.UploadDone || upload.Outcome.Done.Imported != stagedRows {
		t.Errorf("%+v, %v", upload.Outcome, err)
	}
}
