package wire_test

import (
	"errors"
	"testing"

	"carteira/internal/payment"
	"carteira/internal/payment/wire"
)

// search goes through pages of ranks.
func search(pages ...[]int) (int, error) {
	return wire.Search(func(page int) ([]int, bool, error) {
		return pages[page%len(pages)], page+1 < len(pages), nil
	}, func(rank *int) int { return *rank })
}

func TestSearchFindsTheHighestRankOfAllPages(t *testing.T) {
	if best, err := search([]int{0, 2, 1}, []int{0, 3}, []int{1}); err != nil || best != 3 {
		t.Errorf("found %d, %v", best, err)
	}
	if best, err := search([]int{0}, nil); !errors.Is(err, payment.ErrNoCharge) {
		t.Errorf("found %d, %v", best, err)
	}
}

func TestSearchThatSeesNotAllSaysSo(t *testing.T) {
	endless := func(int) ([]int, bool, error) { return []int{0}, true, nil }
	_, err := wire.Search(endless, func(rank *int) int { return *rank })
	if err == nil || errors.Is(err, payment.ErrNoCharge) {
		t.Errorf("an endless list: %v", err)
	}
}

func TestStatusThatIsHiddenIsNoRefusal(t *testing.T) {
	refused := answer(t, 404, `{"message":"no"}`)
	if err := wire.Outcome(wire.Unsure(refused)); errors.Is(err, payment.ErrRefused) || err.Error() != refused.Error() {
		t.Errorf("got %v", err)
	}
	if err := wire.Unsure(payment.ErrNoCharge); !errors.Is(err, payment.ErrNoCharge) {
		t.Errorf("got %v", err)
	}
}

// An attempt that is turned down, and is there: the answer of the call before was lost.
func TestAttemptThatIsThereIsNotAskedForAgain(t *testing.T) {
	turnedDown := answer(t, 422, `{}`)
	tried := false
	retry := func(paid bool) error {
		return wire.Retry(func() (bool, error) { return tried, nil },
			func(tried bool) (bool, bool) { return tried, paid }, func(bool) error { tried = true; return turnedDown })
	}
	if err := retry(true); !errors.Is(err, payment.ErrPaid) || tried {
		t.Errorf("what was paid: %v, tried %v", err, tried)
	}
	for range 2 {
		if err := retry(false); err != nil {
			t.Errorf("what was made already: %v", err)
		}
	}
}
