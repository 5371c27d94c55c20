package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// The reasons for which a sealed secret does not open.
var (
	// ErrUnknownKey means that the ring lacks the key, which the error names by its id.
	ErrUnknownKey = errors.New("sealed with a key that is not configured")
	// ErrTampered means that the text was altered, cut, or sealed for another context.
	ErrTampered = errors.New("sealed secret is damaged or belongs elsewhere")
)

// Box seals secrets with its current key and opens those sealed with any key of its ring.
type Box struct {
	current string
	cipher  func(keyID string) cipher.AEAD // nil for unknown keys; a function for the reason that Key is one
}

// NewBox makes a box that seals with current and can still open what the old keys sealed.
func NewBox(current Key, old ...Key) *Box {
	ring := map[string]cipher.AEAD{current.ID(): newAEAD(current)}
	for _, key := range old {
		ring[key.ID()] = newAEAD(key)
	}
	return &Box{
		current: current.ID(),
		cipher:  func(keyID string) cipher.AEAD { return ring[keyID] },
	}
}

// Seal encrypts plain for one context, such as "webhook:12", so that the result opens nowhere else. It reads
// v1.<key id>.<base64url of nonce and ciphertext>.
func (b *Box) Seal(plain []byte, context string) string {
	sealed := b.cipher(b.current).Seal(nil, nil, plain, []byte(context))
	return "v1." + b.current + "." + base64.RawURLEncoding.EncodeToString(sealed)
}

// Open decrypts what Seal made for the same context.
func (b *Box) Open(sealed, context string) ([]byte, error) {
	keyID, payload, ok := split(sealed)
	if !ok {
		return nil, ErrTampered
	}
	aead := b.cipher(keyID)
	if aead == nil {
		return nil, fmt.Errorf("%w: %s", ErrUnknownKey, keyID)
	}
	plain, err := aead.Open(nil, nil, payload, []byte(context))
	if err != nil {
		return nil, ErrTampered
	}
	return plain, nil
}

// CurrentID is the id of the key that seals.
func (b *Box) CurrentID() string { return b.current }

// Needs reports whether sealed must be opened and sealed again before the older keys can be thrown away.
func (b *Box) Needs(sealed string) bool { return KeyID(sealed) != b.current }

// KeyID is the id of the key that sealed was made with; empty when it is not the work of Seal.
func KeyID(sealed string) string {
	id, _, _ := split(sealed)
	return id
}

func split(sealed string) (keyID string, payload []byte, ok bool) {
	rest, v1 := strings.CutPrefix(sealed, "v1.")
	keyID, text, dot := strings.Cut(rest, ".")
	if _, err := hex.DecodeString(keyID); !v1 || !dot || len(keyID) != 8 || err != nil {
		return "", nil, false
	}
	payload, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return "", nil, false
	}
	return keyID, payload, true
}

// newAEAD cannot fail but for the zero Key, which is a slip of the program. The nonce is drawn at random for each
// message: safe for 2³² of them under one key, more than there will ever be rows with secrets.
func newAEAD(key Key) cipher.AEAD {
	if key.reveal == nil {
		panic("secret: a box was given no key")
	}
	block, err := aes.NewCipher(key.reveal())
	if err != nil {
		panic(err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	return aead
}
