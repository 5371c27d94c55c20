// Package backup keeps copies of the embedded database in a folder: one a
// night, each read through before it counts, the old ones deleted. It owns the
// names of the files, and that a file appears under its name only when it is
// whole; when they are made is for the server, and what becomes of them elsewhere
// is for the operator.
package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"time"

	"carteira/internal/platform/sqldb"
)

// Folder is where the copies are.
type Folder struct {
	Path string
	Days int // how many days a copy is kept
}

// hour is when a night's copy becomes due, by the clock of the machine.
const hour = 3

var name = regexp.MustCompile(`^carteira-(\d{4}-\d{2}-\d{2})\.db$`)

// File is a copy.
type File struct {
	Path  string
	Night string // YYYY-MM-DD
	Size  int64
	Made  time.Time
}

// List returns the copies, oldest first. It ignores files with other names.
func (f Folder) List() ([]File, error) {
	entries, err := os.ReadDir(f.Path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []File
	for _, entry := range entries {
		found := name.FindStringSubmatch(entry.Name())
		info, err := entry.Info()
		if found == nil || err != nil || !info.Mode().IsRegular() {
			continue
		}
		list = append(list, File{filepath.Join(f.Path, entry.Name()), found[1], info.Size(), info.ModTime()})
	}
	slices.SortFunc(list, func(a, b File) int { return a.Made.Compare(b.Made) })
	return list, nil
}

// Night is the night that a moment belongs to: what is made before three
// o'clock is the day before's.
func Night(now time.Time) string {
	return now.Add(-hour * time.Hour).Format(time.DateOnly)
}

// Due reports whether tonight's copy is still to be made. After downtime it
// is due at once.
func (f Folder) Due(now time.Time) (bool, error) {
	_, err := os.Lstat(f.file(now))
	if errors.Is(err, os.ErrNotExist) {
		return true, nil
	}
	return false, err
}

func (f Folder) file(now time.Time) string {
	return filepath.Join(f.Path, "carteira-"+Night(now)+".db")
}

// Make makes tonight's copy and reads all of it. One that cannot be read is
// deleted.
func (f Folder) Make(ctx context.Context, db *sqldb.DB, now time.Time) (File, error) {
	if err := os.MkdirAll(f.Path, 0o700); err != nil {
		return File{}, err
	}
	made := File{Path: f.file(now), Night: Night(now), Made: now}
	if err := Write(ctx, db, made.Path); err != nil {
		return made, err
	}
	if err := Check(ctx, made.Path); err != nil {
		return made, errors.Join(fmt.Errorf("the copy cannot be read: %w", err), os.Remove(made.Path))
	}
	info, err := os.Stat(made.Path)
	if err == nil {
		made.Size = info.Size()
	}
	return made, err
}

// Check reads a copy from end to end.
func Check(ctx context.Context, path string) error {
	c, err := sqldb.OpenCopy(ctx, path)
	if err != nil {
		return err
	}
	return errors.Join(c.Check(ctx), c.Close())
}

// Prune deletes the copies of nights that are too long ago, except the newest
// copy: a folder that gets no new ones keeps what it has.
func (f Folder) Prune(now time.Time) error {
	list, err := f.List()
	if err != nil || len(list) == 0 {
		return err
	}
	first := Night(now.AddDate(0, 0, -f.Days))
	var failures []error
	for _, file := range list[:len(list)-1] {
		if file.Night < first {
			failures = append(failures, os.Remove(file.Path))
		}
	}
	return errors.Join(failures...)
}

// Write writes a consistent copy of a SQLite database to a new file, while the
// database is in use. The copy appears under its name only when it is whole and on
// the disk.
func Write(ctx context.Context, db *sqldb.DB, path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("backup: %s exists already; give the name of a new file", path)
	}
	part := path + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("backup: %w", err)
	}
	err := db.CopyTo(ctx, part)
	if err == nil {
		err = Publish(part, path)
	}
	if err == nil {
		return nil
	}
	if removed := os.Remove(part); !errors.Is(removed, os.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return fmt.Errorf("backup: %w", err)
}

// Publish flushes a file to the disk and gives it its name, which must be new.
func Publish(part, path string) error {
	if err := os.Chmod(part, 0o600); err != nil {
		return err
	}
	if err := syncPath(part); err != nil {
		return err
	}
	if err := os.Link(part, path); err != nil { // unlike Rename, never over an existing file
		return err
	}
	if err := os.Remove(part); err != nil {
		return err
	}
	if runtime.GOOS == "windows" { // which has no folders to sync
		return nil
	}
	return syncPath(filepath.Dir(path))
}

func syncPath(path string) error {
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
