package sqlite

import (
	"math/bits"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// idListName is the name of an aggregate of ours: id_list(id) is a blob of all ids of
// a result, eight bytes each, the highest first. A row that leaves SQLite costs twice
// as much as one that it only walks over.
const idListName = "id_list"

// idList is what the aggregate keeps from one row to the next. SQLite has filled its
// memory with zeros, and frees it; that of the ids becomes the result.
type idList struct {
	ids        uintptr
	used, size uint64 // in bytes
}

const (
	idSize      = 8
	firstIDList = 512 // in bytes, and doubled as they come
)

var (
	idListStep = struct {
		call func(tls *libc.TLS, context uintptr, count int32, values uintptr)
	}{stepIDList}
	idListEnd = struct {
		call func(tls *libc.TLS, context uintptr)
	}{endIDList}
	freeIDs = struct {
		call func(tls *libc.TLS, address uintptr)
	}{sqlite3.Xsqlite3_free}
)

// addIDList makes the aggregate known to the connection, until it is closed.
func (c *Conn) addIDList() error {
	name, err := c.newText(idListName)
	if err != nil {
		return err
	}
	defer c.free(name)
	const flags = sqlite3.SQLITE_UTF8 | sqlite3.SQLITE_DETERMINISTIC | sqlite3.SQLITE_DIRECTONLY
	step := *(*uintptr)(unsafe.Pointer(&idListStep)) //nolint:gosec // how the library wants a function
	end := *(*uintptr)(unsafe.Pointer(&idListEnd))   //nolint:gosec // the same
	code := sqlite3.Xsqlite3_create_function_v2(c.tls, c.db, name, 1, flags, 0, 0, step, end, 0)
	if code != sqlite3.SQLITE_OK {
		return c.failure(code)
	}
	return nil
}

// stepIDList is called by SQLite for each row.
func stepIDList(tls *libc.TLS, context uintptr, _ int32, values uintptr) {
	list := idListOf(tls, context, int32(unsafe.Sizeof(idList{})))
	if list == nil || list.used == list.size && !list.grow(tls) {
		sqlite3.Xsqlite3_result_error_nomem(tls, context)
		return
	}
	id := uint64(sqlite3.Xsqlite3_value_int64(tls, pointerAt(values))) //nolint:gosec // its bits
	place := list.ids + uintptr(list.used)
	**(**uint64)(unsafe.Pointer(&place)) = inOrder(id) //nolint:gosec // there is room, see grow
	list.used += idSize
}

// inOrder has the highest byte first in memory.
func inOrder(id uint64) uint64 {
	if one := uint16(1); *(*byte)(unsafe.Pointer(&one)) == 0 { //nolint:gosec // a byte of two
		return id
	}
	return bits.ReverseBytes64(id)
}

func (l *idList) grow(tls *libc.TLS) bool {
	size := max(firstIDList, 2*l.size)
	ids := sqlite3.Xsqlite3_realloc64(tls, l.ids, size)
	if ids == 0 {
		return false
	}
	l.ids, l.size = ids, size
	return true
}

// endIDList is called by SQLite when all rows were met, and also when they are not: for
// a statement that was interrupted it frees the ids.
func endIDList(tls *libc.TLS, context uintptr) {
	list := idListOf(tls, context, 0)
	if list == nil || list.ids == 0 {
		return // no row: NULL
	}
	free := *(*uintptr)(unsafe.Pointer(&freeIDs)) //nolint:gosec // how the library wants functions
	sqlite3.Xsqlite3_result_blob64(tls, context, list.ids, list.used, free)
	*list = idList{}
}

// idListOf is the memory of an aggregate; nil: there is none.
func idListOf(tls *libc.TLS, context uintptr, size int32) *idList {
	address := sqlite3.Xsqlite3_aggregate_context(tls, context, size)
	return *(**idList)(unsafe.Pointer(&address)) //nolint:gosec // the library gave the address
}
