package intake_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/charmap"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/customer/intake"
	"carteira/internal/customer/sheet"
	"carteira/internal/event"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
	"carteira/test/kit/sqldbtest"
)

// office is a company that files are imported into.
type office struct {
	*intake.Service
	customers *customer.Service
	db        *sqldb.DB
	catalog   *catalog.Service
	actor     account.Actor
	recorded  []string // names of events
}

// Noon of 31 January 2026 in São Paulo.
var importDay = time.Date(2026, 1, 31, 15, 0, 0, 0, time.UTC)

func openOffice(tb testing.TB, engine sqldb.Engine) *office {
	tb.Helper()
	db := sqldbtest.New(tb, engine, sqldbtest.WithClock(sqldbtest.NewClock(importDay)))
	log := &event.Log{}
	customers := customer.New(db, log)
	o := &office{Service: intake.New(db, customers), customers: customers, db: db, catalog: catalog.New(db)}
	log.Watch(func(_ context.Context, _ *sqldb.Tx, recorded event.Event) error {
		o.recorded = append(o.recorded, string(recorded.Name))
		return nil
	})
	o.actor = o.newCompany(tb, "clara@example.com")
	return o
}

func (o *office) newCompany(tb testing.TB, email string) account.Actor {
	tb.Helper()
	company, _, err := account.New(o.db, account.Config{}).CreateCompany(tb.Context(), account.ReadNewCompany(pairs("name", "Rede Clara", "email", email)))
	if err != nil {
		tb.Fatal(err)
	}
	return account.System(company, "test")
}

