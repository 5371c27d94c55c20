package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"carteira/internal/customer/intake"
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

// progress shows how far an import is: on a terminal as one line that is
// written over, elsewhere as a line every few seconds.
type progress struct {
	out      io.Writer
	file     *sheetFile
	now      func() time.Time
	before   int // passes over the file that write nothing
	terminal bool
	drawn    bool
	passes   int
	count    int
	began    time.Time
	last     time.Time
}

func newProgress(out io.Writer, file *sheetFile, now func() time.Time, options intake.ImportOptions) *progress {
	before := 1                // the check
	if options.CreateMissing { // the plans' prices
		before++
	}
	return &progress{out: out, file: file, now: now, before: before, terminal: isTerminal(out)}
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// rows walks the file from its beginning.
func (p *progress) rows() iter.Seq2[sheet.Row, error] {
	return func(yield func(sheet.Row, error) bool) {
		p.passes++
		p.count, p.began, p.last = 0, p.now(), p.now()
		reader, err := p.file.open()
		if err != nil {
			yield(sheet.Row{}, err)
			return
		}
		for row, err := range reader.All() {
			p.count++
			p.tick()
			if !yield(row, err) {
				return
			}
		}
	}
}

func (p *progress) tick() {
	pause := 5 * time.Second
	if p.terminal {
		pause = 100 * time.Millisecond
	}
	now := p.now()
	if now.Sub(p.last) < pause {
		return
	}
	p.last = now
	p.draw(now)
}

func (p *progress) draw(now time.Time) {
	doing := "importing"
	if p.passes <= p.before {
		doing = "checking"
	}
	percent := 100 * p.file.read / max(p.file.size, 1)
	rate := float64(p.count) / max(now.Sub(p.began).Seconds(), 0.001)
	text := fmt.Sprintf("%3d%%  %d lines, %.0f a second", percent, p.count, rate)
	if !p.terminal {
		fmt.Fprintf(p.out, "%s: %s\n", doing, text)
		return
	}
	const width = 30
	done := int(min(percent, 100)) * width / 100
	p.clear()
	fmt.Fprintf(p.out, "%-9s [%s%s] %s", doing, strings.Repeat("#", done), strings.Repeat("-", width-done), text)
	p.drawn = true
}

// clear takes the line away before something else is written.
func (p *progress) clear() {
	if p.drawn {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.drawn = false
	}
}
