//go:build !windows

package doctor

import "golang.org/x/sys/unix"

// posix reports whether file modes have a meaning.
const posix = true

// freeBytes is how much an ordinary user may still write at a path.
func freeBytes(path string) (uint64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(path, &stat); err != nil {
		return 0, err
	}
	return stat.Bavail * uint64(stat.Bsize), nil //nolint:gosec // a block has a size
}
