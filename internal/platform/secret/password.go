package secret

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"time"

	"golang.org/x/crypto/argon2"

	"carteira/internal/platform/stopwatch"
)

const (
	saltSize = 16
	sumSize  = 32
)

// OWASP's argon2id setting for servers: 19 MiB, two passes, one lane.
var current = cost{memory: HashMemory / 1024, time: 2, threads: 1}

// The most that a stored hash may ask for: a row put there by other hands must not exhaust the machine.
var dearest = cost{memory: 256 * 1024, time: 16, threads: 16}

var errHash = errors.New("stored password hash is malformed")

type cost struct {
	memory  uint32 // KiB
	time    uint32
	threads uint8
}

type hash struct {
	cost
	salt, sum []byte
}

// HashPassword hashes pw with a fresh salt into a PHC string; it fails only when ctx ends first, or with
// ErrBusy.
func HashPassword(ctx context.Context, pw string) (string, error) {
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // never fails: the program ends first
	sum, err := derive(ctx, pw, current, salt)
	if err != nil {
		return "", err
	}
	return phc(hash{current, salt, sum}), nil
}

// CheckPassword reports whether pw is the password of stored; it fails when stored is no hash, when
// ctx ends first, or with ErrBusy.
func CheckPassword(ctx context.Context, stored, pw string) (bool, error) {
	hash, err := parsePHC(stored)
	if err != nil {
		return false, err
	}
	sum, err := derive(ctx, pw, hash.cost, hash.salt)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(sum, hash.sum) == 1, nil
}

// CheckNobody takes as long as CheckPassword, so that the time of a refused sign-in does not tell who has an account.
func CheckNobody(ctx context.Context, pw string) error {
	_, err := derive(ctx, pw, current, make([]byte, saltSize))
	return err
}

// NeedsRehash reports whether stored was made at another cost than today's, so that a sign-in is the moment to renew
// it.
func NeedsRehash(stored string) bool {
	hash, err := parsePHC(stored)
	return err != nil || hash.cost != current
}

func derive(ctx context.Context, pw string, cost cost, salt []byte) ([]byte, error) {
	leave, err := hashing.Load().enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	return argon2.IDKey([]byte(pw), salt, cost.time, cost.memory, cost.threads, sumSize), nil
}

func phc(hash hash) string {
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, hash.memory, hash.time, hash.threads,
		encode(hash.salt), encode(hash.sum))
}

func parsePHC(text string) (hash, error) {
	var h hash
	parts := strings.Split(text, "$")
	if len(parts) != 6 {
		return hash{}, errHash
	}
	_, scan := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &h.memory, &h.time, &h.threads)
	salt, badSalt := base64.RawStdEncoding.DecodeString(parts[4])
	sum, badSum := base64.RawStdEncoding.DecodeString(parts[5])
	h.salt, h.sum = salt, sum
	// Printed again it must be the same, which holds name, version and every sign in place.
	if errors.Join(scan, badSalt, badSum) != nil || phc(h) != text || !h.affordable() {
		return hash{}, errHash
	}
	return h, nil
}

func (h hash) affordable() bool {
	return h.time >= 1 && h.time <= dearest.time && h.threads >= 1 && h.threads <= dearest.threads &&
		h.memory >= 8*uint32(h.threads) && h.memory <= dearest.memory &&
		len(h.salt) >= 8 && len(h.salt) <= 64 && len(h.sum) == sumSize
}

// outcome is how long a caller was kept for a hash, and how that ended.
type outcome struct {
	took time.Duration
	err  error
}

// outcomes are the last ones.
type outcomes struct {
	list []outcome
	next int
}

const maxOutcomes = 64

func (o *outcomes) add(how outcome) {
	if how.err != nil && !errors.Is(how.err, ErrBusy) {
		return // the caller went away
	}
	if len(o.list) < maxOutcomes {
		o.list = append(o.list, how)
		return
	}
	o.list[o.next] = how
	o.next = (o.next + 1) % maxOutcomes
}

// Pretend replaces the hash for an unknown address while others wait for theirs:
// a flood of made-up addresses is cheap and must not delay real users. It takes
// as long, and ends in the same way, as one of the recent hashes for callers who
// had as many, so that the answer does not reveal which addresses exist. While a slot is free it does
// nothing and reports so.
func Pretend(ctx context.Context) (pretended bool, err error) {
	queue := hashing.Load()
	how, crowded := queue.likely(ticketOf(ctx))
	if !crowded {
		return false, nil
	}
	timer := time.NewTimer(how.took)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true, how.err
	case <-ctx.Done():
		return true, ctx.Err()
	}
}

// likely is how a caller would fare who waited now.
func (q *queue) likely(ticket ticket) (how outcome, crowded bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if ticket.lane != LaneSignIn || q.free(ticket.lane) {
		return outcome{}, false
	}
	like := q.outcomes[q.recent.class(ticket.from)].list
	if len(like) == 0 {
		return outcome{}, false
	}
	how = like[mathrand.IntN(len(like))] //nolint:gosec // no secret comes of it
	if how.err == nil {
		q.recent.add(ticket.from) // as one who had a turn
	}
	return how, true
}

// recentTime is for how long a hash counts: once or twice as long.
const recentTime = time.Minute

// recent counts the hashes of the last minute or two, by network and by subject.
// It has as many entries as hashes can be computed in that time.
type recent struct {
	began        stopwatch.Watch
	present, old map[Caller]int
}

// of is how many hashes the network and the subject of a caller had together.
func (r *recent) of(from Caller) int {
	r.turn()
	n := 0
	for _, key := range from.keys() {
		if key != (Caller{}) {
			n += r.present[key] + r.old[key]
		}
	}
	return n
}

// classes are how many kinds of callers there are, by the hashes they had lately: who
// had few waits less than who had many, and the pretended wait must be of one's like.
const classes = 8

func (r *recent) class(from Caller) (class int) {
	for n := r.of(from); n > 0 && class < classes-1; n /= 2 {
		class++
	}
	return class
}

func (r *recent) add(from Caller) {
	r.turn()
	for _, key := range from.keys() {
		if key != (Caller{}) {
			r.present[key]++
		}
	}
}

// turn forgets the counts of the minute before the last.
func (r *recent) turn() {
	if r.present == nil || r.began.Elapsed() > recentTime {
		r.old, r.present, r.began = r.present, map[Caller]int{}, stopwatch.Start()
	}
}

// keys are what is counted separately: the network and the subject. The zero
// Caller is unknown.
func (c Caller) keys() [2]Caller {
	return [2]Caller{{Network: c.Network}, {Subject: c.Subject}}
}
