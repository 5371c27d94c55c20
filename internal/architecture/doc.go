// Package architecture keeps the house to its plan: it is tests that read the
// source and fail, with the reason, on an import against the arrows, a package
// without a doc, a statement on a company's table that does not name
// company_id, a table read or written by a package that does not own it, a
// record written outside its room's apply, a form taken into a transaction, a
// clock read where a transaction's instant belongs, or migration folders that
// differ. It owns no code of the program and is never imported;
// docs/architecture.md is the plan in words.
package architecture
