package account_test

import (
	"fmt"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
)

// anonymous makes the company one of a stranger's.
func (h house) anonymous(t *testing.T, yes bool) account.Actor {
	t.Helper()
	housetest.Must(t, h.db.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE companies SET anonymous = ? WHERE id = ?`, yes, h.owner.CompanyID)
		return err
	}))
	actor, err := h.Actor(t.Context(), h.owner.CompanyID)
	housetest.Must(t, err)
	return actor
}

func TestTokensHaveABound(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		for _, anonymous := range []bool{true, false} {
			most := map[bool]int{true: 2, false: 50}[anonymous]
			actor := house.anonymous(t, anonymous)
			have, err := house.Tokens(t.Context(), actor)
			housetest.Must(t, err)
			for i := len(have); i < most; i++ {
				_, _, err := house.CreateToken(t.Context(), actor, account.NewToken{Name: fmt.Sprint(i)})
				housetest.Must(t, err)
			}
			_, _, err = house.CreateToken(t.Context(), actor, account.NewToken{Name: "one too many"})
			wantKind(t, err, fault.KindInvalid)
			if anonymous {
				continue
			}
			housetest.Must(t, house.DeleteToken(t.Context(), actor, 1))
			_, _, err = house.CreateToken(t.Context(), actor, account.NewToken{Name: "in its place"})
			housetest.Must(t, err)
		}
	})
}

func TestOutgoingPostsHaveABound(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		actor := house.anonymous(t, true)
		for range 5 {
			housetest.Must(t, house.CountOutgoing(t.Context(), actor))
		}
		err := house.CountOutgoing(t.Context(), actor)
		wantKind(t, err, fault.KindRateLimited)
		housetest.Must(t, house.CountOutgoing(t.Context(), house.anonymous(t, false)))
		house.clock.Advance(time.Hour)
		housetest.Must(t, house.CountOutgoing(t.Context(), house.anonymous(t, true)))
	})
}
