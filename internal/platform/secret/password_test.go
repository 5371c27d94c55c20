package secret

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"carteira/internal/platform/fault"
)

func TestPasswordRoundTrip(t *testing.T) {
	ctx := t.Context()
	const pw = "correct horse çédille"
	stored, err := HashPassword(ctx, pw)
	if err != nil || !regexp.MustCompile(`^\$argon2id\$v=19\$m=19456,t=2,p=1\$[^$]{22}\$[^$]{43}$`).MatchString(stored) {
		t.Fatalf("HashPassword = %q, %v", stored, err)
	}
	if again, _ := HashPassword(ctx, pw); again == stored {
		t.Error("two hashes share a salt")
	}
	for try, want := range map[string]bool{pw: true, pw + " ": false, "": false, strings.ToUpper(pw): false} {
		if got, err := CheckPassword(ctx, stored, try); got != want || err != nil {
			t.Errorf("CheckPassword(%q) = %v, %v", try, got, err)
		}
	}
	if NeedsRehash(stored) {
		t.Error("a fresh hash needs another")
	}
	if err := CheckNobody(ctx, pw); err != nil {
		t.Error(err)
	}
}

// The reference implementation's own test vector, at another cost than ours.
func TestHashOfTheReferenceImplementation(t *testing.T) {
	const stored = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	if ok, err := CheckPassword(t.Context(), stored, "password"); !ok || err != nil {
		t.Errorf("CheckPassword = %v, %v", ok, err)
	}
	if !NeedsRehash(stored) {
		t.Error("a hash of another cost does not need ours")
	}
}

func TestMalformedHashesAreAnErrorAndCostNothing(t *testing.T) {
	const salt, sum = "c29tZXNhbHQ", "CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	for _, stored := range []string{
		"", "password", "$2a$10$abcdefghijklmnopqrstuv",
		"$argon2i$v=19$m=19456,t=2,p=1$" + salt + "$" + sum,
		"$argon2id$v=16$m=19456,t=2,p=1$" + salt + "$" + sum,
		"$argon2id$v=19$m=19456,t=2,p=1,x=1$" + salt + "$" + sum,
		"$argon2id$v=19$m=19456,t=0,p=1$" + salt + "$" + sum,
		"$argon2id$v=19$m=19456,t=2,p=0$" + salt + "$" + sum,
		"$argon2id$v=19$m=4,t=2,p=1$" + salt + "$" + sum,
		"$argon2id$v=19$m=4194304,t=2,p=1$" + salt + "$" + sum,
		"$argon2id$v=19$m=19456,t=4000000000,p=1$" + salt + "$" + sum,
		"$argon2id$v=19$m=19456,t=2,p=300$" + salt + "$" + sum,
		"$argon2id$v=19$m=19456,t=2,p=1$" + salt + "$",
		"$argon2id$v=19$m=19456,t=2,p=1$$" + sum,
		"$argon2id$v=19$m=19456,t=2,p=1$" + salt + "$" + sum + "=",
		"$argon2id$v=19$m=19456,t=2,p=1$" + salt + "$" + sum + "$",
	} {
		if ok, err := CheckPassword(t.Context(), stored, "password"); ok || !errors.Is(err, errHash) {
			t.Errorf("CheckPassword(%q) = %v, %v", stored, ok, err)
		}
		if !NeedsRehash(stored) {
			t.Errorf("%q needs no other", stored)
		}
	}
}

// full fills the slots of a queue of its own until the test ends.
func full(t *testing.T, memory int64) *queue {
	t.Helper()
	before := hashing.Load()
	t.Cleanup(func() { hashing.Store(before) })
	for range LimitHashing(memory) {
		if _, err := hashing.Load().enter(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return hashing.Load()
}

func (q *queue) inUse() (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, taken := range q.taken {
		n += taken
	}
	return n
}

func (q *queue) waits(lane Lane) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting[lane])
}

func TestWhoeverLeavesTheQueueEarlyWaitsNoLonger(t *testing.T) {
	full(t, 1<<40)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := HashPassword(ctx, "pw"); !errors.Is(err, context.Canceled) {
		t.Errorf("HashPassword: %v", err)
	}
	if err := CheckNobody(ctx, "pw"); !errors.Is(err, context.Canceled) {
		t.Errorf("CheckNobody: %v", err)
	}
}

func TestHashesAtOnceFollowTheMemory(t *testing.T) {
	before := hashing.Load()
	t.Cleanup(func() { hashing.Store(before) })
	for memory, want := range map[int64]int{0: 1, 64 << 20: 1, 96 << 20: 1, 160 << 20: 2, 256 << 20: 3, 512 << 20: 4, 1 << 40: 4} {
		if got := LimitHashing(memory); got != want {
			t.Errorf("%d MiB: %d at once, want %d", memory>>20, got, want)
		}
	}
}