func (o *office) plan(t *testing.T, name, value, period string) catalog.Plan {
	t.Helper()
	plan, err := o.catalog.CreatePlan(t.Context(), o.actor, catalog.ReadNewPlan(pairs("name", name, "value", value, "period", period)))
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// load imports a file that is not to break off, and returns what was wrong
// with it as the command line says it.
func (o *office) load(t *testing.T, file string, options intake.ImportOptions) (intake.Imported, []string) {
	t.Helper()
	var problems []string
	options.Problem = func(problem intake.Problem) {
		problems = append(problems, fmt.Sprintf("%d %s %q: %s", problem.Line, problem.Field, problem.Value, problem.Reason))
	}
	done, err := o.Import(t.Context(), o.actor, rowsOf([]byte(file)), options)
	if err != nil {
		t.Fatal(err)
	}
	return done, problems
}

func (o *office) total(t *testing.T, filter customer.Filter) int64 {
	t.Helper()
	_, n, err := o.customers.List(t.Context(), o.actor, filter, input.Page{Number: 1, Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// all lists the customers in the order of the file.
func (o *office) all(t *testing.T) []customer.Customer {
	t.Helper()
	list, _, err := o.customers.List(t.Context(), o.actor, customer.Filter{}, input.Page{Number: 1, Size: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(list)
	return list
}

func wantImported(t *testing.T, got intake.Imported, imported, failed, skipped int) {
	t.Helper()
	if want := (intake.Imported{Imported: imported, Failed: failed, Skipped: skipped}); got != want {
		t.Errorf("imported %+v, want %+v", got, want)
	}
}

func wantProblems(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("problems\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func pairs(namesAndValues ...string) *input.Form {
	values := map[string]string{}
	for pair := range slices.Chunk(namesAndValues, 2) {
		values[pair[0]] = pair[1]
	}
	return input.FromStrings(values)
}

// rowsOf walks a file in memory.
func rowsOf(file []byte) intake.Rows {
	return func() iter.Seq2[sheet.Row, error] {
		reader, err := sheet.Open(bytes.NewReader(file))
		if err != nil {
			return func(yield func(sheet.Row, error) bool) { yield(sheet.Row{}, err) }
		}
		return reader.All()
	}
}

func TestLatin1SheetWithPortugueseHeadingsIsImported(t *testing.T) {
	file, err := charmap.ISO8859_1.NewEncoder().String(strings.Join([]string{
		"Código;Nome;Celular;E-mail;Usuário;Data de vencimento;Plano;Produto;Valor;Observações",
		`17;João Araújo;(11) 98765-4321;joao@example.com;joao.a;31/12/2027;MENSAL BASICO;;"R$ 1.234,56";"paga em dinheiro,` + "\r\n" + `não ligar"`,
		";Conceição;;;;;Mensal básico;Rádio;;",
		";Zé;+351 912 345 678;;;1/2/2027;;;;",
	}, "\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		office := openOffice(t, engine)
		plan := office.plan(t, "Mensal Básico", "1234.56", "1month")
		product, err := office.catalog.CreateProduct(t.Context(), office.actor, catalog.ReadNewProduct(pairs("name", "Rádio")))
		if err != nil {
			t.Fatal(err)
		}
		done, problems := office.load(t, file, intake.ImportOptions{})
		wantProblems(t, problems)
		wantImported(t, done, 3, 0, 0)

		var got []string
		for _, record := range office.all(t) {
			got = append(got, strings.Join([]string{
				record.ExternalID, record.Name, record.Whatsapp, record.Email, record.Usuario, record.DueOn.String(), fmt.Sprint(record.OwnDay, " ", record.Plan.ID == plan.ID, " ", record.Product.ID == product.ID), record.Notes,
			}, "|"))
			if record.UUID == "" || !record.CreatedAt.Equal(importDay) {
				t.Errorf("customer %+v", record)
			}
		}
		if want := []string{
			"17|João Araújo|5511987654321|joao@example.com|joao.a|2027-12-31|31 true false|paga em dinheiro,\nnão ligar",
			"|Conceição||||2026-02-28|31 true true|", // a month from today, and its own day kept
			"|Zé|351912345678|||2027-02-01|1 false false|",
		}; !slices.Equal(got, want) {
			t.Errorf("got\n%s", strings.Join(got, "\n"))
		}
		if n := office.total(t, customer.Filter{Search: "joao"}); n != 1 {
			t.Errorf("a search finds %d", n)
		}
	})
}

func TestOneBadLineKeepsTheWholeFileOut(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		office := openOffice(t, engine)
		done, problems := office.load(t, strings.Join([]string{
			"nome,whatsapp,email,vencimento",
			"Ana,11987654321,ana@example.com,1/2/2027",
			",123,sem-arroba,31/02/2027",
			"Bia,,,,x",
			"Caio,,,",
		}, "\n"), intake.ImportOptions{Events: true})
		wantImported(t, done, 0, 2, 2)
		wantProblems(t, problems,
			`3 whatsapp "123": must have 10 or 11 digits with its area code; a number of another country begins with +`,
			`3 email "sem-arroba": must be a valid e-mail address`,
			`3 data_de_vencimento "31/02/2027": must be a day that exists in the calendar`, `3 name "": is required`,
			`4  "": has 5 fields where the header has 4`)
		if n := office.total(t, customer.Filter{}); n != 0 || len(office.recorded) > 0 {
			t.Errorf("%d customers and events %v were written", n, office.recorded)
		}
	})
}

func TestKeepGoingWritesWhatIsGood(t *testing.T) {
	var file strings.Builder
	file.WriteString("nome,usuario,vencimento\n")
	for i := range 1203 { // two full batches and a part
		due := "15/03/2026"
		if i%100 == 7 {
			due = "15/13/2026"
		}
		fmt.Fprintf(&file, "Cliente %d,u%d,%s\n", i, i, due)
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		office := openOffice(t, engine)
		done, problems := office.load(t, file.String(), intake.ImportOptions{KeepGoing: true})
		wantImported(t, done, 1191, 12, 0)
		if len(problems) != 12 || problems[11] != `1109 data_de_vencimento "15/13/2026": must be a day that exists in the calendar` {
			t.Errorf("problems %q", problems)
		}
		if n := office.total(t, customer.Filter{Status: customer.Active}); n != 1191 {
			t.Errorf("%d customers are counted", n)
		}
		done, _ = office.load(t, file.String(), intake.ImportOptions{KeepGoing: true})
		if want := (intake.Imported{Failed: 1203, Duplicates: 1191}); done != want { // by their logins, names and dates
			t.Errorf("again: %+v, want %+v", done, want)
		}
	})
}

func TestLoginsAndKeysAreTakenOnce(t *testing.T) {
	file := strings.Join([]string{
		"nome,usuario,codigo",
		"Ana,ana,1",
		"Bia,ANA,2",
		"Caio,caio,1",
		"Davi,DAVI,3",
		"Eva,eva,K9",
		"Fábio,,",
		"Gil,,",
	}, "\n")
	want := []string{
		`3 usuario "ANA": is in line 2 already`,
		`4 external_id "1": is in line 2 already`,
		`5 usuario "DAVI": is taken by another customer`,
		`6 external_id "K9": is taken by another customer`,
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		office := openOffice(t, engine)
		for _, form := range []*input.Form{pairs("name", "Davi", "usuario", "davi"), pairs("name", "Eva", "external_id", "K9")} {
			if _, err := office.customers.Create(t.Context(), office.actor, customer.ReadNew(form)); err != nil {
				t.Fatal(err)
			}
		}
		stranger := office.newCompany(t, "other@example.com")
		if _, err := office.customers.Create(t.Context(), stranger, customer.ReadNew(pairs("name", "Ana", "usuario", "ana"))); err != nil {
			t.Fatal(err)
		}
		for _, options := range []intake.ImportOptions{{}, {DryRun: true}, {DryRun: true, KeepGoing: true}} {
			done, problems := office.load(t, file, options)
			wantImported(t, done, 0, 4, 3)
			wantProblems(t, problems, want...)
		}
		done, problems := office.load(t, file, intake.ImportOptions{KeepGoing: true})
		wantImported(t, done, 3, 4, 0)
		wantProblems(t, problems, want...)
	})
}

// A row is held to the rules of Create, whatever they are.
func TestRowsAreHeldToTheRulesOfCreate(t *testing.T) {
	forms := []map[string]string{
		{"name": strings.Repeat("x", 256)},
		{"name": "Ana\nMaria", "email": "a@b"},
		{"name": "Ana", "whatsapp": "ligar à tarde"},
		{"name": "Ana\x00", "usuario": "a\x07"},
		{"name": "Ana", "plan_id": "404", "product_id": "zero"},
		{"name": "Jos\xe9", "notes": strings.Repeat("é", 5001)},
		{"whatsapp": "11987654321"},
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		office := openOffice(t, engine)
		for _, values := range forms {
			_, err := office.customers.Create(t.Context(), office.actor, customer.ReadNew(input.FromStrings(values)))
			want := fault.FieldsOf(err)
			if want.Empty() {
				t.Fatalf("Create takes %v", values)
			}
			rows := func() iter.Seq2[sheet.Row, error] {
				return func(yield func(sheet.Row, error) bool) { yield(sheet.Row{Line: 2, Values: values}, nil) }
			}
			var got fault.Fields
			done, err := office.Import(t.Context(), office.actor, rows, intake.ImportOptions{Problem: func(problem intake.Problem) { got.Add(problem.Field, problem.Reason) }})
			if err != nil || done.Failed != 1 {
				t.Fatal(done, err)
			}
			if a, b := fmt.Sprint(want.Err()), fmt.Sprint(got.Err()); a != b {
				t.Errorf("Create says %s, Import %s", a, b)
			}
		}
	})
}

func TestPlansAreChosenByName(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		office := openOffice(t, engine)
		office.plan(t, "Família", "50.00", "1month")
		cheap := office.plan(t, "Duplo", "10.00", "1month")
		office.plan(t, "Duplo", "20.00", "1month")
		old := office.plan(t, "Antigo", "5.00", "1month")
		stranger := office.newCompany(t, "other@example.com")
		foreign, err := office.catalog.CreatePlan(t.Context(), stranger, catalog.ReadNewPlan(pairs("name", "Alheio", "value", "1.00", "period", "1month")))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := office.catalog.UpdatePlan(t.Context(), office.actor, old.ID, catalog.ReadPlanChanges(pairs("active", "false"))); err != nil {
			t.Fatal(err)
		}
		file := strings.Join([]string{
			"nome;plano;plan_id;valor;produto",
			"Ana;FAMILIA;;;",
			"Bia;duplo;;10,00;",
			fmt.Sprintf("Caio;qualquer;%d;10;", cheap.ID),
			"Davi;duplo;;;",
			"Eva;antigo;;;",
			"Fábio;nenhum;;9,90;",
			"Gil;família;;49,90;",
			fmt.Sprintf("Hugo;;%d;;", foreign.ID),
			"Íris;alheio;;;Rádio",
			"João;;;99,00;",
		}, "\n")
		done, problems := office.load(t, file, intake.ImportOptions{KeepGoing: true})
		wantImported(t, done, 4, 6, 0)
		wantProblems(t, problems,
			`5 plan "duplo": 2 have this name; give the id in a column plan_id`,
			`6 plan "antigo": is not active`,
			`7 plan "nenhum": does not exist`,
			fmt.Sprintf(`9 plan_id "%d": does not exist`, foreign.ID),
			`10 plan "alheio": does not exist`,
			`10 product "Rádio": does not exist`,
			`11 plan "Mensal": does not exist`, // what is paid for no plan is paid by the month
		)
		list := office.all(t)
		if list[0].Plan.Name != "Família" || list[1].Plan.ID != cheap.ID || list[2].Plan.ID != cheap.ID || list[3].OwnPrice.String() != "49.90" {
			t.Errorf("got %+v", list)
		}
	})
}

