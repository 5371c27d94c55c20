package api

import "sync"

// bodies are the buffers of answers that have been sent, by pointer. A page of a
// list is so large that the memory for each would be cleared, and collected, by
// itself.
var bodies sync.Pool

// maxKeptBody is the largest buffer that is kept for another answer.
const maxKeptBody = 256 << 10

// newBody is an empty buffer with room for about so many bytes.
func newBody(size int) []byte {
	if kept, ok := bodies.Get().(*[]byte); ok && cap(*kept) >= size {
		return (*kept)[:0]
	}
	return make([]byte, 0, size)
}

// keepBody takes the buffer of an answer that nobody reads any more.
func keepBody(body []byte) {
	if cap(body) > 0 && cap(body) <= maxKeptBody {
		bodies.Put(&body)
	}
}
