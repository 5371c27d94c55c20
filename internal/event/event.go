// Package event records what happened, in the transaction in which it
// happened. It owns the catalog of event names, the envelope that integrators
// receive and the events table. It does not deliver: a room that acts on events
// watches the log and writes its rows in that same transaction, so that an
// event and the work it causes cannot come apart.
package event

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/id"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/watch"
)

// Name is the name of an event, such as customer.created.
type Name string

// The events of the API's contract.
const (
	CustomerCreated  Name = "customer.created"
	CustomerUpdated  Name = "customer.updated"
	CustomerDeleted  Name = "customer.deleted"
	CustomerRenewed  Name = "customer.renewed"
	CustomerExpired  Name = "customer.expired"
	InvoiceCreated   Name = "invoice.created"
	InvoiceUpdated   Name = "invoice.updated"
	InvoicePaid      Name = "invoice.paid"
	InvoiceCancelled Name = "invoice.cancelled"
	PaymentReceived  Name = "payment.received"
	PaymentRefunded  Name = "payment.refunded"
	PaymentUndone    Name = "payment.undone"
	AutopayChanged   Name = "autopay.changed"
	Ping             Name = "ping"
)

// Entry is a line of the catalog.
type Entry struct {
	Name        Name
	Description string
}

// Catalog lists every event that Carteira knows, in the order of the contract.
var Catalog = []Entry{
	{CustomerCreated, "a customer is created"},
	{CustomerUpdated, "customer data change"},
	{CustomerDeleted, "a customer is removed"},
	{CustomerRenewed, "a customer's access is renewed"},
	{CustomerExpired, "a customer passed the due date without renewing"},
	{InvoiceCreated, "an invoice is generated"},
	{InvoiceUpdated, "an invoice changes and is neither paid nor cancelled by that"},
	{InvoicePaid, "an invoice is paid"},
	{InvoiceCancelled, "an invoice is cancelled"},
	{PaymentReceived, "money is received, all of an invoice or a part"},
	{PaymentRefunded, "money of a payment goes back"},
	{PaymentUndone, "a payment that a person registered is taken back"},
	{AutopayChanged, "a customer's authorisation of PIX Automático is asked for, begins or ends"},
	{Ping, "sent by the test of a webhook"},
}

// Source is the company in which an event happens, with its time zone.
type Source struct {
	CompanyID int64
	Zone      *time.Location
}

// Event is a recorded event.
type Event struct {
	ID        string // evt_ and a ULID, the same for every receiver
	CompanyID int64
	Name      Name
	Subject   int64 // id of the record it is about; 0 where its data do not tell
	At        time.Time
	Zone      *time.Location // the company's
	Data      any            // as the capability gave it, which does not change it any more
}

// Log records events and calls its watchers, inside the transaction of the
// event. The zero value is ready.
type Log struct{ watch.List[Event] }

// envelope is the body that receivers see.
type envelope struct {
	Event      Name   `json:"event"`
	Platform   string `json:"platform"`
	ID         string `json:"id"`
	APIVersion string `json:"api_version"`
	OccurredAt string `json:"occurred_at"`
	CompanyID  int64  `json:"company_id"`
	Data       any    `json:"data"`
}

// Subject is data that knows the id of the record it is about.
type Subject interface{ SubjectID() int64 }

// Record writes an event in tx and calls the watchers.
func (l *Log) Record(ctx context.Context, tx *sqldb.Tx, from Source, name Name, data any) error {
	_, err := l.RecordEvent(ctx, tx, from, name, data)
	return err
}

// RecordEvent is Record for callers that need the event afterwards.
func (l *Log) RecordEvent(ctx context.Context, tx *sqldb.Tx, from Source, name Name, data any) (Event, error) {
	event := Event{
		ID:        id.NewEvent(tx.Now()),
		CompanyID: from.CompanyID,
		Name:      name,
		At:        tx.Now(),
		Zone:      from.Zone,
		Data:      data,
	}
	if subject, ok := data.(Subject); ok {
		event.Subject = subject.SubjectID()
	}
	body, err := encode(event)
	if err != nil {
		return event, err
	}
	if err := tx.Queue(ctx, `INSERT INTO events (company_id, event_id, name, occurred_at, body) VALUES (?, ?, ?, ?, ?)`,
		event.CompanyID, event.ID, string(name), event.At.UnixMicro(), body); err != nil {
		return event, fmt.Errorf("record %s: %w", name, err)
	}
	if err := l.Tell(ctx, tx, event); err != nil {
		return event, fmt.Errorf("watcher of %s: %w", name, err)
	}
	return event, nil
}

// encode makes the body of an event: what is sent byte for byte at every attempt.
func encode(event Event) (string, error) {
	body, err := json.Marshal(envelope{
		Event: event.Name, Platform: "carteira", ID: event.ID, APIVersion: "v1",
		OccurredAt: civil.Timestamp(event.At, event.Zone), CompanyID: event.CompanyID, Data: event.Data,
	})
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", event.Name, err)
	}
	return string(body), nil
}
