//go:build unix

package outbound

import (
	"errors"
	"syscall"
)

// quiet says that the receiver has said nothing since the last answer, not even
// goodbye: an answer to nothing would be taken for that to the next call.
func (l *line) quiet() bool {
	if l.raw == nil {
		return true
	}
	quiet := false
	err := l.raw.Read(func(socket uintptr) bool {
		var one [1]byte
		_, _, err := syscall.Recvfrom(int(socket), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT) //nolint:gosec // a file descriptor is small
		quiet = errors.Is(err, syscall.EAGAIN)
		return true
	})
	return err == nil && quiet
}
