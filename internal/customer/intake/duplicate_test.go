package intake_test

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/customer/intake"
	"carteira/internal/customer/sheet"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

func fileOf(t *testing.T, file string) intake.Rows {
	t.Helper()
	return func() iter.Seq2[sheet.Row, error] {
		reader, err := sheet.Open(strings.NewReader(file))
		housetest.Must(t, err)
		return reader.All()
	}
}

// seemThere imports a file and returns which lines seem to be there already.
func (o *office) seemThere(t *testing.T, actor account.Actor, file string, options intake.ImportOptions) (intake.Imported, []string) {
	t.Helper()
	var found []string
	options.Duplicate = func(problem intake.Problem) {
		found = append(found, fmt.Sprintf("%d %s %d", problem.Line, problem.Field, problem.CustomerID))
	}
	done, err := o.Import(t.Context(), actor, fileOf(t, file), options)
	housetest.Must(t, err)
	return done, found
}

const (
	fileBefore = `nome;telefone;cpf;vencimento
Ana;(11) 98765-4321;;10/02/2026
João da Silva;;529.982.247-25;11/02/2026
Bia;;;
`
	fileAfter = `nome;telefone;cpf;vencimento;usuario
Outra;+55 11 98765-4321;;01/03/2026;u1
JOAO DA SILVA;;;11/02/2026;u2
João da Silva;;52998224725;12/02/2026;u3
Bia;;;;u4
Nova;(11) 91234-5678;;10/02/2026;u5
Nova irmã;(11) 91234-5678;;10/02/2026;u6
`
)

func TestCustomersWhoAreThereAlreadyAreShownBeforeAnythingIsWritten(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := openOffice(t, engine)
		if done, found := world.seemThere(t, world.actor, fileBefore, intake.ImportOptions{}); done != (intake.Imported{Imported: 3}) || found != nil {
			t.Fatalf("%+v, %q", done, found)
		}
		want := []string{"2 whatsapp 1", "3 name 2", "4 cpf_cnpj 2", "7 whatsapp 0"}
		done, found := world.seemThere(t, world.actor, fileAfter, intake.ImportOptions{DryRun: true})
		if done != (intake.Imported{Skipped: 6, Duplicates: 4}) || !slices.Equal(found, want) {
			t.Errorf("imported all the same: %+v, %q", done, found)
		}
		done, found = world.seemThere(t, world.actor, fileAfter, intake.ImportOptions{DryRun: true, SkipDuplicates: true})
		if done != (intake.Imported{Skipped: 2, Duplicates: 4}) || !slices.Equal(found, want) {
			t.Errorf("passed over: %+v, %q", done, found)
		}
		if done, found := world.seemThere(t, world.newCompany(t, "outra@example.com"), fileAfter, intake.ImportOptions{DryRun: true}); !slices.Equal(found, want[3:]) {
			t.Errorf("another company's customers: %+v, %q", done, found)
		}
	})
}

func TestDuplicatesArePassedOverWhereChosen(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		for _, keepGoing := range []bool{false, true} {
			world := openOffice(t, engine)
			world.seemThere(t, world.actor, fileBefore, intake.ImportOptions{})
			options := intake.ImportOptions{SkipDuplicates: true, KeepGoing: keepGoing}
			if done, _ := world.seemThere(t, world.actor, fileAfter, options); done != (intake.Imported{Imported: 2, Duplicates: 4}) {
				t.Errorf("keep going %t: %+v", keepGoing, done)
			}
			// The whole file again: each line seems to be there, except the one without
			// a mark, and its login is taken.
			done, found := world.seemThere(t, world.actor, fileAfter, options)
			if done != (intake.Imported{Failed: 1, Duplicates: 5}) {
				t.Errorf("keep going %t, again: %+v, %q", keepGoing, done, found)
			}
			names, err := sqldb.Values[string](t.Context(), world.db,
				`SELECT name FROM customers WHERE company_id = ? ORDER BY id`, world.actor.Company.ID)
			if want := []string{"Ana", "João da Silva", "Bia", "Bia", "Nova"}; err != nil || !slices.Equal(names, want) {
				t.Errorf("keep going %t: stored %q, %v", keepGoing, names, err)
			}
		}
	})
}

