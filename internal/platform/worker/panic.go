package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// Panic is a panic as an error.
type Panic struct {
	Value any
	Stack []byte
}

// Error has the stack too: it is for the log.
func (p *Panic) Error() string {
	return fmt.Sprintf("panic: %v\n%s", p.Value, p.Stack)
}

// Guard runs do and returns a panic of it as a *Panic, counted for the task
// that ctx belongs to. A goroutine that a task starts must have one: a
// supervisor cannot recover for it.
func Guard(ctx context.Context, do func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &Panic{Value: value, Stack: debug.Stack()}
			panicked(ctx)
		}
	}()
	return do()
}

// Panicked tells whether err comes from a panic.
func Panicked(err error) bool {
	_, ok := errors.AsType[*Panic](err)
	return ok
}

// MaxStrikes is how many panics over one row set it aside.
const MaxStrikes = 3

// Strikes counts the panics over each row in this process, so that one which
// always panics is not claimed for ever. The zero value is ready.
type Strikes struct {
	mu     sync.Mutex
	counts map[int64]int
}

// Add counts a panic over a row and tells whether it is to be set aside.
func (s *Strikes) Add(id int64) (setAside bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts == nil {
		s.counts = map[int64]int{}
	}
	s.counts[id]++
	return s.counts[id] >= MaxStrikes
}

// Clear forgets a row that did not panic, or that nobody claims any more.
func (s *Strikes) Clear(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.counts, id)
}
