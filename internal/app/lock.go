package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"carteira/internal/platform/config"
)

// serveLock keeps a second server off an embedded database: its limits and
// queues live in the memory of one process. The lock ends with the process,
// however that ends.
type serveLock struct{ file *os.File }

func lockServe(cfg config.Config) (serveLock, error) {
	if !cfg.Embedded() {
		return serveLock{}, nil
	}
	path := sqlitePath(cfg)
	file, err := os.OpenFile(filepath.Clean(path+".serving"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return serveLock{}, fmt.Errorf("lock the database: %w", err)
	}
	taken, err := lockFile(file)
	if taken {
		return serveLock{}, errors.Join(fmt.Errorf("another carteira serves %s already; one process serves an embedded "+
			"database, PostgreSQL takes any number", path), file.Close())
	}
	if err != nil {
		return serveLock{}, errors.Join(fmt.Errorf("lock the database: %w", err), file.Close())
	}
	return serveLock{file}, nil
}

func (l serveLock) release() {
	if l.file != nil {
		_ = l.file.Close()
	}
}
