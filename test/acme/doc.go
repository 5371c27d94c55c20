// Package acme has the real program obtain certificates from Pebble, the
// certificate authority that Let's Encrypt has for tests. It is a module of its
// own, so that Pebble is no dependency of the program.
package acme