func TestMissingPlansAndProductsAreMadeWhenAsked(t *testing.T) {
	file := strings.Join([]string{
		"nome;plano;valor;produto",
		"Ana;Mensal;R$ 35,00;Fibra",
		"Bia;mensal;35;FIBRA",
		"Caio;Mensal;;",
	}, "\n")
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		office := openOffice(t, engine)
		made := func() string {
			plans, _, err := office.catalog.Plans(t.Context(), office.actor, catalog.Filter{}, input.Page{Number: 1, Size: 10})
			if err != nil {
				t.Fatal(err)
			}
			products, _, err := office.catalog.Products(t.Context(), office.actor, catalog.Filter{}, input.Page{Number: 1, Size: 10})
			if err != nil {
				t.Fatal(err)
			}
			var s []string
			for _, plan := range plans {
				s = append(s, fmt.Sprint(plan.Name, " ", plan.Value, " ", plan.Period, " ", plan.Active))
			}
			for _, product := range products {
				s = append(s, fmt.Sprint(product.Name, " ", product.Active))
			}
			return strings.Join(s, ", ")
		}
		done, problems := office.load(t, file, intake.ImportOptions{CreateMissing: true, DryRun: true})
		wantProblems(t, problems)
		wantImported(t, done, 0, 0, 3)
		bad := file + "\nDavi;Anual;;\nEva;Anual;trinta;"
		_, problems = office.load(t, bad, intake.ImportOptions{CreateMissing: true})
		wantProblems(t, problems, `5 value "": must say what the new plan costs`, `6 value "trinta": must be an amount such as 1.234,56`)
		if got := made(); got != "" {
			t.Fatalf("a file that was not imported left %s", got)
		}
		done, problems = office.load(t, file, intake.ImportOptions{CreateMissing: true})
		wantProblems(t, problems)
		wantImported(t, done, 3, 0, 0)
		if got := made(); got != "Mensal 35.00 1month true, Fibra true" {
			t.Errorf("made %s", got)
		}
		for _, record := range office.all(t) {
			if record.Plan.Name != "Mensal" || record.DueOn.String() != "2026-02-28" || record.Product.Name != "Fibra" && record.Name != "Caio" {
				t.Errorf("customer %+v", record)
			}
		}
	})
}

