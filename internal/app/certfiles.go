package app

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certFiles serves a certificate from files and reads them again when they
// have changed, so that a renewed certificate needs no restart.
type certFiles struct {
	cert, key string
	log       *slog.Logger
	mu        sync.Mutex
	loaded    *tls.Certificate
	modified  time.Time
	checked   time.Time
}

// recheck is how often the files are looked at, at the most.
const recheck = 10 * time.Second

func newCertFiles(cert, key string, log *slog.Logger) (*certFiles, error) {
	files := &certFiles{cert: cert, key: key, log: log}
	if err := files.load(); err != nil {
		return nil, fmt.Errorf("CARTEIRA_TLS_CERT: %w", err)
	}
	return files, nil
}

func (f *certFiles) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); now.Sub(f.checked) > recheck {
		f.checked = now
		if at, err := newest(f.cert, f.key); err == nil && !at.Equal(f.modified) { // a restored file may be older
			// Half-written files keep the old certificate until the next look.
			if err := f.load(); err != nil {
				f.log.Warn("the certificate's files have changed and cannot be used; the old one is served", "error", err)
			}
		}
	}
	return f.loaded, nil
}

func (f *certFiles) load() error {
	modified, err := newest(f.cert, f.key)
	if err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return err
	}
	f.loaded, f.modified = &pair, modified
	return nil
}

func newest(paths ...string) (time.Time, error) {
	var latest time.Time
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return latest, err
		}
		if info.ModTime().After(latest) {
			latest = info.ModTime()
		}
	}
	return latest, nil
}
