package app

import (
	"testing"

	"carteira/internal/platform/sqldb"
)

func TestEveryTroubleHasASentence(t *testing.T) {
	for _, trouble := range sqldb.Troubles() {
		if sentences[trouble] == "" {
			t.Errorf("/readyz has no sentence for %s", trouble)
		}
	}
	if len(sentences) != len(sqldb.Troubles()) {
		t.Errorf("%d sentences for %d troubles", len(sentences), len(sqldb.Troubles()))
	}
}
