package intake_test

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"carteira/internal/customer/intake"
	"carteira/internal/customer/sheet"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

const untidyFile = `nome;telefone;e-mail;cpf;cidade;custom.MAC;vencimento
Ana;(11) 98765-4321;ana@;123.456.789-09;Recife;00-1A;10/02/2026
Bia;11 8765-4321;bia@example.com;111;Natal;;10/02/2026
Ana;(11) 98765-4321;;;;;11/02/2026
Caio;;;;;;31/02/2026
`

func TestBadOptionalValuesAreLeftOutWithAWarningWhereChosen(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		world := openOffice(t, engine)
		rows := func() iter.Seq2[sheet.Row, error] {
			file, err := sheet.Open(strings.NewReader(untidyFile))
			housetest.Must(t, err)
			return file.All()
		}
		for _, c := range []struct {
			leaveOut bool
			want     intake.Imported
			problems []string
			warnings []string
		}{
			{false, intake.Imported{Failed: 3, Skipped: 1, Duplicates: 1}, []string{"2 email", "3 whatsapp", "3 cpf_cnpj", "5 data_de_vencimento"}, []string{"4 whatsapp"}},
			{
				true,
				intake.Imported{Failed: 1, Skipped: 3, Duplicates: 1},
				[]string{"5 data_de_vencimento"},
				[]string{"2 email", "3 cpf_cnpj", "3 whatsapp", "4 whatsapp"},
			},
		} {
			var problems, warnings []string
			done, err := world.Import(t.Context(), world.actor, rows, intake.ImportOptions{
				DryRun: true, LeaveOut: c.leaveOut,
				Problem: func(problem intake.Problem) {
					problems = append(problems, fmt.Sprint(problem.Line, " ", problem.Field))
				},
				Warning: func(problem intake.Problem) {
					warnings = append(warnings, fmt.Sprint(problem.Line, " ", problem.Field))
				},
				Duplicate: func(problem intake.Problem) {
					warnings = append(warnings, fmt.Sprint(problem.Line, " ", problem.Field))
				},
			})
			slices.Sort(warnings)
			slices.Sort(problems)
			slices.Sort(c.problems)
			if err != nil || done != c.want || !slices.Equal(problems, c.problems) || !slices.Equal(warnings, c.warnings) {
				t.Errorf("leave out %v: %+v, %v\nproblems %q\nwarnings %q", c.leaveOut, done, err, problems, warnings)
			}
		}
		done, err := world.Import(t.Context(), world.actor, rows, intake.ImportOptions{KeepGoing: true, LeaveOut: true})
		if err != nil || done.Imported != 3 {
			t.Errorf("imported %+v, %v", done, err)
		}
		got, err := sqldb.Values[string](t.Context(), world.db, `
			SELECT name || ' ' || whatsapp || ' ' || email || ' ' || cpf_cnpj || ' ' || custom FROM customers WHERE company_id = ? ORDER BY id`,
			world.actor.Company.ID)
		want := []string{`Ana 5511987654321  12345678909 {"MAC":"00-1A"}`, `Bia  bia@example.com  `, `Ana 5511987654321   `}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("stored %q, %v", got, err)
		}
	})
}

func TestWhatIsLeftOutIsShownAsTheFileHasIt(t *testing.T) {
	world := openOffice(t, sqldb.SQLite)
	const file = "nome;telefone;cpf;cep;uf;vencimento;valor;custom.MAC\nAna;8765-4321;111;99;XX;10/02/2026;dez;00:1A\nBia;8765-4321;111;99;XX;10/02/2026;;00:1A\n"
	var got []string
	note := func(problem intake.Problem) {
		got = append(got, fmt.Sprintf("%d %s %q: %s", problem.Line, problem.Field, problem.Value, problem.Reason))
	}
	_, err := world.Import(t.Context(), world.actor, fileOf(t, file), intake.ImportOptions{DryRun: true, LeaveOut: true, Problem: note, Warning: note})
	housetest.Must(t, err)
	want := []string{
		`2 value "dez": must be an amount such as 1.234,56`,
		`2 plan "Mensal": does not exist`,
		`3 whatsapp "8765-4321": must have an area code, as in (11) 98765-4321`,
		`3 cpf_cnpj "111": must be a CPF with 11 digits or a CNPJ with 14 characters`,
		`3 address.cep "99": must be a CEP with eight digits, as in 01310-100`,
		`3 address.state "XX": must be one of the 27 states, as in SP`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}
