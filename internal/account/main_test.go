package account

import (
	"testing"

	"carteira/test/kit/secrettest"
)

func TestMain(m *testing.M) {
	secrettest.QuickHashes()
	m.Run()
}
