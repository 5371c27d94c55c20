// Command pocketbase is PocketBase as the benchmarks meet it: the real program,
// with a command `seed` that makes the collections of a customer list and fills
// them from the standard input. It is a module of its own, because the product
// needs none of what PocketBase needs.
//
//	pocketbase seed --dir FOLDER < rows.jsonl    prints a token
//	pocketbase serve --dir FOLDER --http ADDRESS
//
// It owns the collections, their rules and their indexes. What is asked of it,
// and how the answers are judged, is test/bench's.
package main
