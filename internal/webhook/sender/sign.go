package sender

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
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

// SignStandard is the signature of Standard Webhooks: the HMAC-SHA256 of id,
// timestamp and body with dots between them, keyed with the bytes that the text
// after whsec_ encodes. It is "" for a secret that encodes none.
func SignStandard(secret []byte, eventID, timestamp string, body []byte) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(secret), "whsec_"))
	if err != nil {
		return ""
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(eventID + "." + timestamp + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
