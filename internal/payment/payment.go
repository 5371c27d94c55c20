// Package payment owns charges: what is asked of a payment gateway for an
// invoice, what came of it, and the settlement that pays the invoice once. It
// has the Gateway contract that every provider in the folders below keeps, the
// inbox of their callbacks, and the reconciliation that finds what no callback
// told. It does not own invoices: it tells billing that one is paid.
package payment
