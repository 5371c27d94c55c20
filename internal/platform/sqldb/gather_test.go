package sqldb

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAGroupWaitsForThoseWhoSharedTheLastOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &group{waiting: make(chan *turn), quit: make(chan struct{})}
		came := &turn{}
		send := func(after time.Duration) {
			go func() {
				time.Sleep(after)
				select {
				case g.waiting <- came:
				case <-time.After(time.Second):
				}
			}()
		}
		patience := time.Millisecond
		if g.next(false, &patience) != nil || patience != time.Millisecond {
			t.Error("it waited, and nobody is expected")
		}
		send(600 * time.Microsecond)
		if g.next(true, &patience) != came || patience != 400*time.Microsecond {
			t.Errorf("it did not wait for the one who came; %s are left", patience)
		}
		send(600 * time.Microsecond)
		if g.next(true, &patience) != nil || patience != 0 {
			t.Errorf("it waited for longer than it may; %s are left", patience)
		}
		time.Sleep(time.Millisecond)
		if g.next(false, &patience) != came {
			t.Error("it did not take the one who waits")
		}
		close(g.quit)
		patience = time.Hour
		if g.next(true, &patience) != nil {
			t.Error("it waited for others at the end")
		}
	})
}

func TestPatienceIsTheCommitThatItSpares(t *testing.T) {
	for last, want := range map[gathered]time.Duration{
		{}:                          0,
		{1, time.Millisecond}:       0, // a lone caller waits for nobody
		{2, 500 * time.Microsecond}: 500 * time.Microsecond,
		{32, time.Second}:           maxPatience,
	} {
		if got := last.patience(); got != want {
			t.Errorf("after %+v it is %s, want %s", last, got, want)
		}
	}
}
