// Command day says how many machines a day of many companies takes, by costs
// that `make bench` has measured:
//
//	go run ./test/bench/day [-companies 100000] [-customers 500] [-cores 2] [-seed 1]
//
// It lives through one day, second by second: what the calendar brings at the
// midnight of each time zone, payments, messages, panels and integrations, drawn
// at random from a seed, so that the same seed gives the same day. It owns the
// habits of a company and the arithmetic; the costs are measured by test/bench
// and copied into costs.go. docs/scaling.md holds what it prints, and a test
// compares the two.
//
// It knows nothing of locks and disks: docs/scaling.md says where those stand.
package main
