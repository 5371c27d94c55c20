package intake_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"carteira/internal/catalog"
	"carteira/internal/customer/intake"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// The first line is an exception, as it may be in any file: it must not make the
// price of all others.
func TestNewPlanCostsWhatMostOfItsLinesPay(t *testing.T) {
	for _, column := range []string{"valor", "preço próprio"} {
		file := "nome;plano;" + column + "\n" + strings.Join([]string{
			"Ana;Fibra 100;1.234,56", "Bia;fibra 100;79,90", "Caio;FIBRA 100;R$ 79,90", "Davi;Fibra 100;", "Eva;Fibra 100;59,90", "Fábio;Fibra 300;99,90",
		}, "\n")
		for _, options := range []intake.ImportOptions{{CreateMissing: true}, {CreateMissing: true, KeepGoing: true}, {CreateMissing: true, SkipDuplicates: true, KeepGoing: true}} {
			sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
				office := openOffice(t, engine)
				var own []string
				options.Warning = func(problem intake.Problem) { own = append(own, fmt.Sprint(problem.Name, " ", problem.Value)) }
				done, problems := office.load(t, file, options)
				wantProblems(t, problems)
				wantImported(t, done, 6, 0, 0)
				var paid []string
				for _, record := range office.all(t) {
					paid = append(paid, record.Name+" "+record.OwnPrice.String())
				}
				if got := strings.Join(paid, ","); got != "Ana 1234.56,Bia ,Caio ,Davi ,Eva 59.90,Fábio " {
					t.Errorf("%s, %+v: own prices %s", column, options, got)
				}
				plans, _, err := office.catalog.Plans(t.Context(), office.actor, catalog.Filter{}, input.Page{Number: 1, Size: 10})
				if err != nil || len(plans) != 2 || plans[0].Value+plans[1].Value != 7990+9990 {
					t.Errorf("plans %+v, %v", plans, err)
				}
				if len(own) < 2 || own[len(own)-2] != "Ana 1234.56" || own[len(own)-1] != "Eva 59.90" {
					t.Errorf("listed %q", own)
				}
			})
		}
	}
}

// A list of who pays how much, when and on which phone is all that many have: no plan, the day of the month or no year, two
// columns of phones, rows that end before the last column.
func TestListWithoutPlansIsPaidByTheMonth(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		office := openOffice(t, engine)
		const file = "Aluno;Tel.;Celular;Dia venc.;Mensalidade;Obs\nAna;3532211234;35 98765-4321;10;99,90;\nBia;3532211234;;dia 31;R$ 99,90/mês\nCaio;;;;59,90\nDavi;;;1/2/2027;;\nEva;;;10/fev;;\nFábio;;;29/01;;\n"
		_, problems := office.load(t, file, intake.ImportOptions{})
		wantProblems(t, problems, `2 plan "Mensal": does not exist`, `3 plan "Mensal": does not exist`, `4 plan "Mensal": does not exist`)
		done, problems := office.load(t, file, intake.ImportOptions{CreateMissing: true})
		wantProblems(t, problems)
		wantImported(t, done, 6, 0, 0)
		var got []string
		for _, record := range office.all(t) {
			got = append(got, fmt.Sprintf("%s %s %s %s %s", record.Name, record.Whatsapp, record.DueOn, record.Plan.Name, record.OwnPrice))
		}
		if want := []string{
			"Ana 5535987654321 2026-02-10 Mensal ", "Bia 553532211234 2026-01-31 Mensal ", "Caio  2026-02-28 Mensal 59.90", "Davi  2027-02-01  ",
			"Eva  2026-02-10  ", "Fábio  2026-01-29  ",
		}; !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
	})
}

func TestLinesWithTheSameProblemAreOneGroup(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		here, _, actor, _, _ := twoProcesses(t, engine)
		file := "nome;celular;plano;valor\n" + strings.Repeat("Ana;(11) 8765-4321;Fibra;10\n", 12) + "Bia;98765-4321;Rádio;10\nCaio;(35) 98765-4321;Rádio;trinta\n"
		upload, err := here.SaveUpload(t.Context(), actor, "x.csv", []byte(file))
		if err != nil {
			t.Fatal(err)
		}
		upload.Choices.SkipDuplicates = false
		upload, err = here.CheckUpload(t.Context(), actor, upload.ID, upload.Choices)
		groups := upload.Outcome.Problems
		if err != nil || len(groups) != 3 || groups[0].Value != "Fibra" || groups[0].Count != 12 || len(groups[0].First) != 8 || groups[0].First[0].Name != "Ana" || groups[1].Count != 2 {
			t.Fatalf("%+v, %v", groups, err)
		}
		choices := upload.Choices
		choices.CreateMissing, choices.NinthDigit, choices.AreaCode = true, true, upload.UsualArea()
		upload, err = here.CheckUpload(t.Context(), actor, upload.ID, choices)
		changes := upload.Outcome.Warnings
		if err != nil || choices.AreaCode != "35" || upload.Outcome.Done.Skipped != 13 || upload.Outcome.Total != 14 || len(changes) != 2 || changes[0].Count != 12 || changes[1].Count != 1 {
			t.Errorf("%+v, %v", upload, err)
		}
		choices.AreaCode = "10"
		if _, err = here.CheckUpload(t.Context(), actor, upload.ID, choices); err == nil {
			t.Error("an area code that does not exist is taken")
		}
	})
}
