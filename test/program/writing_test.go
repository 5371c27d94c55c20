package program

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// writers is how many clients write at once.
const writers = 12

// writing makes customers from many clients until it is stopped.
type writing struct {
	mu   sync.Mutex
	made map[string]bool // names that were acknowledged
	more chan struct{}   // one for each, as long as they are read
	stop func()
}

// startWriting wants every customer to be made. Its stop is to be deferred, not
// left to a cleanup: by then the requests in flight have been cancelled.
func startWriting(client *client) *writing {
	w := &writing{made: map[string]bool{}, more: make(chan struct{}, 1)}
	end := make(chan struct{})
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			for j := 0; ; j++ {
				select {
				case <-end:
					return
				default:
				}
				name := fmt.Sprintf("Ana %d-%d", i, j)
				if answer, err := client.send("POST", "/customers", map[string]any{"name": name}); err != nil || answer.status != 200 {
					client.t.Errorf("%v %d: %s", err, answer.status, answer.body)
					return
				}
				w.mu.Lock()
				w.made[name] = true
				w.mu.Unlock()
				select {
				case w.more <- struct{}{}:
				default:
				}
			}
		})
	}
	w.stop = sync.OnceFunc(func() {
		close(end)
		all.Wait()
	})
	return w
}

// names waits until at least n are acknowledged and returns them.
func (w *writing) names(t *testing.T, n int) []string {
	t.Helper()
	for {
		w.mu.Lock()
		var names []string
		for name := range w.made {
			names = append(names, name)
		}
		w.mu.Unlock()
		if len(names) >= n {
			return names
		}
		select {
		case <-w.more:
		case <-time.After(patience):
			t.Fatal("nothing is written any more")
		}
	}
}
