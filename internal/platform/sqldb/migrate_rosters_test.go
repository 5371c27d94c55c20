package sqldb_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// changesCustomers holds for a migration after which a saved roster is not what its stamps
// say: they tell of changes by the program alone.
var changesCustomers = regexp.MustCompile(`(?i)(UPDATE|INSERT INTO|DELETE FROM|DROP TABLE|CREATE TABLE|RENAME TO)\s+(customers|tally_buckets)\b`)

// A migration that changes customers, or the buckets by whose stamps rosters are known,
// empties what was saved of them (docs/adr/0056).
func TestMigrationsThatChangeCustomersForgetSavedRosters(t *testing.T) {
	files, err := filepath.Glob("migrations/*/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	for _, file := range files {
		if filepath.Base(file) < "0045" {
			continue // before, or when, there was any
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		looked++
		if changesCustomers.Match(text) && !strings.Contains(string(text), "DELETE FROM saved_rosters") {
			t.Errorf("%s changes customers or their buckets, and leaves saved_rosters", file)
		}
	}
	if looked == 0 {
		t.Error("no migration was looked at")
	}
	for _, text := range []string{"update customers set x = 1", "DROP TABLE tally_buckets;", "ALTER TABLE renewed RENAME TO customers"} {
		if !changesCustomers.MatchString(text) {
			t.Errorf("%s: nothing is found", text)
		}
	}
}
