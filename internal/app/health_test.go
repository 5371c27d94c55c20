package app

import (
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

func TestEveryTroubleHasASentence(t *testing.T) {
	troubles := sqldbtest.New(t, sqldb.SQLite).Troubles()
	for trouble := range troubles {
		if sentences[trouble] == "" {
			t.Errorf("/readyz has no sentence for %s", trouble)
		}
	}
	if len(sentences) != len(troubles) {
		t.Errorf("%d sentences for %d troubles", len(sentences), len(troubles))
	}
}
