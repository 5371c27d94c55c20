package outbound

import (
	"slices"
	"sync"
	"time"
)

// kept is connections that wait for the next call on their route.
type kept struct {
	mu       sync.Mutex
	routes   map[route][]*line // the one that was used last is last
	count    int
	sweeping bool
}

// take returns a connection to a route, nil when there is none. One on which the
// receiver has said something meanwhile, most often its end, is of no use.
func (k *kept) take(route route) *line {
	for {
		line := k.pop(route)
		if line == nil || time.Since(line.since) < idleTime && line.quiet() {
			return line
		}
		_ = line.wire.Close()
	}
}

func (k *kept) pop(route route) *line {
	k.mu.Lock()
	defer k.mu.Unlock()
	list := k.routes[route]
	if len(list) == 0 {
		return nil
	}
	line := list[len(list)-1]
	list[len(list)-1] = nil
	k.routes[route] = list[:len(list)-1]
	k.count--
	return line
}

// put keeps a connection. Too many of one route are ended, and of all the one
// that has waited longest.
func (k *kept) put(line *line) {
	line.since = time.Now()
	if ended := k.push(line); ended != nil {
		_ = ended.conn.Close()
	}
}

func (k *kept) push(line *line) (ended *line) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.routes[line.route]) >= maxIdlePerHost {
		return line
	}
	if k.count >= maxIdle {
		ended = k.removeOldest()
	}
	k.routes[line.route] = append(k.routes[line.route], line)
	k.count++
	if !k.sweeping {
		k.sweeping = true
		time.AfterFunc(idleTime, k.sweep)
	}
	return ended
}

func (k *kept) removeOldest() (oldest *line) {
	for _, list := range k.routes {
		if len(list) > 0 && (oldest == nil || list[0].since.Before(oldest.since)) {
			oldest = list[0]
		}
	}
	k.routes[oldest.route] = slices.Delete(k.routes[oldest.route], 0, 1)
	k.count--
	return oldest
}

// sweep ends connections that have waited too long, and comes again as long as
// there are any.
func (k *kept) sweep() {
	ended := k.removeBefore(time.Now().Add(-idleTime))
	k.mu.Lock()
	if k.sweeping = k.count > 0; k.sweeping {
		time.AfterFunc(idleTime/2, k.sweep)
	}
	k.mu.Unlock()
	closeAll(ended)
}

// clear ends all of them.
func (k *kept) clear() { closeAll(k.removeBefore(time.Now().Add(time.Hour))) }

func (k *kept) removeBefore(time time.Time) (removed []*line) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for route, list := range k.routes {
		n := 0
		for n < len(list) && list[n].since.Before(time) {
			n++
		}
		removed = append(removed, list[:n]...)
		k.count -= n
		if n == len(list) {
			delete(k.routes, route)
		} else {
			k.routes[route] = slices.Delete(list, 0, n)
		}
	}
	return removed
}

func closeAll(lines []*line) {
	for _, line := range lines {
		_ = line.conn.Close()
	}
}
