package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

const exampleSheet = "../../docs/examples/clientes.csv"

// shell runs commands on one fresh database.
type shell struct {
	url    string
	stdin  io.Reader
	stderr io.Writer // besides what is returned
}

func newShell(t *testing.T, engine sqldb.Engine) *shell {
	t.Helper()
	url := sqldbtest.URL(t, engine)
	t.Setenv("CARTEIRA_DATABASE_URL", url)
	t.Setenv("CARTEIRA_SECRET_KEY", strings.Repeat("ab", 32))
	t.Setenv("CARTEIRA_LOG_LEVEL", "error") // a throw-away PostgreSQL is not durable, and said to be so
	s := &shell{url: url, stdin: strings.NewReader("")}
	if code, _, stderr := s.run(t, "company", "create", "--name", "Rede Clara", "--email", "c@example.com"); code != 0 {
		t.Fatal(stderr)
	}
	return s
}

func (s *shell) run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return s.runContext(t.Context(), args...)
}

func (s *shell) runContext(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	w := io.Writer(&errs)
	if s.stderr != nil {
		w = io.MultiWriter(&errs, s.stderr)
	}
	code = Run(ctx, args, s.stdin, &out, w)
	return code, out.String(), errs.String()
}

// wantRun says how a command ends, and what standard error has in it.
func (s *shell) wantRun(t *testing.T, code int, stdout string, stderr []string, args ...string) {
	t.Helper()
	gotCode, gotOut, gotErr := s.run(t, args...)
	if gotCode != code || gotOut != stdout {
		t.Errorf("%s: code %d, %q\n%s", strings.Join(args, " "), gotCode, gotOut, gotErr)
	}
	for _, line := range stderr {
		if !strings.Contains(gotErr, line) {
			t.Errorf("%s: no %q in\n%s", strings.Join(args, " "), line, gotErr)
		}
	}
	if len(stderr) == 0 && gotErr != "" {
		t.Errorf("%s: said %s", strings.Join(args, " "), gotErr)
	}
}

func TestExampleSheetIsImported(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		shell := newShell(t, engine)
		shell.wantRun(t, 1, `{"imported":0,"failed":5,"skipped":0,"duplicates":0}`+"\n", []string{
			"line 2: Plano: does not exist\nline 2: Produto: does not exist\n", "5 of 5 lines are bad; nothing was imported",
		}, "import", "customers", exampleSheet, "--company", "1")
		shell.wantRun(t, 0, `{"imported":0,"failed":0,"skipped":5,"duplicates":0}`+"\n", nil, "import", "customers", exampleSheet, "--company", "1", "--create-missing", "--dry-run")
		shell.wantRun(t, 0, `{"imported":5,"failed":0,"skipped":0,"duplicates":0}`+"\n", nil, "import", "customers", exampleSheet, "--company", "1", "--create-missing")
		_, plans, _ := shell.run(t, "plan", "list", "--company", "1")
		for _, want := range []string{"Fibra 300", "99.90", "Fibra 600", "149.90", "Empresarial", "1249.00"} {
			if !strings.Contains(plans, want) {
				t.Errorf("no %q among the plans\n%s", want, plans)
			}
		}
	})
}

func TestImportedCustomersAreBilledInTimeOrAtOnce(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		shell := newShell(t, engine)
		file := "nome;plano;valor;vencimento\nAna;Mensal;35;31/12/2099\nBia;Mensal;35;31/12/2019\nCaio;;;31/12/2099\n"
		db := sqldbtest.Open(t, shell.url)
		want := func(when string, invoices, scheduled int64) {
			t.Helper()
			got := [2]int64{}
			for i, statement := range []string{"SELECT count(*) FROM invoices", "SELECT count(*) FROM invoice_schedule"} {
				count, err := sqldb.Value[int64](t.Context(), db, statement)
				if err != nil {
					t.Fatal(err)
				}
				got[i] = count
			}
			if got != [2]int64{invoices, scheduled} {
				t.Errorf("%s: invoices and scheduled %v", when, got)
			}
		}
		args := []string{"import", "customers", "-", "--company", "1", "--create-missing"}
		shell.stdin = strings.NewReader(file)
		shell.wantRun(t, 0, `{"imported":3,"failed":0,"skipped":0,"duplicates":0}`+"\n", nil, args...)
		want("in time", 0, 1)
		shell.stdin = strings.NewReader(file)
		there := []string{`warning: line 2, name "Ana": has the name and due date of customer 1 (Ana)`, "3 lines seem to be there already"}
		shell.wantRun(t, 0, `{"imported":0,"failed":0,"skipped":3,"duplicates":3}`+"\n", there, append(args, "--check")...)
		shell.stdin = strings.NewReader(file)
		shell.wantRun(t, 0, `{"imported":0,"failed":0,"skipped":0,"duplicates":3}`+"\n", there, append(args, "--skip-duplicates")...)
		want("passed over", 0, 1)
		shell.stdin = strings.NewReader(file)
		shell.wantRun(t, 0, `{"imported":3,"failed":0,"skipped":0,"duplicates":3}`+"\n", there, append(args, "--invoices")...)
		want("at once", 2, 1)
	})
}

