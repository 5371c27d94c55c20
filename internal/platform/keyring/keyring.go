// Package keyring makes sure that the program has the key with which a
// database's secrets were encrypted. It owns the secret_keys table, which holds
// no key: only, for every key ever used, a text sealed with it.
package keyring

import (
	"context"
	"errors"
	"fmt"

	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
)

// ErrWrongKey says that a database was encrypted with a key that is not there.
var ErrWrongKey = errors.New("wrong CARTEIRA_SECRET_KEY")

const proof = "carteira"

// Open returns the box of current and old keys after checking them against the
// database. A new current key is noted; one that the database has never seen
// is refused unless an old key is given with it, since everything stored would
// be unreadable.
func Open(ctx context.Context, db *sqldb.DB, current secret.Key, old ...secret.Key) (*secret.Box, error) {
	box := secret.NewBox(current, old...)
	// Reading comes first because it does not wait: a command next to a busy
	// server would have to wait for its turn to write.
	if noted, err := look(ctx, db, box); err != nil || noted {
		return box, err
	}
	err := db.Write(ctx, func(tx *sqldb.Tx) error {
		if noted, err := look(ctx, tx, box); err != nil || noted {
			return err
		}
		return tx.Do(ctx, `
			INSERT INTO secret_keys (key_id, proof, created_at) VALUES (?, ?, ?)
			ON CONFLICT (key_id) DO UPDATE SET created_at = excluded.created_at`,
			box.CurrentID(), box.Seal([]byte(proof), proof), tx.Now().UnixMicro())
	})
	return box, err
}

// Used reports whether the database has been written with a key.
func Used(ctx context.Context, db *sqldb.DB) (bool, error) {
	n, err := sqldb.Value[int](ctx, db, `SELECT count(*) FROM secret_keys`)
	return n > 0, err
}

// Check wants the keys to be those of a database, or of a copy of one, and
// changes nothing.
func Check(ctx context.Context, querier sqldb.Querier, current secret.Key, old ...secret.Key) error {
	_, err := look(ctx, querier, secret.NewBox(current, old...))
	return err
}

// look wants one of the keys to open the newest proof: that is the key with
// which the database is being written. It reports whether that is the current
// one.
func look(ctx context.Context, querier sqldb.Querier, box *secret.Box) (noted bool, err error) {
	newest, err := sqldb.Value[string](ctx, querier, `SELECT proof FROM secret_keys ORDER BY created_at DESC LIMIT 1`)
	if errors.Is(err, sqldb.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if _, err := box.Open(newest, proof); err != nil {
		return false, fmt.Errorf(
			"%w: this database is encrypted with key %s, and the key given is %s; to change the key, give both as new,old",
			ErrWrongKey, secret.KeyID(newest), box.CurrentID())
	}
	return secret.KeyID(newest) == box.CurrentID(), nil
}
