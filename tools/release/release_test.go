package main

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// dist is the folder of the release that made makes.
var dist string

// made is a release for the platform of this machine, made once.
var made = sync.OnceValues(func() (*release, error) {
	r := &release{root: "../..", dist: dist, version: "0.1.0", withPaths: true}
	return r, r.run([]string{"linux/" + runtime.GOARCH})
})

func TestMain(m *testing.M) { os.Exit(runIn(m)) }

func runIn(m *testing.M) int {
	dir, err := os.MkdirTemp("", "carteira-release-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	dist = filepath.Join(dir, "dist")
	return m.Run()
}

func makeOnce(t *testing.T) *release {
	t.Helper()
	r, err := made()
	must(t, err)
	return r
}

func TestReleaseHasEveryFileWithItsChecksum(t *testing.T) {
	r := makeOnce(t)
	base := "carteira_0.1.0_linux_" + runtime.GOARCH
	for _, name := range []string{
		base + ".tar.gz", base + ".cdx.json", base + "_image.tar", base + "_oci.tar", "carteira_0.1.0_" + runtime.GOARCH + ".deb",
	} {
		if info, err := os.Stat(filepath.Join(r.dist, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if rpms, _ := filepath.Glob(filepath.Join(r.dist, "*.rpm")); len(rpms) != 1 {
		t.Errorf("%d rpm packages", len(rpms))
	}
	check := exec.CommandContext(t.Context(), "sha256sum", "--strict", "-c", "SHA256SUMS")
	check.Dir = r.dist
	if out, err := check.CombinedOutput(); err != nil || strings.Count(string(out), ": OK") != 6 {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestArchiveHasProgramManualAndRecipes(t *testing.T) {
	r := makeOnce(t)
	f, err := os.Open(r.name(target{os: "linux", arch: runtime.GOARCH}, ".tar.gz"))
	must(t, err)
	defer func() { _ = f.Close() }()
	packed, err := gzip.NewReader(bufio.NewReader(f))
	must(t, err)
	modes := map[string]int64{}
	for all := tar.NewReader(packed); ; {
		header, err := all.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		_, name, _ := strings.Cut(header.Name, "/")
		modes[name] = header.Mode
		if !header.ModTime.Equal(r.made) {
			t.Errorf("%s is of %v, the source of %v", name, header.ModTime, r.made)
		}
	}
	for name, mode := range map[string]int64{
		"carteira": 0o755, "LICENSE": 0o644, "man/carteira.1.gz": 0o644, "man/carteira-serve.1.gz": 0o644,
		"completion/carteira.bash": 0o644, "completion/_carteira": 0o644, "packaging/carteira.service": 0o644, "packaging/compose.yaml": 0o644,
	} {
		if modes[name] != mode {
			t.Errorf("%s has mode %o, want %o", name, modes[name], mode)
		}
	}
}

func TestBillOfMaterialsNamesWhatIsInside(t *testing.T) {
	r := makeOnce(t)
	text, err := os.ReadFile(r.name(target{os: "linux", arch: runtime.GOARCH}, ".cdx.json"))
	must(t, err)
	var doc bom
	must(t, json.Unmarshal(text, &doc))
	var names []string
	for _, c := range doc.Components {
		names = append(names, c.Name)
		if c.Version == "" || !strings.HasPrefix(c.PURL, "pkg:") {
			t.Errorf("%+v", c)
		}
	}
	for _, want := range []string{"stdlib", "github.com/jackc/pgx/v5", "modernc.org/sqlite", "htmx.org", "@scalar/api-reference"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is missing", want)
		}
	}
}

func TestImageIsTheBinaryAndStartsAsNobody(t *testing.T) {
	r := makeOnce(t)
	img, err := tarball.ImageFromPath(r.name(target{os: "linux", arch: runtime.GOARCH}, "_image.tar"), nil)
	must(t, err)
	config, err := img.ConfigFile()
	must(t, err)
	if config.Config.User != "65532:65532" || config.Config.Entrypoint[0] != "/carteira" || config.Config.Healthcheck.Test[2] != "ready" {
		t.Errorf("%+v", config.Config)
	}
	layers, err := img.Layers()
	must(t, err)
	if len(layers) != 1 {
		t.Fatalf("%d layers", len(layers))
	}
	if os.Getuid() != 0 {
		t.Skip("only root can start it in a root of its own")
	}
	content, err := layers[0].Uncompressed()
	must(t, err)
	root := t.TempDir()
	unpack(t, content, root)
	must(t, os.Chmod(filepath.Dir(root), 0o755))
	s := startIn(t, place{
		root: root, uid: nobody, gid: nobody, program: "/carteira",
		env: append(slices.Clone(config.Config.Env), "CARTEIRA_LISTEN="+freeAddress(t), "CARTEIRA_RATE_LIMIT=0"),
	})
	s.wantReady()
	if out, err := s.command("ready"); err != nil || out != "ready\n" {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := s.command("doctor"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	s.stop()
}

func TestImageIsAlsoAnOCILayoutWithLabels(t *testing.T) {
	r := makeOnce(t)
	f, err := os.Open(r.name(target{os: "linux", arch: runtime.GOARCH}, "_oci.tar"))
	must(t, err)
	defer f.Close()
	dir := t.TempDir()
	unpack(t, f, dir)
	index, err := layout.ImageIndexFromPath(dir)
	must(t, err)
	must(t, validate.Index(index))
	manifest, err := index.IndexManifest()
	must(t, err)
	if len(manifest.Manifests) != 1 || manifest.Manifests[0].MediaType != types.OCIManifestSchema1 ||
		manifest.Manifests[0].Platform.Architecture != runtime.GOARCH || manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != r.version {
		t.Fatalf("%+v", manifest.Manifests)
	}
	img, err := index.Image(manifest.Manifests[0].Digest)
	must(t, err)
	config, err := img.ConfigFile()
	must(t, err)
	for _, label := range []string{"title", "version", "licenses", "created", "description", "vendor"} {
		if config.Config.Labels["org.opencontainers.image."+label] == "" {
			t.Errorf("the label %s is missing", label)
		}
	}
	layers, err := img.Layers()
	must(t, err)
	if media, err := layers[0].MediaType(); err != nil || media != types.OCILayer {
		t.Errorf("the layer is %s: %v", media, err)
	}
}

// unpack makes the root of a container from a layer.
func unpack(t *testing.T, content io.Reader, root string) {
	t.Helper()
	for all := tar.NewReader(content); ; {
		header, err := all.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		must(t, err)
		name := filepath.Join(root, filepath.Clean("/"+header.Name))
		mode := os.FileMode(header.Mode & 0o777)
		if header.Typeflag == tar.TypeDir {
			must(t, os.Mkdir(name, mode))
		} else {
			must(t, os.MkdirAll(filepath.Dir(name), 0o755))
			out, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, mode)
			must(t, err)
			_, err = io.Copy(out, all)
			must(t, errors.Join(err, out.Close()))
		}
		must(t, errors.Join(os.Chmod(name, mode), os.Chown(name, header.Uid, header.Gid)))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
