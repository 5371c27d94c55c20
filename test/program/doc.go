// Package program tests Carteira as its users meet it: the built binary with
// real signals, real databases and a real browser. It owns the kit that starts,
// stops and kills processes. It does not repeat what the rooms test of
// themselves: it tests what only shows when whole processes run, end, share a
// database, or get wrong arguments.
package program
