package sqldb_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"carteira/internal/platform/sqldb"
)

// smallDisk mounts a disk of four megabytes, where this user may.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("this user may not mount a disk: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// fill writes a file until the disk is full.
func fill(t *testing.T, filler string) {
	t.Helper()
	file, err := os.Create(filler)
	must(t, err)
	for err == nil {
		_, err = file.Write(make([]byte, 4096))
	}
	_ = file.Close()
}

func TestFullDiskIsTroubleUntilThereIsRoom(t *testing.T) {
	dir := smallDisk(t)
	db, _ := fileOf(t, dir)
	filler := filepath.Join(dir, "filler")
	fill(t, filler)
	if err := db.Write(t.Context(), insert(t, 1)); !errors.Is(err, sqldb.ErrFull) {
		t.Errorf("a write: %v, want ErrFull", err)
	}
	wantTrouble(t, db, "full")
	must(t, os.Remove(filler))
	wantTrouble(t, db, "")
	run(t, db, "INSERT INTO notes (id, body) VALUES (1, 'room')")
}

// A small probe finds the room that a request does not.
func TestFullDiskIsTroubleWhileRequestsMeetIt(t *testing.T) {
	dir := smallDisk(t)
	db, file := fileOf(t, dir)
	must(t, db.Close()) // which folds the log of the migrations
	db, err := sqldb.Open(t.Context(), "sqlite:"+file, sqldb.Options{})
	must(t, err)
	defer func() { _ = db.Close() }()
	err = db.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), "INSERT INTO notes (id, body) VALUES (1, ?)", strings.Repeat("x", 5<<20))
		return err
	})
	if !errors.Is(err, sqldb.ErrFull) {
		t.Fatalf("a write: %v, want ErrFull", err)
	}
	if log, err := os.Stat(file + "-wal"); err != nil || log.Size() > 1<<20 {
		t.Errorf("the log keeps %d bytes, %v", log.Size(), err)
	}
	filler := filepath.Join(dir, "filler")
	fill(t, filler)
	must(t, os.Truncate(filler, fileSize(t, filler)-256<<10)) // enough for a probe, and for no request
	wantTrouble(t, db, "full")
	must(t, os.Remove(filler))
	wantTrouble(t, db, "")
}

func fileSize(t *testing.T, file string) int64 {
	t.Helper()
	info, err := os.Stat(file)
	must(t, err)
	return info.Size()
}

// The limit is of a whole process, so another one runs into it.
func TestTooManyOpenFilesAreToldApart(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), descriptorsVariable+"="+filepath.Join(t.TempDir(), "carteira.db"))
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), "open_files") {
		t.Errorf("%v: %s", err, out)
	}
}

// runOutOfDescriptors prints what trouble a read is in that needs one more.
func runOutOfDescriptors(file string) {
	ctx := context.Background()
	db, err := sqldb.Open(ctx, "sqlite:"+file, sqldb.Options{})
	if err == nil {
		err = db.Migrate(ctx)
	}
	if err == nil {
		err = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 64, Max: 64})
	}
	for err == nil {
		_, err = syscall.Open(os.DevNull, 0, 0)
	}
	if errors.Is(err, syscall.EMFILE) {
		// The connection of one read is not free for the other.
		err = sqldb.Each(ctx, db, "SELECT 1", nil, func(sqldb.Row) error {
			_, err := sqldb.Value[int](ctx, db, "SELECT 2")
			return err
		})
	}
	fmt.Println(err, string(sqldb.TroubleOf(err)))
	os.Exit(0)
}

// failingDisk mounts a disk whose device can be left without room for what it is to
// keep, where this user may: writes still succeed then, and flushing them does not.
func failingDisk(t *testing.T) (dir string, starve func()) {
	t.Helper()
	room, dir := t.TempDir(), t.TempDir()
	if err := syscall.Mount("tmpfs", room, "tmpfs", 0, "size=24m"); err != nil {
		t.Skipf("this user may not mount a disk: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(room, syscall.MNT_DETACH) })
	image := filepath.Join(room, "image")
	for _, command := range [][]string{
		{"truncate", "-s", "96m", image},
		{"mkfs.ext4", "-q", "-O", "^has_journal", "-m", "0", image},
		{"mount", "-o", "loop,errors=continue", image, dir},
	} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Skipf("no disk can be made here: %v: %v: %s", command, err, out)
		}
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
	return dir, func() { fill(t, filepath.Join(room, "filler")) }
}

// A checkpoint flushes the log, and SQLite says of its own ones nothing when that
// fails.
func TestFailedFlushOfWhatIsRelaxedIsNotPassedOver(t *testing.T) {
	dir, starve := failingDisk(t)
	db, _ := fileOf(t, dir)
	run(t, db, "INSERT INTO notes (id, body) VALUES (0, 'before')")
	starve()
	var failed error
	for id := int64(1); id <= 400 && failed == nil; id++ {
		failed = db.WriteRelaxed(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec(t.Context(), "INSERT INTO notes (id, body) VALUES (?, ?)", id, strings.Repeat(string(rune(1000+id)), 32<<10))
			return err
		})
	}
	if !errors.Is(failed, sqldb.ErrDisk) {
		t.Errorf("%v, want ErrDisk", failed)
	}
}