func TestOneTooManyIsRefusedInWords(t *testing.T) {
	queue := full(t, 0)
	var waiting sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	for range waitingPerSlot {
		waiting.Go(func() { _, _ = HashPassword(ctx, "pw") })
	}
	for queue.inUse() < queue.places {
		time.Sleep(time.Millisecond)
	}
	if _, _, err := TakePlace(t.Context()); !errors.Is(err, ErrBusy) {
		t.Errorf("there is a place: %v", err)
	}
	_, err := HashPassword(t.Context(), "pw")
	if !errors.Is(err, ErrBusy) || fault.KindOf(err) != fault.KindUnavailable || fault.Public(err) == "" {
		t.Errorf("refused with %v", err)
	}
	cancel()
	waiting.Wait()
	ctx, leave, err := TakePlace(t.Context())
	if err != nil {
		t.Fatalf("those who left keep their places: %v", err)
	}
	taken := queue.inUse()
	queue.finish(LaneKnown) // the one that full took
	if err := CheckNobody(ctx, "pw"); err != nil || queue.inUse() != taken {
		t.Errorf("a hash under a place took another: %d, then %d; %v", taken, queue.inUse(), err)
	}
	leave()
	if queue.inUse() != taken-1 {
		t.Errorf("%d places taken after it was left", queue.inUse())
	}
}

func TestWaitingTooLongIsRefusedToo(t *testing.T) {
	queue := full(t, 0)
	queue.maxWait = time.Millisecond
	if _, err := HashPassword(t.Context(), "pw"); !errors.Is(err, ErrBusy) {
		t.Errorf("refused with %v", err)
	}
}

// Those who have been here before do not wait for strangers, however many there
// are: a slot that gets free is theirs.
func TestSlotsGoToTheEarliestLane(t *testing.T) {
	queue := full(t, 0)
	var order []Lane
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, lane := range []Lane{LaneStranger, LaneSignIn, LaneKnown} {
		for range 3 {
			before := queue.waits(lane)
			all.Go(func() {
				leave, err := queue.enter(InLane(t.Context(), lane, Caller{}))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order = append(order, lane)
				mu.Unlock()
				leave()
			})
			for queue.waits(lane) == before {
				time.Sleep(time.Millisecond)
			}
		}
	}
	queue.finish(LaneKnown) // the one that full took
	all.Wait()
	if want := []Lane{0, 0, 0, 1, 1, 1, 2, 2, 2}; !slices.Equal(order, want) {
		t.Errorf("slots went to %v", order)
	}
}

// A flood that is always waiting does not keep out a person who comes once: they
// are served next, and get the place of the one who has waited longest.
func TestTheLastToComeIsServedFirst(t *testing.T) {
	queue := full(t, 0)
	flood := func(network string) (ended chan error) {
		ended = make(chan error, 1)
		before := queue.waits(LaneSignIn)
		go func() {
			leave, err := queue.enter(InLane(t.Context(), LaneSignIn, Caller{Network: network}))
			if err == nil {
				leave()
			}
			ended <- err
		}()
		for queue.waits(LaneSignIn) == before && len(ended) == 0 {
			time.Sleep(time.Millisecond)
		}
		return ended
	}
	oldest := flood("192.0.2.1")
	others := make([]chan error, 0, queue.places)
	for queue.waits(LaneSignIn) < queue.places {
		others = append(others, flood("198.51.100."+strconv.Itoa(len(others))))
	}
	served := make(chan error, 1)
	go func() {
		leave, err := queue.enter(InLane(t.Context(), LaneSignIn, Caller{Network: "203.0.113.1"}))
		served <- err
		if err == nil {
			for range len(others) { // the earlier callers are still there
				if queue.waits(LaneSignIn) != len(others) {
					t.Errorf("%d wait, want %d", queue.waits(LaneSignIn), len(others))
				}
			}
			leave()
		}
	}()
	if err := <-oldest; !errors.Is(err, ErrBusy) {
		t.Errorf("the oldest kept its place: %v", err)
	}
	for queue.waits(LaneSignIn) < queue.places {
		time.Sleep(time.Millisecond)
	}
	queue.finish(LaneKnown) // the one that full took
	if err := <-served; err != nil {
		t.Errorf("the last to come: %v", err)
	}
	for _, other := range others {
		if err := <-other; err != nil {
			t.Errorf("one that waited: %v", err)
		}
	}
}

// A flood for one account, from many networks, waits for itself: the owner of
// another account is served before it, whenever they came.
func TestAFloodForOneAccountDoesNotKeepOthersWaiting(t *testing.T) {
	queue := full(t, 0)
	served := make(chan string, 20)
	come := func(from Caller) {
		before := queue.waits(LaneSignIn)
		go func() {
			leave, err := queue.enter(InLane(t.Context(), LaneSignIn, from))
			if err != nil {
				t.Error(err)
				return
			}
			served <- from.Subject
			leave()
		}()
		for queue.waits(LaneSignIn) == before {
			time.Sleep(time.Millisecond)
		}
	}
	queue.recent.add(Caller{Network: "192.0.2.9", Subject: "attacked"})
	come(Caller{Network: "203.0.113.1", Subject: "quiet"})
	for i := range 10 {
		come(Caller{Network: "198.51.100." + strconv.Itoa(i), Subject: "attacked"})
	}
	queue.finish(LaneKnown) // the one that full took
	if first := <-served; first != "quiet" {
		t.Errorf("%s was served first", first)
	}
	for range 10 {
		<-served
	}
}

