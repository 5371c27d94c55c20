package cli

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"carteira/internal/customer"
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

// open reads the header anew.
func (s *sheetFile) open() (*sheet.Reader, error) {
	if _, err := s.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	s.read = 0
	return sheet.Open(s)
}

// header opens the file and wants all columns that an import needs.
func (s *sheetFile) header() (*sheet.Reader, error) {
	r, err := s.open()
	if err != nil {
		return nil, err
	}
	return r, r.Check()
}

// badLines reports what is wrong with the lines of a file: the first to people,
// all to the file of --errors.
type badLines struct {
	out     io.Writer
	columns []sheet.Column
	shown   int
	hidden  int
	path    string
	file    *os.File
	csv     *csv.Writer
}

// maxShown is how much a person reads before looking at the file instead.
const maxShown = 100

func newBadLines(cmd *cobra.Command, columns []sheet.Column, of *sheetFile) (*badLines, error) {
	path, err := cmd.Flags().GetString("errors")
	if err != nil {
		return nil, err
	}
	b := &badLines{out: cmd.ErrOrStderr(), columns: columns, path: path}
	if path == "" {
		return b, nil
	}
	if same(path, of) {
		return nil, fmt.Errorf("--errors %s is the file to import, and would be written over", path)
	}
	if b.file, err = os.Create(filepath.Clean(path)); err != nil {
		return nil, err
	}
	b.csv = csv.NewWriter(b.file)
	return b, b.csv.Write([]string{"line", "column", "value", "reason"})
}

func same(path string, of *sheetFile) bool {
	one, err := os.Stat(path)
	if err != nil {
		return false
	}
	other, err := of.Stat()
	return err == nil && os.SameFile(one, other)
}

func (b *badLines) report(p customer.Problem) {
	column := b.heading(p.Field)
	if b.csv != nil {
		_ = b.csv.Write([]string{strconv.Itoa(p.Line), column, p.Value, p.Reason}) // close tells
	}
	if b.shown == maxShown {
		b.hidden++
		return
	}
	b.shown++
	if column != "" {
		column += ": "
	}
	fmt.Fprintf(b.out, "line %d: %s%s\n", p.Line, column, p.Reason)
}

// heading is what the file calls a field.
func (b *badLines) heading(field string) string {
	for _, c := range b.columns {
		if c.Field == field && field != "" {
			return strings.Map(printable, c.Heading)
		}
	}
	return field
}

// printable keeps a hostile heading from steering the terminal.
func printable(r rune) rune {
	if !strconv.IsPrint(r) {
		return -1
	}
	return r
}

func (b *badLines) summarize() {
	switch {
	case b.path != "" && b.shown > 0:
		fmt.Fprintf(b.out, "%d in all, in %s.\n", b.shown+b.hidden, b.path)
	case b.hidden > 0:
		fmt.Fprintf(b.out, "%d more are not shown; --errors FILE writes all of them.\n", b.hidden)
	}
}

func (b *badLines) close() error {
	if b.file == nil {
		return nil
	}
	b.csv.Flush()
	return errors.Join(b.csv.Error(), b.file.Close())
}

// progress shows how far an import is: on a terminal as one line that is
// written over, elsewhere as a line every few seconds.
type progress struct {
	out      io.Writer
	file     *sheetFile
	now      func() time.Time
	checking bool // the first pass over the file only checks
	terminal bool
	drawn    bool
	passes   int
	count    int
	began    time.Time
	last     time.Time
}

func newProgress(out io.Writer, file *sheetFile, now func() time.Time, o customer.ImportOptions) *progress {
	return &progress{out: out, file: file, now: now, checking: o.DryRun || !o.KeepGoing, terminal: isTerminal(out)}
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
		s, err := p.file.open()
		if err != nil {
			yield(sheet.Row{}, err)
			return
		}
		for row, err := range s.All() {
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
	if p.checking && p.passes == 1 {
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
