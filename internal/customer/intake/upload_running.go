package intake

import "sync"

// runningUploads is how far the imports of this process have come.
type runningUploads struct {
	mu   sync.Mutex
	read map[int64]int
}

func (r *runningUploads) begin(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.read == nil {
		r.read = map[int64]int{}
	}
	r.read[id] = 0
}

func (r *runningUploads) step(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read[id]++
}

func (r *runningUploads) end(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.read, id)
}

func (r *runningUploads) lines(id int64) (int, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, ok := r.read[id]
	return n, ok
}
