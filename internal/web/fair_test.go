package web

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestRequestsOfOneCompanyTakeNoPlaceOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fair Fair
		var leaves []func()
		for range fairPlaces {
			leave, err := fair.Enter(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			leaves = append(leaves, leave)
		}
		entered := make(chan func())
		go func() {
			leave, _ := fair.Enter(context.Background(), 1)
			entered <- leave
		}()
		synctest.Wait()
		select {
		case <-entered:
			t.Error("one more of the company was let in")
		default:
		}
		leave, err := fair.Enter(t.Context(), 2)
		if err != nil {
			t.Errorf("another company: %v", err)
		}
		leave()
		leaves[0]()
		(<-entered)()
		ended, end := context.WithCancel(t.Context())
		end()
		last, err := fair.Enter(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fair.Enter(ended, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("who has gone: %v", err)
		}
		last()
		for _, leave := range leaves[1:] {
			leave()
		}
		if len(fair.of) != 0 {
			t.Errorf("%d companies are remembered", len(fair.of))
		}
	})
}