func TestBadLinesAreReported(t *testing.T) {
	var file strings.Builder
	file.WriteString("Nome;Telefone;Signo\n")
	for i := range 150 {
		fmt.Fprintf(&file, "Cliente %d;%d;\n", i, i)
	}
	file.WriteString("Ana;11987654321;\n")
	path := filepath.Join(t.TempDir(), "clientes.csv")
	if err := os.WriteFile(path, []byte(file.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		shell := newShell(t, engine)
		errors := filepath.Join(t.TempDir(), "errors.csv")
		shell.wantRun(t, 1, `{"imported":0,"failed":150,"skipped":1,"duplicates":0}`+"\n", []string{
			`warning: column 3, "Signo", is not known and is passed over`,
			"line 2: Telefone: must have 10 or 11 digits with its area code; a number of another country begins with +\n",
			"line 101: Telefone: ", "50 more are not shown; --errors FILE writes all of them.\n",
			"carteira: 150 of 151 lines are bad; nothing was imported\n",
		}, "import", "customers", path, "--company", "1")
		shell.wantRun(t, 1, `{"imported":1,"failed":150,"skipped":0,"duplicates":0}`+"\n", []string{
			"150 in all, in " + errors, "150 of 151 lines are bad; customers that were imported and stay: 1",
		}, "import", "customers", path, "--company", "1", "--keep-going", "--errors", errors)
		report, err := os.ReadFile(errors)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(report)), "\n")
		if len(lines) != 151 || lines[0] != "line,column,value,reason" || lines[150] != `151,Telefone,149,must have 10 or 11 digits with its area code; a number of another country begins with +` {
			t.Errorf("the report has %d lines\n%s", len(lines), report)
		}
		shell.wantRun(t, 1, "", []string{"is the file to import"}, "import", "customers", path, "--company", "1", "--errors", path)
		if after, err := os.ReadFile(path); err != nil || string(after) != file.String() {
			t.Errorf("the file was written over: %v", err)
		}
	})
}

func TestStandardInputIsImported(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		shell := newShell(t, engine)
		shell.stdin = strings.NewReader("name\nAna\nBia\n")
		shell.wantRun(t, 0, `{"imported":2,"failed":0,"skipped":0,"duplicates":0}`+"\n", nil, "import", "customers", "-", "--company", "1")
	})
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "carteira-import-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestFilesThatCannotBeImportedAreOneLine(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		shell := newShell(t, engine)
		for path, want := range map[string]string{
			filepath.Join(dir, "missing.csv"): "no such file",
			dir:                               "is a folder",
			write("empty.csv", ""):            "the file is empty",
			write("nameless.csv", "telefone\n11987654321"):             "no column has the customer's name; a heading must be one of: name, nome,",
			write("sheet.xlsx", "PK\x03\x04"):                          "save it as CSV",
			write("open.csv", "nome\n\""+strings.Repeat("x\n", 1<<20)): "longer than 128 KiB",
		} {
			code, _, stderr := shell.run(t, "import", "customers", path, "--company", "1")
			if code != 1 || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("%s: code %d\n%s", path, code, stderr)
			}
		}
		shell.wantRun(t, 1, "", []string{"there is no company 7"}, "import", "customers", exampleSheet, "--company", "7")
	})
}

// canceller presses Ctrl-C when something is written.
type canceller struct {
	at     string
	cancel func()
}

func (c canceller) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(c.at)) {
		c.cancel()
	}
	return len(p), nil
}

func TestInterruptedImportSaysThatNothingStays(t *testing.T) {
	var file strings.Builder
	file.WriteString("nome;email\nRuim;sem-arroba\n")
	for i := range 1200 {
		fmt.Fprintf(&file, "Cliente %d;\n", i)
	}
	path := filepath.Join(t.TempDir(), "clientes.csv")
	if err := os.WriteFile(path, []byte(file.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		shell := newShell(t, engine)
		const want = "carteira: stopped; nothing was imported\n"
		for _, flag := range []string{"--keep-going=false", "--keep-going"} {
			ctx, cancel := context.WithCancel(t.Context())
			shell.stderr = canceller{"line 2", cancel}
			code, stdout, stderr := shell.runContext(ctx, "import", "customers", path, "--company", "1", flag)
			if code != 1 || !strings.HasSuffix(stderr, want) || !strings.Contains(stdout, `"failed":1,`) {
				t.Errorf("%s: code %d, %s\n%s", flag, code, stdout, stderr)
			}
			cancel()
		}
	})
}

func TestFileOfBadLinesIsItsOwnersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bad.csv")
	for _, there := range []bool{false, true} {
		if there {
			if err := os.Chmod(path, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		file, err := createPrivate(path)
		if err != nil {
			t.Fatal(err)
		}
		_ = file.Close()
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("there already: %t; mode %v, %v", there, info.Mode(), err)
		}
	}
}
