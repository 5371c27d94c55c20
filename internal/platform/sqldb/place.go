package sqldb

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// place is where the files of a SQLite database are. SQLite goes on writing to
// files that were removed or replaced while they were open, and all of that is
// lost with the process.
type place struct {
	path string
	main os.FileInfo

	mu  sync.Mutex
	log os.FileInfo // of the write-ahead log; nil until it is first seen
}

// newPlace remembers the files of a database that has just been opened.
func newPlace(path string) (*place, error) {
	main, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return &place{path: path, main: main}, nil
}

// check refuses when the files are no longer those that were opened. It must
// not open them: closing a file of a database gives up SQLite's locks on it.
func (p *place) check() error {
	main, err := os.Stat(p.path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMoved, err)
	}
	if !os.SameFile(main, p.main) {
		return fmt.Errorf("%w: %s is another file now", ErrMoved, p.path)
	}
	return p.checkLog()
}

func (p *place) checkLog() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	path := p.path + "-wal"
	log, err := os.Stat(path)
	switch {
	case p.log == nil && errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%w: %w", ErrMoved, err)
	case p.log == nil:
		p.log = log
	case !os.SameFile(log, p.log):
		return fmt.Errorf("%w: %s is another file now", ErrMoved, path)
	}
	return nil
}
