package customer

import "runtime"

// matching searches the segments that are read while others still are. On SQLite those
// of a block come together (block.go), and are over when the next block comes.
type matching struct {
	term  gramTerm
	block int64
	open  []*segmentRead // of the block
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

// next takes in that a row of a segment was read. Of a segment that is in no block, or
// whose block is still being merged, there may be more rows in another.
func (m *matching) next(block int64, segment *segmentRead) {
	if block != m.block {
		m.flush()
		m.block = block
	}
	if block != 0 && !segment.open {
		segment.open = true
		m.open = append(m.open, segment)
	}
}

// flush has the segments of the block searched, now or when all are read.
func (m *matching) flush() {
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
