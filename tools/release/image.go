package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// nobody is the user ID of the image, which has no list of users.
const nobody = 65532

// image makes the image that packaging/Dockerfile describes, without a Docker
// engine; `docker load` and podman read it.
func (r *release) image(t target) error {
	layer, err := r.layer(t)
	if err != nil {
		return err
	}
	img, err := mutate.Append(empty.Image, mutate.Addendum{
		Layer: layer, History: v1.History{Created: v1.Time{Time: r.made}, CreatedBy: "COPY carteira /carteira"},
	})
	if err != nil {
		return err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return err
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
	if img, err = mutate.ConfigFile(img, config); err != nil {
		return err
	}
	tag, err := name.NewTag("carteira:" + r.version)
	if err != nil {
		return err
	}
	return tarball.WriteToFile(r.name(t, "_image.tar"), tag, img)
}

// layer is the only one: the binary, and the folders that it writes to.
func (r *release) layer(t target) (v1.Layer, error) {
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
	})
}
