package sender

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// Sign is the signature of a body at a time: the hex HMAC-SHA256 of timestamp,
// a dot and the body exactly as it is sent.
func Sign(key []byte, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(timestamp))
	mac.Write([]byte{'.'})
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}
