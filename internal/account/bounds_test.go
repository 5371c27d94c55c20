package account_test

import (
	"fmt"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/housetest"
	"carteira/internal/platform/sqldb"
)

// anonymous makes the company one of a stranger's.
func (h house) anonymous(t *testing.T, yes bool) account.Actor {
	t.Helper()
	housetest.Must(t, h.db.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE companies SET anonymous = ? WHERE id = ?`, yes, h.owner.CompanyID)
		return err
	}))
	a, err := h.Actor(t.Context(), h.owner.CompanyID)
	housetest.Must(t, err)
	return a
}

func TestTokensHaveABound(t *testing.T) {
	eachHouse(t, func(t *testing.T, h house) {
		for _, anonymous := range []bool{true, false} {
			most := map[bool]int{true: 2, false: 50}[anonymous]
			a := h.anonymous(t, anonymous)
			have, err := h.Tokens(t.Context(), a)
			housetest.Must(t, err)
			for i := len(have); i < most; i++ {
				_, _, err := h.CreateToken(t.Context(), a, account.NewToken{Name: fmt.Sprint(i)})
				housetest.Must(t, err)
			}
			_, _, err = h.CreateToken(t.Context(), a, account.NewToken{Name: "one too many"})
			wantKind(t, err, fault.KindInvalid)
			if anonymous {
				continue
			}
			housetest.Must(t, h.DeleteToken(t.Context(), a, 1))
			_, _, err = h.CreateToken(t.Context(), a, account.NewToken{Name: "in its place"})
			housetest.Must(t, err)
		}
	})
}

func TestOutgoingPostsHaveABound(t *testing.T) {
	eachHouse(t, func(t *testing.T, h house) {
		a := h.anonymous(t, true)
		for range 5 {
			housetest.Must(t, h.CountOutgoing(t.Context(), a))
		}
		err := h.CountOutgoing(t.Context(), a)
		wantKind(t, err, fault.KindRateLimited)
		housetest.Must(t, h.CountOutgoing(t.Context(), h.anonymous(t, false)))
		h.clock.Advance(time.Hour)
		housetest.Must(t, h.CountOutgoing(t.Context(), h.anonymous(t, true)))
	})
}
