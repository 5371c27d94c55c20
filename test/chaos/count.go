//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// hurt marks the moment of the fault: standstill is measured from here.
func (l *lab) hurt() { l.hurtAt = time.Now() }

// recoverTimeout is how long a trial waits for everything to go on.
const recoverTimeout = 150 * time.Second

// recover waits until everything goes on: callers who began after the fault are
// answered, receivers hear of that, charges are settled, and what was
// acknowledged before the fault has arrived.
func (l *lab) recover(most time.Duration) error {
	ctx, cancel := context.WithTimeout(l.ctx, most)
	defer cancel()
	for {
		missing := l.missing()
		if missing == "" {
			pause(ctx, time.Second)
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("after %s there is still %s", time.Since(l.hurtAt).Round(time.Second), missing)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

const enough = 20

func (l *lab) missing() string {
	writes, arrived := l.load.snapshot(), l.receiver.arrivals()
	fresh, heard, late := 0, 0, 0
	for _, write := range writes {
		_, came := arrived.last(write.name)
		switch {
		case write.acked.IsZero():
		case write.sent.After(l.hurtAt):
			fresh++
			if came {
				heard++
			}
		case !came:
			late++
		}
	}
	settled := slices.ContainsFunc(l.pulse.times(), func(at time.Time) bool { return at.After(l.hurtAt) })
	switch {
	case fresh < enough:
		return "no caller answered"
	case heard < enough:
		return "no delivery of what was written since"
	case late > 0:
		return fmt.Sprintf("%d deliveries of what was written before", late)
	case !settled:
		return "no settlement"
	}
	return ""
}

// finish stops the callers and waits until all that was acknowledged has
// arrived.
func (l *lab) finish() error {
	l.load.end()
	ctx, cancel := context.WithTimeout(l.ctx, recoverTimeout)
	defer cancel()
	for {
		missing := l.undelivered()
		if missing == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d events have not arrived", missing)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (l *lab) undelivered() (n int) {
	arrived := l.receiver.arrivals()
	for _, write := range l.load.snapshot() {
		if _, came := arrived.last(write.name); !came && !write.acked.IsZero() {
			n++
		}
	}
	return n
}

// api calls the API of the first process that answers.
func (l *lab) api(method, path string, body, into any) (status int, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	for _, process := range l.processes() {
		request, err := http.NewRequestWithContext(l.ctx, method, "http://"+process.addr+"/api/v1"+path, bytes.NewReader(text))
		if err != nil {
			return 0, err
		}
		request.Header.Set("Authorization", "Bearer "+l.token)
		request.Header.Set("Content-Type", "application/json")
		response, err := (&http.Client{Timeout: 30 * time.Second}).Do(request)
		if err != nil {
			continue
		}
		defer response.Body.Close()
		if into != nil {
			err = json.NewDecoder(response.Body).Decode(into)
		}
		return response.StatusCode, err
	}
	return 0, errors.New("no process answers")
}

// customers are the ids of those of each name. What a caller who was stopped
// had asked for may still come in, and move others to another page.
func (l *lab) customers() (map[string]map[int64]bool, error) {
	there := map[string]map[int64]bool{}
	for page := 1; ; page++ {
		var list struct {
			Data []struct {
				ID   int64
				Name string
			}
			Meta struct {
				LastPage int `json:"last_page"`
			}
		}
		status, err := l.api(http.MethodGet, fmt.Sprintf("/customers?per_page=200&page=%d", page), nil, &list)
		if err != nil || status != http.StatusOK {
			return nil, errors.Join(err, fmt.Errorf("list customers: %d", status))
		}
		for _, c := range list.Data {
			if there[c.Name] == nil {
				there[c.Name] = map[int64]bool{}
			}
			there[c.Name][c.ID] = true
		}
		if page >= list.Meta.LastPage {
			return there, nil
		}
	}
}

// longestGap is the longest time after from in which nothing of at happened.
func longestGap(from time.Time, at []time.Time) (longest time.Duration) {
	slices.SortFunc(at, time.Time.Compare)
	last := from
	for _, moment := range at {
		if moment.Before(from) {
			continue
		}
		longest = max(longest, moment.Sub(last))
		last = moment
	}
	return longest
}

// slowest is the longest time from an acknowledgement until all webhooks had
// the event.
func slowest(from time.Time, writes []write, arrived arrivals) (longest time.Duration) {
	for _, write := range writes {
		at, came := arrived.last(write.name)
		if came && !write.acked.IsZero() && at.After(from) {
			longest = max(longest, at.Sub(write.acked))
		}
	}
	return longest
}
