package woovi

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
)

// keys are the public keys that Woovi signs callbacks with. They are fetched
// when they are old, and when a signature fits none of them, since a new one may
// have come; but not more than once in a while, however many signatures fail.
type keys struct {
	base string

	turn    chan struct{} // its holder may look and fetch
	list    []*rsa.PublicKey
	fetched time.Time // the last success
	tried   time.Time // the last try
}

const (
	keysLast  = time.Hour
	keysPause = time.Minute
)

func newKeys(base string) *keys {
	return &keys{base: base, turn: make(chan struct{}, 1)}
}

// verify checks a signature of body. Keys that cannot be fetched are no proof
// of a forgery: the callback is to come again.
func (k *keys) verify(ctx context.Context, env payment.Env, body, signature []byte) error {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	var failed error
	if now := env.Now(); now.Sub(k.fetched) >= keysLast {
		failed = k.fetch(ctx, env)
	}
	if k.fits(body, signature) {
		return nil
	}
	if failed == nil {
		failed = k.fetch(ctx, env)
	}
	switch {
	case k.fits(body, signature):
		return nil
	case len(k.list) == 0 && failed != nil:
		return fmt.Errorf("check the signature of a callback: %w", failed)
	}
	return payment.ErrForged
}

func (k *keys) fits(body, signature []byte) bool {
	sum := sha256.Sum256(body)
	for _, key := range k.list {
		if rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature) == nil {
			return true
		}
	}
	return false
}

// fetch asks for the keys, which anybody may have.
func (k *keys) fetch(ctx context.Context, env payment.Env) error {
	now := env.Now()
	if !k.tried.IsZero() && now.Sub(k.tried) < keysPause {
		return errors.New("the keys were asked for a moment ago")
	}
	var answer struct {
		Keys []struct {
			Key string `json:"key"`
		} `json:"public_keys"`
	}
	api := wire.API{Base: k.base, Client: env.Client, Reason: reason}
	err := api.Get(ctx, "/api/v1/webhook/public-keys", nil, &answer)
	if err != nil {
		if ctx.Err() == nil {
			k.tried = now
		}
		return err
	}
	k.tried = now
	var list []*rsa.PublicKey
	for _, one := range answer.Keys {
		if key, err := readKey(one.Key); err == nil {
			list = append(list, key)
		}
	}
	if len(list) == 0 {
		return errors.New("GET /api/v1/webhook/public-keys: no key can be read")
	}
	k.list, k.fetched = list, now
	return nil
}

func readKey(text string) (*rsa.PublicKey, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("no PEM text")
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	key, ok := parsed.(*rsa.PublicKey)
	if !ok {
		return nil, errors.New("no RSA key")
	}
	return key, nil
}
