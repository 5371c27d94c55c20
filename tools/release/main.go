// Command release makes what people install: archives for six platforms with
// checksums and a list of what is inside, packages for Debian and Red Hat, and
// images for containers. It runs on any machine that has Go, needs no network,
// and makes the same bytes from the same source.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

func main() {
	var r release
	platforms := flag.String("platforms", "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64", "what to build for")
	flag.StringVar(&r.version, "version", "", "make this release: the newest in CHANGELOG.md (default: a build named by date and commit)")
	flag.StringVar(&r.root, "root", "../..", "folder of the source")
	flag.StringVar(&r.dist, "dist", "../../dist", "folder for what is made; emptied first")
	flag.Parse()
	err := r.choose()
	if err == nil {
		err = r.run(strings.Split(*platforms, ","))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release is what one run makes.
type release struct {
	root, dist string
	version    string
	commit     string    // of the source, shortened; "" where there is no repository
	made       time.Time // of the source: all files have this time
	manual     string    // folder of man pages and completions
	withPaths  bool      // the program names the paths of this machine; its tests then reuse packages that are compiled
}

// target is a platform and the program built for it.
type target struct {
	os, arch string
	binary   string
}

func (r *release) run(platforms []string) error {
	if err := r.prepare(); err != nil {
		return err
	}
	defer os.RemoveAll(filepath.Dir(r.manual))
	for _, platform := range platforms {
		system, arch, ok := strings.Cut(platform, "/")
		if !ok {
			return fmt.Errorf("%q is not a platform such as linux/amd64", platform)
		}
		if err := r.makeFor(target{os: system, arch: arch}); err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
	}
	return r.checksums()
}

// choose decides the version. A release has to be the newest of the changelog, with nothing unreleased before it; any
// other build is named by date and commit, as a version that sorts below every release.
func (r *release) choose() error {
	text, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	if r.version != "" {
		return checkRelease(string(text), r.version)
	}
	if r.made, err = sourceTime(r.root); err != nil {
		return err
	}
	r.version = "0.0.0-" + r.made.Format("20060102")
	if commit := sourceCommit(r.root); commit != "" {
		r.version += ".g" + commit
	}
	return nil
}

func (r *release) prepare() error {
	var err error
	if r.made, err = sourceTime(r.root); err != nil {
		return err
	}
	r.commit = sourceCommit(r.root)
	if err := errors.Join(os.RemoveAll(r.dist), os.MkdirAll(r.dist, 0o755)); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "carteira-release-")
	if err != nil {
		return err
	}
	r.manual = filepath.Join(work, "manual")
	return writeManual(r.manual, r.version, r.made)
}

func (r *release) makeFor(t target) error {
	fmt.Fprintf(os.Stderr, "release: %s for %s/%s\n", r.version, t.os, t.arch)
	work := filepath.Dir(r.manual)
	t.binary = filepath.Join(work, t.os+"-"+t.arch, "carteira")
	if t.os == "windows" {
		t.binary += ".exe"
	}
	if err := r.build(t); err != nil {
		return err
	}
	if err := r.archive(t); err != nil {
		return err
	}
	if err := r.sbom(t); err != nil {
		return err
	}
	if t.os != "linux" {
		return nil
	}
	return errors.Join(r.packages(t), r.image(t))
}

// name is what a file of the release is called.
func (r *release) name(t target, suffix string) string {
	return filepath.Join(r.dist, fmt.Sprintf("carteira_%s_%s_%s%s", r.version, t.os, t.arch, suffix))
}

func (r *release) build(t target) error {
	cmd := exec.Command("go", "build", fmt.Sprintf("-trimpath=%t", !r.withPaths), "-buildvcs=false",
		"-ldflags", "-s -w -X carteira/internal/cli.version="+r.version+" -X carteira/internal/cli.commit="+r.commit,
		"-o", t.binary, "./cmd/carteira")
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch)
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

var heading = regexp.MustCompile(`(?m)^## \[(\d+\.\d+\.\d+[^\]]*)\]`)

// newestVersion is that of the first release in the changelog.
func newestVersion(changelog string) (string, error) {
	found := heading.FindStringSubmatch(changelog)
	if found == nil {
		return "", errors.New("CHANGELOG.md has no version")
	}
	return found[1], nil
}

// checkRelease refuses a version that the changelog does not describe: its newest heading has to be that version, and
// nothing may wait under Unreleased.
func checkRelease(changelog, version string) error {
	newest, err := newestVersion(changelog)
	if err != nil {
		return err
	}
	if newest != version {
		return fmt.Errorf("the newest version in CHANGELOG.md is %s, not %s", newest, version)
	}
	before, _, _ := strings.Cut(changelog, "## ["+newest+"]")
	if _, unreleased, ok := strings.Cut(before, "## [Unreleased]"); ok && strings.TrimSpace(unreleased) != "" {
		return fmt.Errorf("CHANGELOG.md has changes under Unreleased: put them under %s, or under a newer version", version)
	}
	return nil
}

// sourceCommit is the commit that is built, "" where there is no repository.
func sourceCommit(root string) string {
	cmd := exec.Command("git", "rev-parse", "--short=12", "HEAD")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// sourceTime is SOURCE_DATE_EPOCH, or the time of the last commit.
func sourceTime(root string) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		cmd := exec.Command("git", "log", "-1", "--format=%ct")
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("the time of the source: %w; set SOURCE_DATE_EPOCH", err)
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}
