package customer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/customer/sheet"
	"carteira/internal/event"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/sqldb/sqldbtest"
)

// Large enough to be staged: several batches.
const stagedRows = 600

// whileWriting calls then at some rows of the second pass, in which an import
// writes.
func whileWriting(file []byte, then func(row int)) customer.Rows {
	pass := 0
	return func() iter.Seq2[sheet.Row, error] {
		pass++
		return func(yield func(sheet.Row, error) bool) {
			n := 0
			for row, err := range rowsOf(file)() {
				if n++; pass == 2 && n%150 == 0 {
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
	o := openOffice(t, sqldb.SQLite)
	ctx, own := t.Context(), int64(0)
	firstHidden := int64(0)
	rows := whileWriting(staged(stagedRows), func(row int) {
		c, err := o.Create(ctx, o.actor, customer.ReadNew(pairs("name", fmt.Sprint("Vizinha ", row))))
		if err != nil {
			t.Fatal(err)
		}
		own++
		if firstHidden == 0 {
			firstHidden = c.ID - stagedRows
		}
		if n := o.total(t, customer.Filter{}); n != own || int64(len(o.all(t))) != own {
			t.Errorf("after %d rows %d customers are counted and %d listed, want %d", row, n, len(o.all(t)), own)
		}
		if n := o.total(t, customer.Filter{Search: "souza"}); n != 0 {
			t.Errorf("after %d rows a search finds %d", row, n)
		}
		if _, err := o.Find(ctx, o.actor, firstHidden); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("after %d rows the first is found: %v", row, err)
		}
		if err := o.Delete(ctx, o.actor, firstHidden); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("after %d rows the first can be deleted: %v", row, err)
		}
		_, err = o.Create(ctx, o.actor, customer.ReadNew(pairs("name", "Ana", "usuario", "USER0")))
		if got := fault.FieldsOf(err); got.Get("usuario") == nil {
			t.Errorf("after %d rows a login of the file is free: %v", row, err)
		}
	})
	done, err := o.Import(ctx, o.actor, rows, customer.ImportOptions{CreateMissing: true, Events: true})
	if err != nil {
		t.Fatal(err)
	}
	wantImported(t, done, stagedRows, 0, 0)
	want := own + stagedRows
	if n := o.total(t, customer.Filter{}); n != want || int64(len(o.all(t))) != want {
		t.Errorf("%d customers are counted and %d listed, want %d", n, len(o.all(t)), want)
	}
	if n := o.total(t, customer.Filter{Search: "souza"}); n == 0 {
		t.Error("a search finds nobody afterwards")
	}
	if first, err := o.Find(ctx, o.actor, firstHidden); err != nil || first.ExternalID != "C0" {
		t.Errorf("the first is %+v, %v", first, err)
	}
	if int64(len(o.recorded)) != want {
		t.Errorf("%d events are recorded, want %d", len(o.recorded), want)
	}
}

// plansOf names the plans of a company.
func plansOf(t *testing.T, db *sqldb.DB, a account.Actor) (names []string) {
	t.Helper()
	list, _, err := catalog.New(db).Plans(t.Context(), a, catalog.Filter{}, input.Page{Number: 1, Size: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		names = append(names, p.Name)
	}
	return names
}

func TestStagedImportThatIsRefusedLeavesNothing(t *testing.T) {
	o := openOffice(t, sqldb.SQLite)
	ctx := t.Context()
	rows := whileWriting(staged(stagedRows), func(row int) {
		if row == 150 {
			if _, err := o.Create(ctx, o.actor, customer.ReadNew(pairs("name", "Ana", "usuario", "user500"))); err != nil {
				t.Error(err)
			}
		}
		if row == 300 { // one of the plans is in use by now, and stays
			plan := plansOf(t, o.db, o.actor)[0]
			if plan != "Família" {
				t.Errorf("the newest plan is %s", plan)
			}
			o.load(t, "nome,plano\nBia,"+plan+"\n", customer.ImportOptions{})
		}
	})
	var problems []string
	done, err := o.Import(ctx, o.actor, rows, customer.ImportOptions{CreateMissing: true, Problem: func(p customer.Problem) {
		problems = append(problems, fmt.Sprintf("%d %s: %s", p.Line, p.Field, p.Reason))
	}})
	if err != nil {
		t.Fatal(err)
	}
	wantImported(t, done, 0, 1, stagedRows-1)
	wantProblems(t, problems, "502 usuario: is taken by another customer")
	if n := o.total(t, customer.Filter{}); n != 2 || len(o.all(t)) != 2 {
		t.Errorf("%d customers", n)
	}
	if got := plansOf(t, o.db, o.actor); len(got) != 1 || got[0] != "Família" {
		t.Errorf("the plans %q stay", got)
	}
	done, _ = o.load(t, strings.Replace(string(staged(stagedRows)), ";user500;", ";other;", 1), customer.ImportOptions{CreateMissing: true})
	wantImported(t, done, stagedRows, 0, 0)
}

// A process that is killed in the middle is one that never goes on.
func TestImportWhoseProcessDiedIsTakenBackByAnother(t *testing.T) {
	here, there, a, db, clock := twoProcesses(t, sqldb.SQLite)
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
		_, err := here.Import(ctx, a, rows, customer.ImportOptions{CreateMissing: true})
		done <- err
	}()
	<-reached
	if err := there.ContinueImport(ctx); err != nil {
		t.Fatal(err)
	}
	written := func() int64 {
		n, err := sqldb.Value[int64](ctx, db, `SELECT count(*) FROM customers`)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if written() == 0 || len(plansOf(t, db, a)) == 0 {
		t.Fatal("an import that goes on was taken back")
	}
	clock.Advance(time.Minute)
	if err := there.ContinueImport(ctx); err != nil {
		t.Fatal(err)
	}
	if n, plans := written(), plansOf(t, db, a); n != 0 || len(plans) != 0 {
		t.Errorf("%d customers and the plans %q stay", n, plans)
	}
	close(goOn)
	if err := <-done; fault.KindOf(err) != fault.KindConflict {
		t.Errorf("the process that was away says %v", err)
	}
	if n := written(); n != 0 {
		t.Errorf("the process that was away has written %d customers", n)
	}
	imported, err := there.Import(ctx, a, whileWriting(staged(stagedRows), func(int) {}), customer.ImportOptions{CreateMissing: true})
	if err != nil {
		t.Fatal(err)
	}
	wantImported(t, imported, stagedRows, 0, 0)
}

// recorder counts the events of each customer, and fails at one of them as long
// as it is told to.
type recorder struct {
	log    *event.Log
	names  map[string]int
	failAt int
}

func newRecorder(failAt int, after error) *recorder {
	r := &recorder{log: &event.Log{}, names: map[string]int{}, failAt: failAt}
	n := 0
	r.log.Watch(func(_ context.Context, tx *sqldb.Tx, e event.Event) error {
		if n++; n == r.failAt {
			return after
		}
		tx.OnCommit(func() { r.names[e.ID]++ })
		return nil
	})
	return r
}

func TestConsequencesOfAnImportWhoseProcessDiedAreDrawnByAnother(t *testing.T) {
	clock := sqldbtest.NewClock(importDay)
	url := sqldbtest.URL(t, sqldb.SQLite)
	db := sqldbtest.Open(t, url, sqldbtest.WithClock(clock))
	first, second := newRecorder(400, sqldb.ErrUnavailable), newRecorder(0, nil)
	here, there := customer.New(db, first.log), customer.New(sqldbtest.Open(t, url, sqldbtest.WithClock(clock)), second.log)
	company, _, err := account.New(db, account.Config{}).CreateCompany(t.Context(), account.ReadNewCompany(pairs("name", "Rede", "email", "a@example.com")))
	if err != nil {
		t.Fatal(err)
	}
	a := account.System(company, "test")
	done, err := here.Import(t.Context(), a, rowsOf(staged(stagedRows)), customer.ImportOptions{CreateMissing: true, Events: true})
	if !errors.Is(err, sqldb.ErrUnavailable) || done.Imported != stagedRows {
		t.Fatalf("%+v, %v", done, err)
	}
	_, n, err := there.List(t.Context(), a, customer.Filter{}, input.Page{Number: 1, Size: 1})
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
		if strings.Contains(string(e.Body), `"username":"user333"`) {
			return broken
		}
		tx.OnCommit(func() { recorded++ })
		return nil
	})
	s := customer.New(db, log)
	company, _, err := account.New(db, account.Config{}).CreateCompany(t.Context(), account.ReadNewCompany(pairs("name", "Rede", "email", "a@example.com")))
	if err != nil {
		t.Fatal(err)
	}
	a := account.System(company, "test")
	done, err := s.Import(t.Context(), a, rowsOf(staged(stagedRows)), customer.ImportOptions{CreateMissing: true, Events: true})
	if !errors.Is(err, broken) || done.Imported != stagedRows || recorded != stagedRows-1 {
		t.Errorf("%+v, %d events, %v", done, recorded, err)
	}
	if done, err = s.Import(t.Context(), a, rowsOf([]byte(strings.ReplaceAll(strings.ReplaceAll(string(staged(stagedRows)), "user", "x"), "C", "Y"))),
		customer.ImportOptions{CreateMissing: true}); err == nil && done.Imported == stagedRows {
		return
	}
	t.Errorf("the next import: %+v, %v", done, err)
}

func TestUploadCountsAsImportedFromTheMomentItsCustomersAreVisible(t *testing.T) {
	db := sqldbtest.New(t, sqldb.SQLite, sqldbtest.WithClock(sqldbtest.NewClock(importDay)))
	s := customer.New(db, newRecorder(400, sqldb.ErrUnavailable).log)
	company, _, err := account.New(db, account.Config{}).CreateCompany(t.Context(), account.ReadNewCompany(pairs("name", "Rede", "email", "a@example.com")))
	if err != nil {
		t.Fatal(err)
	}
	a := account.System(company, "test")
	u, err := s.SaveUpload(t.Context(), a, "x.csv", staged(stagedRows))
	if err == nil {
		choices := u.Choices
		choices.Events, choices.CreateMissing = true, true
		_, err = s.CheckUpload(t.Context(), a, u.ID, choices)
	}
	if err == nil {
		err = s.StartUpload(t.Context(), a, u.ID)
	}
	for err == nil && (u.State == customer.UploadNew || u.State == customer.UploadRunning) {
		u, err = s.Upload(t.Context(), a, u.ID)
	}
	if err != nil || u.State != customer.UploadDone || u.Outcome.Done.Imported != stagedRows {
		t.Errorf("%+v, %v", u.Outcome, err)
	}
}
