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
func (l *lab) recover() error {
	ctx, cancel := context.WithTimeout(l.ctx, l.house.wait)
	defer cancel()
	for {
		missing := l.missing()
		if missing == "" || l.load.refused() {
			pause(ctx, l.span(time.Second))
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("after %s there is still %s", time.Since(l.hurtAt).Round(time.Second), missing)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// enough is how many writes, and enoughPaid how many payments, prove that they go on.
const (
	enough     = 20
	enoughPaid = 2
)

func (l *lab) missing() string {
	arrived := l.receiver.arrivals()
	writes, payments := l.load.snapshot()
	fresh, heard, late := 0, 0, 0
	for _, write := range writes {
		_, came := arrived.last(created, write.name)
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
	switch {
	case fresh < enough:
		return "no caller answered"
	case heard < enough:
		return "no delivery of what was written since"
	case late > 0:
		return fmt.Sprintf("%d deliveries of what was written before", late)
	}
	return l.unsettled(payments)
}

func (l *lab) unsettled(payments []payment) string {
	settled, owed := 0, 0
	for _, p := range payments {
		switch {
		case p.paid.Before(l.hurtAt) && p.settled.IsZero():
			owed++
		case p.paid.After(l.hurtAt) && !p.settled.IsZero():
			settled++
		}
	}
	switch {
	case settled < enoughPaid && !l.house.unpaid:
		return "no settlement"
	case owed > 0:
		return fmt.Sprintf("%d payments from before that are not settled", owed)
	}
	return ""
}

// finish stops the callers and waits until all that was paid is settled, and all
// that was acknowledged or settled has arrived.
func (l *lab) finish() error {
	l.load.end()
	ctx, cancel := context.WithTimeout(l.ctx, l.house.wait)
	defer cancel()
	for {
		missing := l.unfinished()
		if missing == "" || l.load.refused() {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.New(missing)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (l *lab) unfinished() string {
	arrived := l.receiver.arrivals()
	writes, payments := l.load.snapshot()
	events, owed := 0, 0
	for _, write := range writes {
		if _, came := arrived.last(created, write.name); !came && !write.acked.IsZero() {
			events++
		}
	}
	for _, p := range payments {
		_, paid := arrived.last(paid, p.name)
		_, renewed := arrived.last(renewed, p.name)
		switch {
		case p.settled.IsZero():
			owed++
		case !paid || !renewed:
			events++
		}
	}
	switch {
	case owed > 0:
		return fmt.Sprintf("%d payments are not settled", owed)
	case events > 0:
		return fmt.Sprintf("%d events have not arrived", events)
	}
	return ""
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
		at, came := arrived.last(created, write.name)
		if came && !write.acked.IsZero() && at.After(from) {
			longest = max(longest, at.Sub(write.acked))
		}
	}
	return longest
}
