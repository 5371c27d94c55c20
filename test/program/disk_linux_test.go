package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"carteira/internal/platform/sqldb"
)

// disk is a file system of its own, on a device that fails when the test wants
// it to: a file with holes, in a folder that has no room for all of it.
type disk struct {
	t      *testing.T
	room   string // where the device is
	device string
}

// mountDisk mounts a disk on a folder, where this user may.
func mountDisk(t *testing.T, dir string) *disk {
	t.Helper()
	d := &disk{t: t, room: t.TempDir()}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", d.room, "tmpfs", 0, "size=24m"); err != nil {
		t.Skipf("this user may not mount a disk: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(d.room, syscall.MNT_DETACH) })
	image := filepath.Join(d.room, "image")
	for _, command := range [][]string{
		{"truncate", "-s", "96m", image},
		{"mkfs.ext4", "-q", "-O", "^has_journal", "-m", "0", image},
		{"mount", "-o", "loop,errors=remount-ro", image, dir},
	} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Skipf("no disk can be made here: %v: %v: %s", command, err, out)
		}
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
	mounts, err := os.ReadFile("/proc/mounts")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if fields := strings.Fields(line); fields[1] == dir {
			d.device = filepath.Base(fields[0])
		}
	}
	return d
}

// starve leaves the device no room for what it is to keep: writes still succeed,
// and flushing them to the disk does not.
func (d *disk) starve() {
	d.t.Helper()
	file, err := os.Create(filepath.Join(d.room, "filler"))
	if err != nil {
		d.t.Fatal(err)
	}
	for err == nil {
		_, err = file.Write(make([]byte, 4096))
	}
	_ = file.Close()
}

// fail has the file system meet an error, upon which it turns read-only.
func (d *disk) fail() {
	d.t.Helper()
	if err := os.WriteFile("/sys/fs/ext4/"+d.device+"/trigger_fs_error", []byte("1"), 0o200); err != nil {
		d.t.Skipf("no error can be made here: %v", err)
	}
}

func TestDiskThatFailsTurnsReadinessRed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		hurt func(*disk)
		says string
	}{
		"fsync":     {(*disk).starve, "disk fails"},
		"read-only": {(*disk).fail, "disk fails"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := installBare(t, sqldb.SQLite)
			disk := mountDisk(t, in.dir)
			token := in.token(in.company())
			server := in.serve()
			client := server.client(token)
			client.want(200, "POST", "/customers", map[string]any{"name": "Ana"})
			server.wantReady(200, "ready")
			tt.hurt(disk)
			eventually(t, "a write is refused", func() bool {
				answer, err := client.send("POST", "/customers", map[string]any{"name": "Bia"})
				return err == nil && answer.status == 503
			})
			server.wantReady(503, tt.says)
			server.saidError("") // without a request
			server.kill()        // it has nowhere to write what a stop writes down
		})
	}
}
