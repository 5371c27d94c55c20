package sqlite

import (
	"unsafe"

	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite has memory of its own, which the garbage collector does not know. What
// it is to read is copied there, and what it has written is copied back.

const pointerSize = int(unsafe.Sizeof(uintptr(0)))

func (c *Conn) alloc(size int) (uintptr, error) {
	address := sqlite3.Xsqlite3_malloc64(c.tls, uint64(size)) //nolint:gosec // a length is not negative
	if address == 0 {
		return 0, &Error{sqlite3.SQLITE_NOMEM, "out of memory"}
	}
	return address, nil
}

func (c *Conn) free(address uintptr) { sqlite3.Xsqlite3_free(c.tls, address) }

// newText copies a text there with the zero that ends it.
func (c *Conn) newText(text string) (uintptr, error) {
	address, err := c.alloc(len(text) + 1)
	if err != nil {
		return 0, err
	}
	bytes := bytesAt(address, len(text)+1)
	copy(bytes, text)
	bytes[len(text)] = 0
	return address, nil
}

// bytesAt is memory of SQLite's as Go reads and writes it.
func bytesAt(address uintptr, size int) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&address)), size) //nolint:gosec // the library gave address and size
}

func pointerAt(address uintptr) uintptr {
	return **(**uintptr)(unsafe.Pointer(&address)) //nolint:gosec // the library gave the address
}
