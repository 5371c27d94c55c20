package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// nobody is the user ID of the image, which has no list of users.
const nobody = 65532

// image makes the image that packaging/Dockerfile describes, without a Docker
// engine: as a file that `docker load` and podman read, and as an OCI image layout
// for registries and what copies to them.
func (r *release) image(t target) error {
	img, err := r.imageOf(t, empty.Image, types.DockerLayer)
	if err != nil {
		return err
	}
	tag, err := name.NewTag("carteira:" + r.version)
	if err != nil {
		return err
	}
	if err := tarball.WriteToFile(r.name(t, "_image.tar"), tag, img); err != nil {
		return err
	}
	return r.layout(t)
}

// layout writes the image as an OCI image layout, in one file.
func (r *release) layout(t target) error {
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err := r.imageOf(t, base, types.OCILayer)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "carteira-oci-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	err = path.AppendImage(img, layout.WithPlatform(v1.Platform{OS: t.os, Architecture: t.arch}),
		layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": r.version}))
	if err != nil {
		return err
	}
	return r.packFolder(dir, r.name(t, "_oci.tar"))
}

// packFolder puts the files of a folder into a tar, in one order and with one date.
func (r *release) packFolder(dir, name string) error {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	w := tar.NewWriter(out)
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		below, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return r.addTar(w, filepath.ToSlash(below), file{path, below, 0o644})
	})
	return errors.Join(err, w.Close(), out.Close())
}

// imageOf is the image on an empty base, which says of which sort its manifest is.
func (r *release) imageOf(t target, base v1.Image, sort types.MediaType) (v1.Image, error) {
	layer, err := r.layer(t, sort)
	if err != nil {
		return nil, err
	}
	img, err := mutate.Append(base, mutate.Addendum{
		Layer: layer, MediaType: sort, History: v1.History{Created: v1.Time{Time: r.made}, CreatedBy: "COPY carteira /carteira"},
	})
	if err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", t.arch, v1.Time{Time: r.made}
	config.Config = v1.Config{
		User: "65532:65532", Entrypoint: []string{"/carteira"}, Cmd: []string{"serve"},
		Env:          []string{"CARTEIRA_DATA_DIR=/data", "CARTEIRA_LISTEN=0.0.0.0:8080"},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}},
		Volumes:      map[string]struct{}{"/data": {}},
		Healthcheck: &v1.HealthConfig{
			Test: []string{"CMD", "/carteira", "ready"}, Interval: 10 * time.Second, Timeout: 3 * time.Second, StartPeriod: 30 * time.Second,
		},
		Labels: map[string]string{
			"org.opencontainers.image.title": "Carteira", "org.opencontainers.image.version": r.version,
			"org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.vendor": "The Carteira authors",
			"org.opencontainers.image.description": "Customers, invoices, PIX payments, resellers and webhooks in one program",
			"org.opencontainers.image.created":     r.made.UTC().Format(time.RFC3339),
		},
	}
	return mutate.ConfigFile(img, config)
}

// layer is the only one: the binary, and the folders that it writes to.
func (r *release) layer(t target, sort types.MediaType) (v1.Layer, error) {
	binary, err := os.ReadFile(t.binary)
	if err != nil {
		return nil, err
	}
	var content bytes.Buffer
	w := tar.NewWriter(&content)
	for _, header := range []tar.Header{
		{Name: "data/", Typeflag: tar.TypeDir, Mode: 0o700, Uid: nobody, Gid: nobody},
		{Name: "tmp/", Typeflag: tar.TypeDir, Mode: 0o1777},
		{Name: "carteira", Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(binary))},
	} {
		header.ModTime = r.made
		if err := w.WriteHeader(&header); err != nil {
			return nil, err
		}
	}
	_, err = w.Write(binary)
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content.Bytes())), nil
	}, tarball.WithMediaType(sort))
}
