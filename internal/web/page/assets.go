package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"carteira/internal/web"
)

//go:embed static
var staticFiles embed.FS

// Static is where the assets stand.
const Static = "/static/"

// asset is a file as it is sent: whole and, where that is shorter, packed.
type asset struct {
	media         string
	plain, packed []byte
}

// bundle is every asset, under one version: stylesheets can then refer to
// fonts and pictures by relative names, and a new binary changes every
// address at once.
type bundle struct {
	version string
	files   map[string]asset
}

var assets = sync.OnceValue(readAssets)

func readAssets() bundle {
	b := bundle{files: map[string]asset{}}
	sum := sha256.New()
	err := fs.WalkDir(staticFiles, "static", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || mediaOf(name) == "" || path.Base(path.Dir(name)) == "lucide" {
			return err
		}
		content := []byte(mustRead(staticFiles, name))
		fmt.Fprintf(sum, "%s %d\n", name, len(content))
		sum.Write(content)
		b.files[path.Base(name)] = asset{mediaOf(name), content, packed(content)}
		return nil
	})
	if err != nil {
		panic(err) // embedded
	}
	sheet := []byte(iconSheet())
	sum.Write(sheet)
	b.files[iconFile] = asset{mediaOf(iconFile), sheet, packed(sheet)}
	b.version = hex.EncodeToString(sum.Sum(nil)[:6])
	return b
}

// mediaOf knows the kinds of files that are served; "" for the others, such as
// licences.
func mediaOf(name string) string {
	switch path.Ext(name) {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".woff2":
		return "font/woff2"
	case ".svg":
		return "image/svg+xml"
	}
	return ""
}

// Asset is the address of a file of ours, which never changes its content.
func Asset(name string) string {
	bundle := assets()
	if _, ok := bundle.files[name]; !ok {
		panic("no asset " + name)
	}
	return Static + bundle.version + "/" + name
}

// Register serves the assets.
func Register(mux *http.ServeMux) {
	mux.HandleFunc("GET "+Static+"{version}/{name}", serveAsset)
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, Asset("mark.svg"), http.StatusSeeOther)
	})
}

// serveAsset answers under old versions too: a page that was open while the
// program was replaced still finds its styles.
func serveAsset(w http.ResponseWriter, r *http.Request) {
	bundle := assets()
	asset, ok := bundle.files[r.PathValue("name")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	header := w.Header()
	header.Set("Content-Type", asset.media)
	header.Set("Vary", "Accept-Encoding")
	header.Set("Cache-Control", "no-cache")
	header.Set("ETag", `"`+bundle.version+`"`)
	if r.PathValue("version") == bundle.version {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if asset.packed != nil && web.AcceptsGzip(r) {
		header.Set("Content-Encoding", "gzip")
		header.Set("Content-Length", strconv.Itoa(len(asset.packed))) // ServeContent leaves it out of an encoded answer
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(asset.packed))
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(asset.plain))
}

// packed is content compressed as well as can be; nil when that gains nothing.
func packed(content []byte) []byte {
	var out bytes.Buffer
	writer, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is valid
	_, _ = writer.Write(content)                                 // to memory
	_ = writer.Close()
	if out.Len() >= len(content)*9/10 {
		return nil
	}
	return out.Bytes()
}

// iconFile has every picture of lucide once, so that a page only names those
// that it shows: a menu and a list of fifty rows show a hundred.
const iconFile = "icons.svg"

// pictures are what lucide's files draw, by name, without the licence line, which
// is in VENDOR.md.
var pictures = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	files := mustSub(staticFiles, "static/vendor/lucide")
	names, err := fs.Glob(files, "*.svg")
	if err != nil {
		panic(err) // the pattern is constant
	}
	for _, name := range names {
		svg := mustRead(files, name)
		_, inner, _ := strings.Cut(svg[strings.Index(svg, "<svg"):], ">")
		inner = strings.TrimSuffix(strings.TrimSpace(inner), "</svg>")
		all[strings.TrimSuffix(name, ".svg")] = strings.Join(strings.Fields(inner), " ")
	}
	return all
})

// iconSheet is the file of all pictures.
func iconSheet() string {
	var sheet strings.Builder
	sheet.WriteString(`<svg xmlns="http://www.w3.org/2000/svg">`)
	for _, name := range slices.Sorted(maps.Keys(pictures())) {
		fmt.Fprintf(&sheet, `<symbol id="%s" viewBox="0 0 24 24"><g fill="none" stroke="currentColor" stroke-width="2" `+
			`stroke-linecap="round" stroke-linejoin="round">%s</g></symbol>`+"\n", name, pictures()[name])
	}
	sheet.WriteString("</svg>\n")
	return sheet.String()
}

// Icon is a decoration; the text next to it must carry the meaning.
func Icon(name string) (template.HTML, error) {
	if _, ok := pictures()[name]; !ok {
		return "", fmt.Errorf("no icon %s; static/vendor/VENDOR.md says how to add one", name)
	}
	return template.HTML( //nolint:gosec // a name of our own files
		`<svg class="icon" aria-hidden="true"><use href="` + Asset(iconFile) + `#` + name + `"/></svg>`), nil
}
