package customer

import "runtime"

// matching searches the segments that are read while others still are. Those of a block
// come together (block.go), and are over when the next block comes, but for those that are
// being moved there. It is nil where all are searched at the end.
type matching struct {
	term  gramTerm
	of    int64          // the block, or a segment by itself
	open  []*segmentRead // of it
	over  map[int64]bool
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
	made := &matching{term: term, over: map[int64]bool{}, work: make(chan []*segmentRead, mostBlocks), ended: make(chan any, 1)}
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

// next takes in that a row of a block, or of a segment by itself, is read. It reports
// false where those of it are over: no plan has to keep them together.
func (m *matching) next(of int64) bool {
	if m != nil && of != m.of {
		m.flush()
		m.over[m.of] = true
		m.of = of
	}
	return m == nil || !m.over[of]
}

// add has a segment searched when the next block comes.
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
	if m == nil {
		return
	}
	m.flush()
	close(m.work)
	m.run()
	if cause := <-m.ended; cause != nil {
		panic(cause)
	}
}