func TestStrangersLeaveSlotsAndOneNetworkLeavesPlaces(t *testing.T) {
	before := hashing.Load()
	t.Cleanup(func() { hashing.Store(before) })
	LimitHashing(1 << 40)
	queue := hashing.Load()
	queue.crowd = mostSlots
	stranger := InLane(t.Context(), LaneStranger, Caller{})
	for range mostSlots / 2 {
		if _, err := queue.enter(stranger); err != nil {
			t.Fatal(err)
		}
	}
	waits, cancel := context.WithCancel(stranger)
	var waiting sync.WaitGroup
	waiting.Go(func() { _, _ = queue.enter(waits) })
	for queue.waits(LaneStranger) == 0 {
		time.Sleep(time.Millisecond)
	}
	if _, err := HashPassword(t.Context(), "pw"); err != nil {
		t.Error(err)
	}
	cancel()
	waiting.Wait()
	for range perNetwork {
		if _, _, err := TakePlace(InLane(t.Context(), LaneSignIn, Caller{Network: "192.0.2.1"})); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := TakePlace(InLane(t.Context(), LaneSignIn, Caller{Network: "192.0.2.1"})); !errors.Is(err, ErrBusy) {
		t.Errorf("one network fills the queue: %v", err)
	}
	if _, leave, err := TakePlace(InLane(t.Context(), LaneSignIn, Caller{Network: "192.0.2.2"})); err != nil {
		t.Errorf("another network is kept out: %v", err)
	} else {
		leave()
	}
}

// Unknown addresses take no turn from known ones, and get the same answers.
func TestThePasswordOfNobodyIsPretendedWhereOthersWait(t *testing.T) {
	before := hashing.Load()
	t.Cleanup(func() { hashing.Store(before) })
	nobody := InLane(t.Context(), LaneSignIn, Caller{Subject: "nobody"})
	queue := newQueue(1)
	hashing.Store(queue)
	if pretended, err := Pretend(nobody); pretended || err != nil {
		t.Errorf("pretended while a slot was free: %t %v", pretended, err)
	}
	leave, err := queue.enter(InLane(t.Context(), LaneSignIn, Caller{Subject: "dona"}))
	if err != nil {
		t.Fatal(err)
	}
	if pretended, _ := Pretend(nobody); pretended {
		t.Error("pretended without knowing how long a hash takes")
	}
	leave()
	if leave, err = queue.enter(InLane(t.Context(), LaneSignIn, Caller{Subject: "dona"})); err != nil {
		t.Fatal(err)
	}
	defer leave()
	if pretended, err := Pretend(nobody); !pretended || err != nil {
		t.Errorf("as the last hash: %t %v", pretended, err)
	}
	for range maxOutcomes {
		queue.end(LaneSignIn, queue.class(Caller{Subject: "nobody"}), outcome{err: ErrBusy})
	}
	if pretended, err := Pretend(nobody); !pretended || !errors.Is(err, ErrBusy) {
		t.Errorf("as those who were refused: %t %v", pretended, err)
	}
	if waits := queue.waits(LaneSignIn); waits != 0 {
		t.Errorf("%d wait for a turn", waits)
	}
}

// A caller that floods the queue waits for long and is refused; an unknown address
// that comes once must not end like it, since one of a user would not.
func TestThePasswordOfNobodyEndsLikeThoseOfItsKind(t *testing.T) {
	before := hashing.Load()
	t.Cleanup(func() { hashing.Store(before) })
	queue := newQueue(1)
	hashing.Store(queue)
	in := func(from Caller) context.Context { return InLane(t.Context(), LaneSignIn, from) }
	flood := Caller{Network: "n", Subject: "dona"}
	for range 4 { // served when no other waits
		leave, err := queue.enter(in(flood))
		if err != nil {
			t.Fatal(err)
		}
		leave()
	}
	for range maxOutcomes {
		queue.end(LaneSignIn, queue.class(flood), outcome{err: ErrBusy})
	}
	leave, err := queue.enter(in(Caller{}))
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	fresh := Caller{Network: "m", Subject: "nobody"}
	for n := range 20 {
		once := Caller{Network: fmt.Sprint(n), Subject: fmt.Sprint("nobody", n)}
		if pretended, err := Pretend(in(once)); !pretended || err != nil {
			t.Fatalf("one who comes once: %t %v", pretended, err)
		}
	}
	served := 0
	for range 20 {
		pretended, err := Pretend(in(fresh))
		if !pretended {
			break // no one like that was seen: it takes a true turn
		}
		if err == nil {
			served++
		}
	}
	if served > 4 {
		t.Errorf("who asks again and again was served %d times as one who comes once", served)
	}
}
