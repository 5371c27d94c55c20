package program

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"carteira/internal/platform/sqldb"
)

// artifacts is where tests leave what people may want to look at.
const artifacts = "../artifacts"

// browse opens a page in a headless Chromium and returns what it prints.
func browse(t *testing.T, url string, options ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	args := append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
		"--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", // a page loads nothing from elsewhere
		"--user-data-dir=" + t.TempDir(), "--window-size=1280,1600", "--virtual-time-budget=20000",
	}, options...)
	cmd := exec.CommandContext(ctx, need(t, "chromium"), append(args, url)...)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("chromium: %v\n%s", err, complaints.String())
	}
	return string(out)
}

func TestBrowserShowsTheOperations(t *testing.T) {
	need(t, "chromium")
	t.Parallel()
	server := install(t, sqldb.SQLite).serve()
	docs := "http://" + server.address + "/docs"
	// The page unfolds the part of the document that the address names.
	shown := browse(t, docs+"#tag/customers/POST/customers/{id}/renew-due-date", "--dump-dom")
	for _, want := range []string{"Carteira API", "List customers", "Renew the due date", "previous_due_date", "customer.renewed"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	if err := os.MkdirAll(artifacts, 0o755); err != nil {
		t.Fatal(err)
	}
	picture, err := filepath.Abs(filepath.Join(artifacts, "docs.png"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(picture); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	browse(t, docs, "--screenshot="+picture)
	if info, err := os.Stat(picture); err != nil || info.Size() < 10_000 {
		t.Errorf("no picture worth the name: %v, %v", info, err)
	}
}
