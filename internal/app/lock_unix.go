//go:build !windows

package app

import (
	"errors"
	"os"
	"syscall"
)

// lockFile locks a file until it is closed, or says that another process has.
func lockFile(file *os.File) (taken bool, err error) {
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) //nolint:gosec // a descriptor fits an int
	return errors.Is(err, syscall.EWOULDBLOCK), err
}