func TestEventsAreRecordedOnlyWhenAsked(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		office := openOffice(t, engine)
		office.load(t, "nome\nAna\nBia\n", intake.ImportOptions{})
		if len(office.recorded) > 0 {
			t.Errorf("recorded %v", office.recorded)
		}
		office.load(t, "nome\nCaio\nDavi\n", intake.ImportOptions{Events: true})
		n, err := sqldb.Value[int64](t.Context(), office.db, `SELECT count(*) FROM events WHERE name = 'customer.created' AND body LIKE '%"name":"Caio"%' OR body LIKE '%"name":"Davi"%'`)
		if len(office.recorded) != 2 || n != 2 || err != nil {
			t.Errorf("recorded %v, %d in the table, %v", office.recorded, n, err)
		}
		for _, events := range []bool{false, true} {
			office.load(t, "nome,vencimento\nEva,30/01/2026\nFábio,31/01/2026\nGil,01/02/2026\n", intake.ImportOptions{Events: events})
			if told, err := office.customers.Expire(t.Context(), office.actor); err != nil || told == 1 != events {
				t.Errorf("events %v: told of %d expired, %v", events, told, err)
			}
		}
	})
}

func TestCountsAreRightAfterAnImport(t *testing.T) {
	var file bytes.Buffer
	crowd(&file, 1200)
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		office := openOffice(t, engine)
		office.load(t, file.String(), intake.ImportOptions{CreateMissing: true})
		check := func() {
			t.Helper()
			list := office.all(t)
			plan := list[0].Plan.ID
			byPlan, byDay := int64(0), int64(0)
			for _, record := range list {
				if record.Plan.ID == plan {
					byPlan++
				}
				if record.DueOn == list[0].DueOn {
					byDay++
				}
			}
			if n := office.total(t, customer.Filter{}); n != 1200 || len(list) != 1200 {
				t.Errorf("total %d, listed %d", n, len(list))
			}
			if n := office.total(t, customer.Filter{PlanID: plan}); n != byPlan || n != 400 {
				t.Errorf("plan counted %d, has %d", n, byPlan)
			}
			if n := office.total(t, customer.Filter{DueFrom: list[0].DueOn, DueTo: list[0].DueOn}); n != byDay || n == 0 {
				t.Errorf("day counted %d, has %d", n, byDay)
			}
		}
		check()
		if err := tally.Compact(t.Context(), office.db); err != nil {
			t.Fatal(err)
		}
		check()
	})
}

