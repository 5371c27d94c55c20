// Package secrettest makes password hashes quick in tests that sign people in. A hash at
// the program's cost takes some 30 milliseconds of processor, which was most of the time
// of those tests. The program has no such switch, and may not import a kit.
package secrettest

import (
	_ "unsafe" // for go:linkname

	"carteira/internal/platform/secret"
)

// cost is the current cost of package secret, field by field.
//
//go:linkname cost carteira/internal/platform/secret.current
var cost struct {
	memory, time uint32
	threads      uint8
}

// programs is a hash at the program's cost, which shows that cost was changed: a linkname
// that names nothing is silent.
const programs = "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"

// QuickHashes makes hashes cost next to nothing for the rest of the process: for TestMain,
// before any test runs.
func QuickHashes() {
	if secret.NeedsRehash(programs) {
		panic("secrettest: the program hashes at another cost than is known here")
	}
	cost.memory, cost.time = 8, 1
	if !secret.NeedsRehash(programs) {
		panic("secrettest: the cost of package secret was not changed")
	}
}
