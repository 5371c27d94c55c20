package doctor

import "golang.org/x/sys/windows"

// posix reports whether file modes have a meaning.
const posix = false

// freeBytes is how much this user may still write at a path.
func freeBytes(path string) (uint64, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return free, err
}