// afterPass runs then when the file has been read to its end for the nth time.
func afterPass(rows intake.Rows, n int, then func()) intake.Rows {
	return func() iter.Seq2[sheet.Row, error] {
		return func(yield func(sheet.Row, error) bool) {
			for row, err := range rows() {
				if !yield(row, err) {
					return
				}
			}
			if n--; n == 0 {
				then()
			}
		}
	}
}

func TestLoginTakenBetweenCheckAndWriteIsReported(t *testing.T) {
	var file bytes.Buffer
	crowd(&file, 510)
	for keepGoing, want := range map[bool]intake.Imported{false: {Failed: 1, Skipped: 509}, true: {Imported: 509, Failed: 1}} {
		sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
			office := openOffice(t, engine)
			rows := afterPass(rowsOf(file.Bytes()), 2, func() {
				if _, err := office.customers.Create(t.Context(), office.actor, customer.ReadNew(pairs("name", "Ana", "usuario", "USER7"))); err != nil {
					t.Error(err)
				}
			})
			var problems []string
			options := intake.ImportOptions{CreateMissing: true, KeepGoing: keepGoing, Problem: func(problem intake.Problem) {
				problems = append(problems, fmt.Sprintf("%d %s: %s", problem.Line, problem.Field, problem.Reason))
			}}
			done, err := office.Import(t.Context(), office.actor, rows, options)
			if err != nil || done != want {
				t.Fatalf("%+v, %v, want %+v", done, err, want)
			}
			wantProblems(t, problems, "9 usuario: is taken by another customer")
			if n := office.total(t, customer.Filter{}); n != int64(1+done.Imported) || len(office.all(t)) != 1+done.Imported {
				t.Errorf("%d customers", n)
			}
		})
	}
}

func TestTwoImportsOfOneFileImportItOnce(t *testing.T) {
	var file bytes.Buffer
	crowd(&file, 600) // more than a batch
	for _, keepGoing := range []bool{false, true} {
		sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
			office := openOffice(t, engine)
			for _, name := range []string{"Mensal", "Básico", "Família"} {
				office.plan(t, name, "35.00", "1month")
			}
			results := make(chan intake.Imported)
			for range 2 {
				go func() {
					done, err := office.Import(t.Context(), office.actor, rowsOf(file.Bytes()), intake.ImportOptions{KeepGoing: keepGoing})
					if err != nil {
						t.Error(err)
					}
					results <- done
				}()
			}
			one, two := <-results, <-results
			if one.Imported+two.Imported != 600 || office.total(t, customer.Filter{}) != 600 || len(office.all(t)) != 600 {
				t.Errorf("keep going %v: %+v and %+v", keepGoing, one, two)
			}
		})
	}
}

