package account

import (
	"context"
	"time"

	"carteira/internal/platform/sqldb"
)

// A device in which a user has signed in before waits for no stranger and is
// counted by itself. It proves nothing else: the password is asked for as ever.
const (
	// DeviceLife is how long a device is remembered after it was last used.
	DeviceLife = 180 * 24 * time.Hour
	maxDevices = 20
)

// knows reports whether a user has signed in from the visitor's device before.
func (s *Service) knows(ctx context.Context, user User, from Visitor) (bool, error) {
	if from.Device == "" {
		return false, nil
	}
	return deviceKnown(ctx, s.db, user, linkHash(from.Device))
}

// rememberDevice makes the visitor's device one that is known for the user. It
// returns the text for the browser to keep; "" when it has one already.
func rememberDevice(ctx context.Context, tx *sqldb.Tx, user User, from Visitor) (string, error) {
	if from.Device != "" {
		if seen, err := touchDevice(ctx, tx, user, linkHash(from.Device)); err != nil || seen {
			return "", err
		}
	}
	device, hash := newLink()
	if err := insertDevice(ctx, tx, user, hash); err != nil {
		return "", err
	}
	return device, dropOldDevices(ctx, tx, user, maxDevices)
}
