package id

import (
	"crypto/sha256"
	"hash/crc32"
	"strings"
)

const (
	tokenPrefix    = "cart_"
	tokenSecret    = 34 // characters, 202 bits
	tokenChecksum  = 6  // characters, enough for any CRC-32
	tokenBodyChars = tokenSecret + tokenChecksum
)

// NewToken makes an API token: cart_, 34 random characters and 6 of checksum, so that a token cut short or mistyped
// is refused without a look at the database, and leaked ones can be told from other text by scanners.
func NewToken() string {
	secret := NewCode(tokenSecret)
	return tokenPrefix + secret + checksum(secret)
}

// ValidToken tells whether s has the form and the checksum of a token; not whether the token exists.
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
