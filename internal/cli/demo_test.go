package cli

import "testing"

// Which invoice has which number depends on the day on which a demo is made.
func TestTheFirstCustomersOfADemoStayWhicheverDayItIs(t *testing.T) {
	left := map[bool]int{}
	for customer := 1; customer <= 2*faithful; customer++ {
		for invoice := range 1000 {
			if _, pays := habit(customer, invoice); !pays {
				left[customer <= faithful]++
			}
		}
	}
	if left[true] != 0 || left[false] == 0 {
		t.Errorf("%d times one of the first did not pay, %d times another", left[true], left[false])
	}
}
