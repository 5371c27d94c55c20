// Package privacy owns what a person may ask of a company about their own data:
// a file of everything that is kept about one customer, and an erasure that
// leaves nothing but what the law makes one keep. It owns no table: each room
// says what it keeps about a customer and erases its own.
package privacy

import (
	"context"
	"encoding/json"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// Keeper is a room that keeps something about customers.
type Keeper interface {
	// KeptAbout lists what the room keeps about a customer.
	KeptAbout(ctx context.Context, querier sqldb.Querier, actor account.Actor, subject account.DataSubject) ([]account.Kept, error)
	// EraseTx removes it before the customer is deleted, but for what has to stay.
	EraseTx(ctx context.Context, tx account.Tx, subject account.DataSubject) error
}

// Service has the use cases.
type Service struct {
	db        *sqldb.DB
	accounts  *account.Service
	customers *customer.Service
	keepers   []Keeper
}

// New makes the service of the rooms above customers.
func New(db *sqldb.DB, accounts *account.Service, customers *customer.Service, keepers ...Keeper) *Service {
	return &Service{db, accounts, customers, keepers}
}

// File is everything that is kept about one customer.
type File struct {
	Company string         `json:"company"`
	MadeAt  string         `json:"made_at"`
	Kept    []account.Kept `json:"kept"`
	Audit   []auditLine    `json:"audit"`
}

type auditLine struct {
	At      string                `json:"at"`
	Who     string                `json:"who"`
	Action  string                `json:"action"`
	Changes []account.FieldChange `json:"changes,omitempty"`
}

// maxAudit is how many lines of the audit log a file has.
const maxAudit = 1000

// CustomerFile is the file as JSON.
func (s *Service) CustomerFile(ctx context.Context, actor account.Actor, id int64) ([]byte, error) {
	record, err := s.customers.Find(ctx, actor, id)
	if err != nil {
		return nil, err
	}
	file := File{
		Company: actor.Company.Name,
		MadeAt:  civil.Timestamp(s.db.Now(), actor.Company.Zone),
		Audit:   []auditLine{},
	}
	person := account.DataSubject{CustomerID: record.ID, UUID: record.UUID}
	if file.Kept, err = s.customers.KeptAbout(ctx, s.db, actor, person); err != nil {
		return nil, err
	}
	for _, keeper := range s.keepers {
		kept, err := keeper.KeptAbout(ctx, s.db, actor, person)
		if err != nil {
			return nil, err
		}
		file.Kept = append(file.Kept, kept...)
	}
	lines, _, err := s.accounts.Audit(ctx, actor, account.AuditFilter{Record: "customer", ID: id}, input.Page{Number: 1, Size: maxAudit})
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		file.Audit = append(file.Audit,
			auditLine{line.At.In(actor.Company.Zone).Format(time.RFC3339), line.Who, line.Action, line.Changes})
	}
	return json.MarshalIndent(file, "", "  ")
}

// Erase deletes a customer and what every room keeps about them, in one
// transaction. The money that came stays in the books without a name.
func (s *Service) Erase(ctx context.Context, actor account.Actor, id int64) error {
	if err := actor.NotAttendant(); err != nil {
		return err
	}
	return actor.Write(ctx, s.db, func(tx account.Tx) error {
		record, err := customer.LockTx(ctx, tx, id)
		if err != nil {
			return err
		}
		for _, keeper := range s.keepers {
			err := keeper.EraseTx(ctx, tx, account.DataSubject{CustomerID: record.ID, UUID: record.UUID})
			if err != nil {
				return err
			}
		}
		if err := s.customers.EraseTx(ctx, tx, record); err != nil {
			return err
		}
		return account.EraseAuditTx(ctx, tx, "customer", record.ID)
	})
}
