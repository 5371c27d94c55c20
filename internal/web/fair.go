package web

import (
	"context"
	"runtime"
	"sync"
)

// Fair bounds how many reading requests of one company are carried out at the
// same time. The others of that company wait here, where they hold no connection
// of the database: searches of one company do not queue the pages of another.
// Writing is not bounded, since writes that come together share a commit.
type Fair struct {
	mu sync.Mutex
	of map[int64]*places
}

// places are what a company may have in flight.
type places struct {
	taken chan struct{}
	users int // who have a place or wait for one
}

// fairPlaces is fewer than the connections of either database, and enough for the
// processors.
var fairPlaces = max(4, 2*runtime.GOMAXPROCS(0))

// Enter waits for a place of the company. leave gives it back.
func (f *Fair) Enter(ctx context.Context, companyID int64) (leave func(), err error) {
	own := f.join(companyID)
	select {
	case own.taken <- struct{}{}:
		return func() { <-own.taken; f.part(companyID) }, nil
	case <-ctx.Done():
		f.part(companyID)
		return nil, ctx.Err()
	}
}

func (f *Fair) join(companyID int64) *places {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil {
		f.of = map[int64]*places{}
	}
	own := f.of[companyID]
	if own == nil {
		own = &places{taken: make(chan struct{}, fairPlaces)}
		f.of[companyID] = own
	}
	own.users++
	return own
}

// part forgets a company of which no request is left.
func (f *Fair) part(companyID int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	own := f.of[companyID]
	if own.users--; own.users == 0 {
		delete(f.of, companyID)
	}
}