func TestCancelledImportLeavesNothing(t *testing.T) {
	var file bytes.Buffer
	crowd(&file, 900)
	for _, tt := range []struct {
		options intake.ImportOptions
		pass    int
	}{
		{intake.ImportOptions{CreateMissing: true}, 1}, // over the prices
		{intake.ImportOptions{CreateMissing: true}, 2},
		{intake.ImportOptions{CreateMissing: true}, 3},
		{intake.ImportOptions{CreateMissing: true, KeepGoing: true}, 3},
	} {
		sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
			office := openOffice(t, engine)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			pass := 0
			rows := func() iter.Seq2[sheet.Row, error] {
				pass++
				return func(yield func(sheet.Row, error) bool) {
					n := 0
					for row, err := range rowsOf(file.Bytes())() {
						if n++; n == 700 && pass == tt.pass {
							cancel()
						}
						if !yield(row, err) {
							return
						}
					}
				}
			}
			done, err := office.Import(ctx, office.actor, rows, tt.options)
			if !errors.Is(err, context.Canceled) || done.Imported != 0 {
				t.Errorf("pass %d: %+v, %v", tt.pass, done, err)
			}
			if n := office.total(t, customer.Filter{}); n != 0 || len(office.all(t)) != 0 {
				t.Errorf("pass %d: %d customers stay", tt.pass, n)
			}
		})
	}
}

func TestFileThatBreaksOffIsAnError(t *testing.T) {
	file := "nome\nAna\nBia\n\"" + strings.Repeat("x\n", 100_000)
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		office := openOffice(t, engine)
		for _, keepGoing := range []bool{false, true} {
			done, err := office.Import(t.Context(), office.actor, rowsOf([]byte(file)), intake.ImportOptions{KeepGoing: keepGoing})
			if err == nil || !strings.Contains(err.Error(), "the record after line 3 is longer") || done.Imported != 0 {
				t.Errorf("%+v, %v", done, err)
			}
			if n := office.total(t, customer.Filter{}); n != 0 {
				t.Errorf("%d customers", n)
			}
		}
	})
}

// crowd writes a file of n good customers.
func crowd(w io.Writer, n int) {
	first := []string{"Ana", "João", "Maria", "José", "Antônia", "Luís", "Conceição", "Sebastião", "Lívia", "Caio", "Íris"}
	last := []string{"da Silva", "Souza", "Araújo", "Gonçalves", "Pereira", "Magalhães", "dos Santos", "Assunção", "Lima"}
	fmt.Fprintln(w, "Código;Nome;Celular;E-mail;Usuário;Vencimento;Plano;Valor")
	for i := range n {
		fmt.Fprintf(w, "C%d;%s %s %s;(11) 9%04d-%04d;cliente%d@example.com;user%d;%d/%d/2027;%s;R$ 35,00\n", i,
			first[i%len(first)], last[i%len(last)], last[i/7%len(last)], 6000+i%4000, i*7919%10000, i, i, 1+i%28, 1+i/28%12,
			[]string{"Mensal", "Básico", "Família"}[i%3])
	}
}

// BenchmarkImport is what a company waits for that brings its customers along.
func BenchmarkImport(b *testing.B) {
	var file bytes.Buffer
	crowd(&file, 100_000)
	for _, engine := range []sqldb.Engine{sqldb.SQLite, sqldb.Postgres} {
		b.Run(string(engine), func(b *testing.B) {
			for b.Loop() {
				office := openOffice(b, engine)
				done, err := office.Import(b.Context(), office.actor, rowsOf(file.Bytes()), intake.ImportOptions{CreateMissing: true})
				if err != nil || done != (intake.Imported{Imported: 100_000}) {
					b.Fatal(done, err)
				}
			}
		})
	}
}
