package main

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// bom is a CycloneDX document: what is inside the program.
type bom struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
	Hashes  []hash `json:"hashes,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

// sbom writes what the binary itself says it was built from, and the files of
// others that are embedded in it.
func (r *release) sbom(t target) error {
	info, err := buildinfo.ReadFile(t.binary)
	if err != nil {
		return err
	}
	sum, err := sha256File(t.binary)
	if err != nil {
		return err
	}
	doc := bom{Format: "CycloneDX", Spec: "1.5", Version: 1, Metadata: metadata{
		Timestamp: r.made.Format("2006-01-02T15:04:05Z"),
		Component: component{
			Type: "application", Name: "carteira", Version: r.version,
			PURL: "pkg:generic/carteira@" + r.version, Hashes: []hash{{"SHA-256", sum}},
		},
	}}
	doc.Components = append(doc.Components, golang("stdlib", strings.TrimPrefix(info.GoVersion, "go")))
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		doc.Components = append(doc.Components, golang(dep.Path, dep.Version))
	}
	vendored, err := r.vendored()
	if err != nil {
		return err
	}
	doc.Components = append(doc.Components, vendored...)
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(r.name(t, ".cdx.json"), append(text, '\n'), 0o644)
}

func golang(path, version string) component {
	return component{Type: "library", Name: path, Version: version, PURL: "pkg:golang/" + path + "@" + version}
}

// row is a line of the table of a VENDOR.md: file, package, version, licence, sha256.
var row = regexp.MustCompile("(?m)^\\| `[^`]+` \\| `([^`]+)` \\| ([^ ]+) \\|")

// vendored are the packages with embedded files, once each.
func (r *release) vendored() ([]component, error) {
	lists, err := filepath.Glob(filepath.Join(r.root, "internal/web/*/static/vendor/VENDOR.md"))
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var found []component
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			return nil, err
		}
		for _, match := range row.FindAllStringSubmatch(string(text), -1) {
			if !seen[match[1]] {
				seen[match[1]] = true
				name := strings.Replace(match[1], "@", "%40", 1)
				found = append(found, component{Type: "library", Name: match[1], Version: match[2], PURL: "pkg:npm/" + name + "@" + match[2]})
			}
		}
	}
	return found, nil
}
