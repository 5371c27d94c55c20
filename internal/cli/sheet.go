package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"carteira/internal/customer/sheet"
)

// sheetFile is the file of an import. It can be read from its beginning as
// often as needed; what comes through a pipe is kept in a temporary file.
type sheetFile struct {
	*os.File
	size    int64
	read    int64 // bytes since the beginning
	spooled bool
}

func openSheet(ctx context.Context, path string, stdin io.Reader) (*sheetFile, error) {
	if path == "-" {
		return spool(ctx, stdin)
	}
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, errors.Join(err, file.Close())
	case info.IsDir():
		return nil, errors.Join(fmt.Errorf("%s is a folder; give a CSV file", path), file.Close())
	case !info.Mode().IsRegular():
		spooled, err := spool(ctx, file)
		return spooled, errors.Join(err, file.Close())
	}
	return &sheetFile{File: file, size: info.Size()}, nil
}

// spool keeps what can be read only once. Ctrl-C is not to wait for the end of
// an input that may never come.
func spool(ctx context.Context, in io.Reader) (*sheetFile, error) {
	file, err := os.CreateTemp("", "carteira-import-*.csv")
	if err != nil {
		return nil, err
	}
	s := &sheetFile{File: file, spooled: true}
	copied := make(chan error, 1)
	var size int64
	go func() {
		n, err := io.Copy(file, in)
		size = n
		copied <- err
	}()
	select {
	case err = <-copied:
		s.size = size
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *sheetFile) close() error {
	err := s.Close()
	if s.spooled {
		err = errors.Join(err, os.Remove(s.Name()))
	}
	return err
}

// Read counts what has been read.
func (s *sheetFile) Read(p []byte) (int, error) {
	n, err := s.File.Read(p)
	s.read += int64(n)
	return n, err
}

// open reads the header again.
func (s *sheetFile) open() (*sheet.Reader, error) {
	if _, err := s.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	s.read = 0
	return sheet.Open(s)
}

// header opens the file and wants all columns that an import needs.
func (s *sheetFile) header() (*sheet.Reader, error) {
	reader, err := s.open()
	if err != nil {
		return nil, err
	}
	return reader, reader.Check()
}
