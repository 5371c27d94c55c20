package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAReleaseIsTheNewestOfTheChangelogWithNothingUnreleased(t *testing.T) {
	const head = "# Changelog\n\n## [Unreleased]\n\n"
	for name, test := range map[string]struct{ changelog, problem string }{
		"described":         {head + "## [1.0.0] - 2026-11-18\n\n- It works.\n", ""},
		"no unreleased":     {"# Changelog\n\n## [1.0.0] - 2026-11-18\n", ""},
		"something waits":   {head + "- A change.\n\n## [1.0.0] - 2026-11-18\n", "Unreleased"},
		"another version":   {head + "## [0.9.0] - 2026-11-01\n", "0.9.0"},
		"no version at all": {head, "no version"},
	} {
		err := checkRelease(test.changelog, "1.0.0")
		if test.problem == "" && err != nil || test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestABuildThatIsNoReleaseIsNamedByDateAndCommit(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1795000000")
	r := release{root: t.TempDir()}
	must(t, os.WriteFile(filepath.Join(r.root, "CHANGELOG.md"), []byte("## [Unreleased]\n\n- A change.\n\n## [1.0.0]\n"), 0o600))
	must(t, r.choose())
	if r.version != "0.0.0-20261118" {
		t.Errorf("without a repository: %s", r.version)
	}
	here := release{root: "../.."}
	must(t, here.choose())
	if at := sourceCommit("../.."); at == "" || here.version != "0.0.0-20261118.g"+at {
		t.Errorf("%s of commit %q", here.version, at)
	}
	r.version = "1.0.0"
	if err := r.choose(); err == nil {
		t.Error("a release with changes under Unreleased was made")
	}
}
