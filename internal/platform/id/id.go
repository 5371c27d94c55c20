// Package id owns names that must not collide and secrets that must not be guessed: event ids, UUIDs, API tokens
// and the codes of public links.
//
// It does not own who holds a token or what a link opens; ids of rows are the database's own.
package id

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"strings"
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
// where it has put the one before; the 17 random characters after it, worth 101 bits, cannot be guessed.
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

const (
	tokenPrefix    = "cart_"
	tokenSecret    = 34 // characters, 202 bits
	tokenChecksum  = 6  // characters, enough for any CRC-32
	tokenBodyChars = tokenSecret + tokenChecksum
)

// NewToken makes an API token: cart_, 34 random characters and 6 of checksum, so that a token cut short or mistyped
// is refused without a look at the database, and scanners can recognise leaked ones.
func NewToken() string {
	secret := NewCode(tokenSecret)
	return tokenPrefix + secret + checksum(secret)
}

// ValidToken reports whether s has the form and the checksum of a token; not whether the token exists.
func ValidToken(s string) bool {
	body, ok := strings.CutPrefix(s, tokenPrefix)
	if !ok || len(body) != tokenBodyChars || strings.Trim(body, alphabet) != "" {
		return false
	}
	return body[tokenSecret:] == checksum(body[:tokenSecret])
}

// HashToken is what is stored of a token. A plain SHA-256 is right here: slow and salted hashes make up for secrets that people
// choose, whereas 202 random bits can be neither guessed nor listed in advance, and every call pays for the hash.
func HashToken(s string) [32]byte { return sha256.Sum256([]byte(s)) }

// checksum writes the CRC-32 of secret in base 62, padded with zeros.
func checksum(secret string) string {
	var sum [tokenChecksum]byte
	rest := crc32.ChecksumIEEE([]byte(secret))
	for i := len(sum) - 1; i >= 0; i-- {
		sum[i] = alphabet[rest%62]
		rest /= 62
	}
	return string(sum[:])
}
