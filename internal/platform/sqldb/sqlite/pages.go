package sqlite

import (
	_ "unsafe" // for the name below

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// pageCaches is the library's own variable.
//
//go:linkname pageCaches modernc.org/sqlite/lib._pcache1_g
var pageCaches sqlite3.TPCacheGlobal

// separatePages gives each connection a page cache of its own, as SQLite does
// unless it is built with SQLITE_ENABLE_MEMORY_MANAGEMENT. The library is, and so
// all connections would take one lock twice for every page that they touch. No
// setting at run time is for this; the variable is what SQLite itself decides by
// whenever a connection is opened, and both ways are in its code.
func separatePages() {
	tls := libc.NewTLS()
	defer tls.Close()
	if sqlite3.Xsqlite3_initialize(tls) == sqlite3.SQLITE_OK {
		pageCaches.FseparateCache = 1
	}
}
