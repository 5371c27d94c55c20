package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // the formats register themselves
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// packages makes the packages of a Linux: .deb and .rpm.
func (r *release) packages(t target) error {
	return errors.Join(r.pack(t, "deb"), r.pack(t, "rpm"))
}

func (r *release) pack(t target, format string) error {
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	info := nfpm.WithDefaults(r.description(t))
	if info.Contents, err = r.installed(t); err != nil {
		return err
	}
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(r.dist, packager.ConventionalFileName(info)))
	if err != nil {
		return err
	}
	return errors.Join(packager.Package(info, out), out.Close())
}

func (r *release) description(t target) *nfpm.Info {
	scripts := filepath.Join(r.root, "packaging", "scripts")
	return &nfpm.Info{
		Name: "carteira", Arch: t.arch, Platform: "linux", Version: r.version, Section: "web", Priority: "optional",
		Maintainer: "The Carteira authors <carteira@example.com>", Vendor: "Carteira", License: "Apache-2.0",
		Description: "Customers, invoices, PIX payments, resellers and webhooks in one program\n" +
			"Carteira manages the customers of a company with recurring business,\nwith a panel, a REST API and signed webhooks, on SQLite or PostgreSQL.",
		MTime: r.made,
		Overridables: nfpm.Overridables{
			Recommends: []string{"ca-certificates"},
			Scripts: nfpm.Scripts{
				PostInstall: filepath.Join(scripts, "postinstall.sh"),
				PreRemove:   filepath.Join(scripts, "preremove.sh"),
				PostRemove:  filepath.Join(scripts, "postremove.sh"),
			},
		},
	}
}

// installed is what goes where.
func (r *release) installed(t target) (files.Contents, error) {
	source := func(name string) string { return filepath.Join(r.root, name) }
	list := files.Contents{
		r.content(t.binary, "/usr/bin/carteira", "", 0o755),
		r.content(source("packaging/carteira.service"), "/usr/lib/systemd/system/carteira.service", "", 0o644),
		r.content(source("packaging/carteira.env"), "/etc/carteira/carteira.env", files.TypeConfigNoReplace, 0o640),
		r.content(source("LICENSE"), "/usr/share/doc/carteira/copyright", "", 0o644),
		r.content(source("README.md"), "/usr/share/doc/carteira/README.md", "", 0o644),
		r.content(source("CHANGELOG.md"), "/usr/share/doc/carteira/CHANGELOG.md", "", 0o644),
		r.content(source("packaging/Caddyfile"), "/usr/share/doc/carteira/examples/Caddyfile", "", 0o644),
		r.content(source("packaging/nginx.conf"), "/usr/share/doc/carteira/examples/nginx.conf", "", 0o644),
		r.content(filepath.Join(r.manual, "completion/carteira.bash"), "/usr/share/bash-completion/completions/carteira", "", 0o644),
		r.content(filepath.Join(r.manual, "completion/_carteira"), "/usr/share/zsh/vendor-completions/_carteira", "", 0o644),
		r.content(filepath.Join(r.manual, "completion/carteira.fish"), "/usr/share/fish/vendor_completions.d/carteira.fish", "", 0o644),
	}
	pages, err := filepath.Glob(filepath.Join(r.manual, "man", "*.1.gz"))
	if err != nil || len(pages) == 0 {
		return nil, fmt.Errorf("%d man pages: %w", len(pages), err)
	}
	for _, page := range pages {
		list = append(list, r.content(page, "/usr/share/man/man1/"+filepath.Base(page), "", 0o644))
	}
	return list, nil
}

func (r *release) content(from, to, kind string, mode os.FileMode) *files.Content {
	return &files.Content{Source: from, Destination: to, Type: kind, FileInfo: &files.ContentFileInfo{
		Mode: mode, MTime: r.made.Truncate(time.Second), Owner: "root", Group: "root",
	}}
}
