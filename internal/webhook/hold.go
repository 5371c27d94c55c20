package webhook

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// hold is a lane that an engine has for itself, with the deliveries of it that
// are at hand. What it says is guarded by Service.holding; the database's row
// is the truth about whose the lane is.
type hold struct {
	row     laneRow // as this engine wrote it
	takenAt time.Time
	changed int64 // what Service.changed was then
	cap     int   // how many may be sent at once
	queue   []job // at hand, and not under way
	open    map[int64]bool
	busy    int  // being sent
	closing int  // accepted, and not yet recorded
	ready   bool // stands in the engine's line
	asked   bool // for more
	dry     bool // there was no more when it was taken or filled up
	freed   bool // given back together with the last closing
	ended   bool
	spoilt  bool // something could not be recorded: the hold must run out
}

// fresh is how long a delivery that is at hand may wait to be sent: address,
// secret and switch were read when it was claimed.
const fresh = time.Second

// add puts claimed deliveries at hand.
func (h *hold) add(t taken) {
	h.row, h.takenAt, h.dry = t.row, t.at, t.dry
	for _, j := range t.jobs {
		j.hold = h
		h.queue = append(h.queue, j)
		h.open[j.id] = true
	}
}

// full says that no more may be sent for now.
func (h *hold) full() bool { return h.busy >= h.cap || h.busy+h.closing >= laneUnderWay }

// drop leaves what is not under way to whoever takes the lane next.
func (h *hold) drop() {
	for _, j := range h.queue {
		delete(h.open, j.id)
	}
	h.queue, h.dry = nil, true
}

// covered says whether closing these leaves nothing at hand or under way.
func (h *hold) covered(closed map[int64]bool) bool {
	for id := range h.open {
		if !closed[id] {
			return false
		}
	}
	return true
}

// openIDs are those that are at hand or under way.
func (h *hold) openIDs() []int64 {
	ids := make([]int64, 0, len(h.open))
	for id := range h.open {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// joinIDs and splitIDs turn ids into the text that is stored: ",5,6,".
func joinIDs(ids []int64) string {
	if len(ids) == 0 {
		return ""
	}
	text := []byte{','}
	for _, id := range ids {
		text = append(strconv.AppendInt(text, id, 10), ',')
	}
	return string(text)
}

func splitIDs(text string) []int64 {
	var ids []int64
	for part := range strings.SplitSeq(text, ",") {
		if id, err := strconv.ParseInt(part, 10, 64); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}
