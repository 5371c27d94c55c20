package wire

import (
	"crypto/sha256"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxPause bounds how long a provider is left alone on its own word: what it asks
// for may be a mistake, and payments are waiting.
const maxPause = 15 * time.Minute

// maxPauses bounds what is remembered.
const maxPauses = 10_000

// pauses are the accounts that were told to come back later, and when. A gateway is
// opened for every call, so they are kept here.
var pauses struct {
	sync.Mutex
	until map[[sha256.Size]byte]time.Time
}

// account tells one account at a provider from another.
func (a *API) account() [sha256.Size]byte {
	parts := []string{a.Base, a.Account}
	for _, name := range slices.Sorted(maps.Keys(a.Header)) {
		parts = append(parts, name, a.Header[name])
	}
	return sha256.Sum256([]byte(strings.Join(parts, "\x00")))
}

// pausedError is a call that was not made.
type pausedError struct{ until time.Time }

func (e *pausedError) Error() string {
	return "the provider wants to be left alone until " + e.until.UTC().Format(time.TimeOnly) + " UTC"
}

// paused says whether the provider wants to be left alone.
func (a *API) paused() error {
	if a.Now == nil {
		return nil
	}
	key := a.account()
	pauses.Lock()
	defer pauses.Unlock()
	until, found := pauses.until[key]
	if !found {
		return nil
	}
	if !a.Now().Before(until) {
		delete(pauses.until, key)
		return nil
	}
	return &pausedError{until}
}

// heed remembers how long the provider wants to be left alone. One that turns a
// call down without saying so is left to whoever called.
func (a *API) heed(response *http.Response) {
	if a.Now == nil || response.StatusCode != http.StatusTooManyRequests {
		return
	}
	wait := seconds(response.Header, "Retry-After", "RateLimit-Reset", "X-RateLimit-Reset-After")
	if wait <= 0 {
		return
	}
	pauses.Lock()
	defer pauses.Unlock()
	if pauses.until == nil || len(pauses.until) >= maxPauses {
		pauses.until = map[[sha256.Size]byte]time.Time{}
	}
	pauses.until[a.account()] = a.Now().Add(min(wait, maxPause))
}

// seconds reads the first header that says how many to wait.
func seconds(header http.Header, names ...string) time.Duration {
	for _, name := range names {
		if count, err := strconv.ParseFloat(header.Get(name), 64); err == nil && count > 0 && count < 1e6 {
			return time.Duration(count * float64(time.Second))
		}
	}
	return 0
}
