package documents

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// taken is given by make pictures, after it has taken them.
var taken = flag.Bool("pictures-taken", false, "note that the pictures of the documents were taken of the pages as they are")

const (
	pictureFolder   = "docs/pictures"
	pictureNote     = pictureFolder + "/pages.sha256" // of the pages that were pictured
	heaviestPicture = 60_000
)

// pictured are the files that make up the pages in the pictures.
var pictured = []string{
	"internal/web/page/templates/_*.html", "internal/web/page/static/*.css", "internal/web/panel/templates/_*.html",
	"internal/web/panel/templates/home.html", "internal/web/panel/templates/customers.html",
	"internal/web/panel/templates/charge.html", "internal/web/panel/templates/webhook.html",
	"internal/web/panel/templates/setup.html", "internal/web/panel/templates/import_columns.html",
	"internal/web/checkout/templates/_frame.html", "internal/web/checkout/templates/pay.html",
}

// pagesSum is the hash of those files.
func pagesSum(t *testing.T) string {
	t.Helper()
	sum := sha256.New()
	for _, pattern := range pictured {
		names, err := fs.Glob(os.DirFS(root), pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(names), err)
		}
		for _, name := range names {
			fmt.Fprintf(sum, "%s\n%s\n", name, read(t, name))
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func TestPicturesAreNotOlderThanThePages(t *testing.T) {
	if *taken {
		if err := os.WriteFile(filepath.Join(root, pictureNote), []byte(pagesSum(t)+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if strings.TrimSpace(read(t, pictureNote)) != pagesSum(t) {
		t.Error("pages in the pictures of the documents have changed since; run make pictures, and look at them")
	}
}

func TestPicturesAreSmallAndShown(t *testing.T) {
	names, err := fs.Glob(os.DirFS(root), pictureFolder+"/*.webp")
	if err != nil || len(names) < 4 {
		t.Fatalf("%d pictures, %v", len(names), err)
	}
	texts := documents(t)
	for _, name := range names {
		if size := len(read(t, name)); size > heaviestPicture {
			t.Errorf("%s has %d bytes, more than %d", name, size, heaviestPicture)
		}
		shown := slices.ContainsFunc([]string{"README.md", "docs/panel.md", "docs/instalar.md"}, func(document string) bool {
			return strings.Contains(texts[document], "("+strings.TrimPrefix(name, filepath.Dir(document)+"/")+")")
		})
		if !shown {
			t.Errorf("no document shows %s", name)
		}
	}
}
