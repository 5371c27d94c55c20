package customer

import "runtime"

// matching searches the segments that are read while others still are. On SQLite those
// of a block come together (block.go), and are over when the next block comes, but for
// those that are being moved there.
type matching struct {
	term  gramTerm
	of    int64          // the block, or a segment by itself
	open  []*segmentRead // of it
	work  chan []*segmentRead
	ended chan any // what it panicked with
}

// mostBlocks is how many blocks wait to be searched, at most.
const mostBlocks = 256

// match begins; nil: one processor has enough to do.
func match(term gramTerm) *matching {
	if runtime.GOMAXPROCS(0) == 1 {
		return nil
	}
	made := &matching{term: term, work: make(chan []*segmentRead, mostBlocks), ended: make(chan any, 1)}
	go func() {
		defer func() { made.ended <- recover() }()
		made.run()
	}()
	return made
}

func (m *matching) run() {
	var matcher matcher
	for segments := range m.work {
		for _, segment := range segments {
			segment.found = segment.match(&matcher, m.term)
			segment.matched = true
		}
	}
}

// next takes in that a row of a block, or of a segment by itself, is read: they come one
// after the other. It may be called on nil.
func (m *matching) next(of int64) {
	if m != nil && of != m.of {
		m.flush()
		m.of = of
	}
}

// add has a segment searched when the next block comes. It may be called on nil.
func (m *matching) add(segment *segmentRead) {
	if m != nil && !segment.open {
		segment.open = true
		m.open = append(m.open, segment)
	}
}

// flush has the segments of the block searched, now or when all are read.
func (m *matching) flush() {
	if len(m.open) == 0 {
		return
	}
	select {
	case m.work <- m.open:
	default:
	}
	m.open = nil
}

// end searches what is left, and waits for the rest. A panic is the caller's: in a
// goroutine of its own it would end the process.
func (m *matching) end() {
	m.flush()
	close(m.work)
	m.run()
	if cause := <-m.ended; cause != nil {
		panic(cause)
	}
}
