package sender

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"strings"
	"time"
)

// Sign is the signature of a body at a time: the hex HMAC-SHA256 of timestamp,
// a dot and the body exactly as it is sent.
func Sign(key []byte, timestamp string, body []byte) string {
	return newSigner(key).sign(timestamp, body)
}

// SignStandard is the signature of Standard Webhooks: the HMAC-SHA256 of id,
// timestamp and body with dots between them, keyed with the bytes that the text
// after whsec_ encodes. It is "" for a secret that encodes none.
func SignStandard(secret []byte, eventID, timestamp string, body []byte) string {
	return newSigner(secret).signStandard(eventID, timestamp, body)
}

// signer signs with one secret. It is one goroutine's at a time.
type signer struct {
	own      hash.Hash
	standard hash.Hash // nil: the secret encodes no bytes
	text     []byte
	old      *signer   // of the secret before the last rotation; nil: there is none
	oldUntil time.Time // it signs too until then
}

func newSigner(secret []byte) *signer {
	s := &signer{own: hmac.New(sha256.New, secret)}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(secret), "whsec_"))
	if err == nil {
		s.standard = hmac.New(sha256.New, key)
	}
	return s
}

func (s *signer) sign(timestamp string, body []byte) string {
	s.text = append(append(s.text[:0], timestamp...), '.')
	sum := s.sum(s.own, body)
	s.text = hex.AppendEncode(s.text[:0], sum)
	return string(s.text)
}

func (s *signer) signStandard(eventID, timestamp string, body []byte) string {
	if s.standard == nil {
		return ""
	}
	s.text = append(append(s.text[:0], eventID...), '.')
	s.text = append(append(s.text, timestamp...), '.')
	sum := s.sum(s.standard, body)
	s.text = base64.StdEncoding.AppendEncode(append(s.text[:0], "v1,"...), sum)
	return string(s.text)
}

// sum is the code of the text and the body.
func (s *signer) sum(mac hash.Hash, body []byte) []byte {
	mac.Reset()
	mac.Write(s.text)
	mac.Write(body)
	return mac.Sum(nil)
}
