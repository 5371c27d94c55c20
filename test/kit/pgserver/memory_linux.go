package pgserver

import "syscall"

const (
	memory = "/dev/shm"
	// roomy is what a run of all tests needs, many times over.
	roomy = 4 << 30
)

// folderInMemory is where files live in memory, or "" where that has little room
// (a container's has 64 MB). A test's database is some eight hundred files, which
// a disk takes five times as long to make.
func folderInMemory() string {
	var space syscall.Statfs_t
	if err := syscall.Statfs(memory, &space); err != nil || space.Bavail*uint64(space.Bsize) < roomy {
		return ""
	}
	return memory
}
