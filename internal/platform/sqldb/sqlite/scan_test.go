package sqlite

import (
	"path/filepath"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"
)

// Scan goes from the first value of a row to the next by valueSize. Another
// version of the library, or a machine of another width, must have them so too.
func TestValuesOfRowAreNeighbours(t *testing.T) {
	for _, encoding := range []string{"UTF-8", "UTF-16le", "UTF-16be"} {
		conn, err := Open(filepath.Join(t.TempDir(), "rows.db"), Options{Pragmas: []string{"encoding('" + encoding + "')"}})
		if err != nil {
			t.Fatal(err)
		}
		const row = "SELECT 1, 'é', 2.5, x'00ff', NULL, zeroblob(3), substr('abc', 2, 1), encoding FROM pragma_encoding"
		seen := 0
		err = conn.Each(t.Context(), Query{Text: row}, func(row *Row) error {
			s := row.statement
			first := sqlite3.Xsqlite3_column_value(conn.tls, s.handle, 0)
			seen++
			for column := range int32(8) {
				value := first + uintptr(column)*valueSize
				if want := sqlite3.Xsqlite3_column_value(conn.tls, s.handle, column); value != want {
					t.Errorf("column %d is at %d from the first, not at %d", column, want-first, value-first)
				}
			}
			var number int
			var real float64
			var text, part, name string
			var blob, zeros []byte
			var none any
			if err := row.Scan(&number, &text, &real, &blob, &none, &zeros, &part, &name); err != nil {
				return err
			}
			if number != 1 || text != "é" || real != 2.5 || string(blob) != "\x00\xff" || none != nil ||
				string(zeros) != "\x00\x00\x00" || part != "b" || name != encoding {
				t.Errorf("%s: %d, %q, %v, %q, %v, %q, %q, %q", encoding, number, text, real, blob, none, zeros, part, name)
			}
			return nil
		})
		if err != nil || seen != 1 {
			t.Errorf("%d rows, %v", seen, err)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
}