func TestWhoComesAfterABadLineLikeItIsImportedInItsPlace(t *testing.T) {
	world := openOffice(t, sqldb.SQLite)
	file := "nome;telefone;e-mail\nAna;11987654321;ana\nAna;11987654321;ana@example.com\n"
	done, found := world.seemThere(t, world.actor, file, intake.ImportOptions{SkipDuplicates: true, KeepGoing: true})
	if done != (intake.Imported{Imported: 1, Failed: 1}) || found != nil {
		t.Errorf("%+v, %q", done, found)
	}
}

// A large file on SQLite is staged: what is passed over has no id reserved.
func TestDuplicatesOfALargeFileArePassedOver(t *testing.T) {
	world := openOffice(t, sqldb.SQLite)
	const batch = 128 // on SQLite
	file := strings.Builder{}
	file.WriteString("nome;telefone\n")
	for i := range 3 * batch {
		fmt.Fprintf(&file, "Cliente %d;119%08d\n", i, 10_000_000+i/2)
	}
	options := intake.ImportOptions{SkipDuplicates: true}
	half := 3 * batch / 2
	if done, _ := world.seemThere(t, world.actor, file.String(), options); done != (intake.Imported{Imported: half, Duplicates: half}) {
		t.Errorf("%+v", done)
	}
	if done, _ := world.seemThere(t, world.actor, file.String(), options); done != (intake.Imported{Duplicates: 2 * half}) {
		t.Errorf("again: %+v", done)
	}
}

func TestDuplicatesAreFoundWithinTheFile(t *testing.T) {
	world := openOffice(t, sqldb.SQLite)
	var got []string
	_, err := world.Import(t.Context(), world.actor, fileOf(t, strings.Join([]string{
		"nome;telefone;cpf;vencimento",
		"Ana;11987654321;52998224725;10/12/27",
		"Bia;;;10/12/27",
		"Ana Maria;(11) 98765-4321;;",
		"ANA;;;10/12/2027",
		"Ana;;;11/12/27",
		"Caio;;529.982.247-25;",
		"Ána;+55 11 98765-4321;52998224725;10/12/27",
		"Bia;8765;1;",
		"Bia;8765;1;",
		"Davi;11987654322;1;",
		"Davi;11987654322;;31/02/27",
		"Davi;;52998224725;31/02/27",
	}, "\n")), intake.ImportOptions{DryRun: true, Duplicate: func(problem intake.Problem) {
		got = append(got, fmt.Sprint(problem.Line, " ", problem.Field, " ", problem.Reason))
	}})
	housetest.Must(t, err)
	want := []string{
		"4 whatsapp is the phone of an earlier line too",
		"5 name is in an earlier line too, with the same due date",
		"7 cpf_cnpj is the CPF or CNPJ of an earlier line too",
		"8 whatsapp is the phone of an earlier line too",
		"8 cpf_cnpj is the CPF or CNPJ of an earlier line too",
		"8 name is in an earlier line too, with the same due date",
		"12 whatsapp is the phone of an earlier line too", // bad lines are compared by what could be read of them
		"13 cpf_cnpj is the CPF or CNPJ of an earlier line too",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

// Before, the page of an import of all lines did not say that some were passed over.
func TestUploadSaysWhatItPassedOver(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		here, _, actor, _, _ := twoProcesses(t, engine)
		upload, err := here.SaveUpload(t.Context(), actor, "x.csv", []byte("nome;celular\nAna;11987654321\nBia;11987654321\n"))
		housetest.Must(t, err)
		_, err = here.CheckUpload(t.Context(), actor, upload.ID, upload.Choices)
		housetest.Must(t, err)
		housetest.Must(t, here.StartUpload(t.Context(), actor, upload.ID, false))
		for upload.State != intake.UploadDone {
			upload, err = here.Upload(t.Context(), actor, upload.ID)
			housetest.Must(t, err)
		}
		if upload.Outcome.Done != (intake.Imported{Imported: 1, Duplicates: 1}) {
			t.Errorf("%+v", upload.Outcome.Done)
		}
	})
}
