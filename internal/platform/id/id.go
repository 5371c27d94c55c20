// Package id owns names that must not collide and secrets that must not be guessed: event ids, UUIDs, API tokens
// and the codes of public links.
//
// It does not own who holds a token or what a link opens; ids of rows are the database's own.
package id

import (
	"crypto/rand"
	"encoding/hex"
	"time"

	"github.com/oklog/ulid/v2"
)

// NewEvent makes the id of an event that happened at t: evt_ and a ULID.
func NewEvent(at time.Time) string {
	ms := uint64(max(at.UnixMilli(), 0)) // the format has no room for times before 1970
	return "evt_" + ulid.MustNew(ms, rand.Reader).String()
}

// NewUUID makes a random UUID, version 4 of RFC 9562.
func NewUUID() string {
	var u [16]byte
	_, _ = rand.Read(u[:]) // never fails: the program ends first
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	s := hex.EncodeToString(u[:])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

// NewCode makes n random characters of [0-9A-Za-z] for a link that must not be guessable; each is worth 5.95 bits.
func NewCode(n int) string {
	code := make([]byte, 0, n)
	var random [64]byte
	for {
		_, _ = rand.Read(random[:]) // never fails: the program ends first
		for _, b := range random {
			if len(code) == n {
				return string(code)
			}
			// 248 is the last multiple of 62 that a byte holds: beyond it, the first characters would come too often.
			if b < 248 {
				code = append(code, alphabet[b%62])
			}
		}
	}
}

// NewLink makes the code of a public link that is made at t. It begins with the time, so that a database puts it into its index
// where it has put the one before; the 17 random characters after it, worth 101 bits, are what nobody can guess.
func NewLink(at time.Time) string {
	const timed, random = 7, 17 // the time comes round after 111 years, and may
	var code [timed]byte
	for i, ms := timed-1, max(at.UnixMilli(), 0); i >= 0; i, ms = i-1, ms/int64(len(alphabet)) {
		code[i] = alphabet[ms%int64(len(alphabet))]
	}
	return string(code[:]) + NewCode(random)
}

// alphabet has its characters in the order in which databases compare them.
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
