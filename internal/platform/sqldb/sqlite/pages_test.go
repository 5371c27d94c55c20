package sqlite

import (
	"path/filepath"
	"testing"
)

// A version of the library that calls its variable otherwise would make
// separatePages set one that nobody reads.
func TestConnectionHasPagesOfItsOwn(t *testing.T) {
	conn, err := Open(filepath.Join(t.TempDir(), "pages.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.Script(t.Context(), "CREATE TABLE notes (id INTEGER PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	if pageCaches.FisInit == 0 {
		t.Error("the library has another variable for its page caches")
	}
	if pages := pageCaches.Fgrp.FnPurgeable; pages != 0 {
		t.Errorf("%d pages are in the cache that all connections share", pages)
	}
}
