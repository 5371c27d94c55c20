// Command chaos does to the real program what a bad minute does, and counts:
//
//	go run ./test/chaos [-only REGEX] [-short]
//
// Each trial is an installation of its own: real processes of the real binary,
// a real database (PostgreSQL with a standby where the fault needs one), callers
// who write through the API and repeat what was not answered under the same
// Idempotency-Key, and a receiver of webhooks. A trial hurts it, waits until
// everything goes on, and then counts what was acknowledged, what of it is lost
// or there twice, which deliveries were repeated, and how long writes,
// deliveries and settlement stood still.
//
// It owns the trials, their goals and the table of docs/reliability.md. It ends
// with an error when something that was acknowledged is lost or doubled, or when
// a goal that is kept is missed by far. A goal that is still to be reached is
// shown as missed and fails nothing. `make chaos` runs all trials, `make test`
// those of the short form.
package main
