// Package pgserver starts throw-away PostgreSQL servers for tests and tools: a
// primary, streaming standbys of it, a PgBouncer before it. It owns their whole
// life: finding (or installing) the programs, a cluster in a temporary folder, a
// free loopback port, the extensions that Carteira's search needs, crashing,
// restarting and promoting them, and leaving nothing behind however the process
// that started them ends.
//
// It does not own schemas or data, and never touches a cluster that exists.
package pgserver
