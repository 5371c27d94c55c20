// Command chaos does to the real program what a bad minute does, and counts:
//
//	go run ./test/chaos [-only REGEX] [-short]
//
// Each trial is an installation of its own: real processes of the real binary,
// a real database (PostgreSQL with a standby where the fault needs one), callers
// who write through the API and repeat what was not answered under the same
// Idempotency-Key, customers who pay at a bank that calls back, and a receiver of
// webhooks. A trial hurts it, waits until everything goes on, and then compares
// what was acknowledged and paid with what is there: customers, payments,
// renewals, events, deliveries and charges, each once. It counts which deliveries
// were repeated, and how long writes, deliveries and settlement stood still.
//
// It owns the trials, their goals and the table of docs/reliability.md. It ends
// with an error when something that was acknowledged is lost or doubled, when more
// is repeated than was under way, or when a goal that is kept is missed by far. A
// goal that is still to be reached is shown as missed and fails nothing. `make
// chaos` runs all trials, `make test` those of the short form. First `make chaos`
// runs each trial against a stand-in that keeps the promises, and against mutants
// of it that do not (mutants_test.go): a trial that cannot fail proves nothing.
package main
