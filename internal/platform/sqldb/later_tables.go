package sqldb

import (
	"strings"
	"sync"
)

// tableSet are tables of put-off work, a bit for each.
type tableSet uint64

// lateTables are the tables that work has ever been put off for. The code bounds
// their number, and that of the texts.
var lateTables tableNames

type tableNames struct {
	mu    sync.RWMutex
	names []string
	texts sync.Map // from a text to what it names
}

// named is what a text names of the first so many tables.
type named struct {
	of     int
	tables tableSet
}

// set is the set of tables; new ones are added.
func (n *tableNames) set(tables []string) (set tableSet) {
	for _, table := range tables {
		set |= 1 << n.place(table)
	}
	return set
}

func (n *tableNames) place(table string) int {
	n.mu.RLock()
	at := n.indexOf(table)
	n.mu.RUnlock()
	if at >= 0 {
		return at
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if at := n.indexOf(table); at >= 0 {
		return at
	}
	if len(n.names) == maxLateTables {
		panic("sqldb: work is put off for too many tables")
	}
	n.names = append(n.names, table)
	return len(n.names) - 1
}

// maxLateTables is how many bits a tableSet has.
const maxLateTables = 64

func (n *tableNames) indexOf(table string) int {
	for i, name := range n.names {
		if name == table {
			return i
		}
	}
	return -1
}

// namedIn is the set of tables that a text names.
func (n *tableNames) namedIn(text string) tableSet {
	n.mu.RLock()
	names := n.names
	n.mu.RUnlock()
	if known, ok := n.texts.Load(text); ok {
		if known := known.(named); known.of == len(names) { //nolint:forcetypeassert // nothing else is stored
			return known.tables
		}
	}
	found := named{of: len(names)}
	for i, name := range names {
		if strings.Contains(text, name) {
			found.tables |= 1 << i
		}
	}
	n.texts.Store(text, found)
	return found.tables
}
