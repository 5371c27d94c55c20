package program

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// releaseToKeep is set by `make fixture`, once for each release.
var releaseToKeep = flag.String("keep-release", "", "version whose database becomes a fixture")

// releases has a folder for each release, with a database of each engine as
// that version wrote it.
const releases = "testdata/releases"

// kept is what a fixture says about itself.
type kept struct {
	Key       string // of the database's secrets
	Token     string
	Customers int
	Invoices  int
}

// Every database that was ever released is migrated by the program of today,
// with all that is in it.
func TestDatabasesOfReleasesAreMigrated(t *testing.T) {
	t.Parallel()
	for _, version := range releasedVersions(t) {
		sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
			folder := filepath.Join(releases, version, string(engine))
			if _, err := os.Stat(folder); err != nil {
				t.Fatalf("version %s is in CHANGELOG.md with its date, and has no database: make fixture KEEP=%s, from its tag", version, version)
			}
			wantMigrated(t, engine, folder)
		})
	}
}

// What `make fixture` does for a release is done here for the present, so that
// it works on the day.
func TestDatabaseOfAReleaseCanBeKeptAndMigrated(t *testing.T) {
	eachDatabase(t, func(t *testing.T, in *installation) {
		folder := filepath.Join(t.TempDir(), "kept")
		if *releaseToKeep != "" {
			folder = filepath.Join(releases, *releaseToKeep, string(in.engine))
		}
		keepDatabase(t, in, folder)
		wantMigrated(t, in.engine, folder)
	})
}

var datedRelease = regexp.MustCompile(`(?m)^## \[([0-9.]+)\] - \d{4}-\d{2}-\d{2}$`)

// releasedVersions are those that the changelog gives a date.
func releasedVersions(t *testing.T) (versions []string) {
	t.Helper()
	changelog, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range datedRelease.FindAllStringSubmatch(string(changelog), -1) {
		versions = append(versions, match[1])
	}
	return versions
}

func keepDatabase(t *testing.T, in *installation, folder string) {
	t.Helper()
	client, _ := busy(t, in)
	says := kept{Token: client.token, Customers: len(client.customers()), Key: in.key(t)}
	says.Invoices = int(client.want(200, "GET", "/invoices", nil).Meta.Total)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(says, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "kept.json"), string(text)+"\n")
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if _, err := writer.Write(in.dump(t)); err != nil || writer.Close() != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "database.gz"), packed.String())
}

// key is the key of the installation's secrets.
func (in *installation) key(t *testing.T) string {
	t.Helper()
	for _, e := range in.env {
		if key, ok := strings.CutPrefix(e, "CARTEIRA_SECRET_KEY="); ok {
			return key
		}
	}
	text, err := os.ReadFile(filepath.Join(in.dir, "secret.key"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// dump is the whole database: a copy of the file, or the statements that make
// it.
func (in *installation) dump(t *testing.T) []byte {
	t.Helper()
	if in.engine == sqldb.SQLite {
		file := filepath.Join(t.TempDir(), "copy.db")
		in.run("backup", file)
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	out, err := exec.CommandContext(t.Context(), need(t, "pg_dump"), "--no-owner", "--no-privileges", in.url).Output()
	if err != nil {
		t.Fatal(explained(err))
	}
	return out
}

func explained(err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return errors.New(string(exit.Stderr))
	}
	return err
}

// wantMigrated starts the program on a kept database and looks for what was in
// it.
func wantMigrated(t *testing.T, engine sqldb.Engine, folder string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "kept.json"))
	if err != nil {
		t.Fatal(err)
	}
	var says kept
	unmarshal(t, text, &says)
	in := installEmpty(t, engine)
	in.env = append(in.env, "CARTEIRA_SECRET_KEY="+says.Key)
	in.load(t, filepath.Join(folder, "database.gz"))
	client := in.serve().client(says.Token)
	if got := len(client.customers()); got != says.Customers {
		t.Errorf("%d customers, want %d", got, says.Customers)
	}
	if got := int(client.want(200, "GET", "/invoices", nil).Meta.Total); got != says.Invoices {
		t.Errorf("%d invoices, want %d", got, says.Invoices)
	}
	code := 0
	if engine == sqldb.Postgres {
		code = 1 // of the throw-away server, which is not durable
	}
	found := in.examine(code)
	allowThrowAway(in, found)
	for _, finding := range found {
		if finding.Verdict == "wrong" {
			t.Errorf("%+v", finding)
		}
	}
}

// load fills an empty database from a dump.
func (in *installation) load(t *testing.T, file string) {
	t.Helper()
	packed, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = packed.Close() }()
	reader, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	if in.engine == sqldb.SQLite {
		if err := os.Mkdir(in.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(in.dir, "carteira.db"), string(content))
		return
	}
	cmd := exec.CommandContext(t.Context(), need(t, "psql"), "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", in.url)
	cmd.Stdin = bytes.NewReader(content)
	if _, err := cmd.Output(); err != nil {
		t.Fatal(explained(err))
	}
}
