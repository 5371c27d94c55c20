package account

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

// CommandLine is the From of an actor who types commands.
const CommandLine = "command line"

// AuditFields are the values of a record by the API's field names, for the audit
// log. Secrets are never among them.
type AuditFields map[string]any

// AuditEntry is what somebody did, on its way into the audit log.
type AuditEntry struct {
	Action string // such as customer.updated
	Record string // the kind of record: customer
	ID     int64
	Name   string      // of the record, for people
	Before AuditFields // nil: it was made
	After  AuditFields // nil: it is gone
}

// AuditLine is a line of the audit log.
type AuditLine struct {
	ID      int64
	At      time.Time
	UserID  int64 // 0: not a user
	TokenID int64 // 0: not a token
	Who     string
	Address string
	Action  string
	Record  string
	RecID   int64
	Name    string
	Changes []FieldChange
}

// FieldChange is a field before and after.
type FieldChange struct {
	Field         string
	Before, After string
}

// Note writes a deed into the audit log, in the transaction in which it was
// done. What the program does by itself leaves no line; an actor that is nobody
// is an error of ours, since a line would be missing.
func WriteAudit(ctx context.Context, tx *sqldb.Tx, a Actor, d AuditEntry) error {
	switch {
	case a.Program != "":
		return nil
	case a.UserID == 0 && a.TokenID == 0 && a.From == "":
		return fmt.Errorf("note %s: the actor is nobody; use System, Operator, or that of a request", d.Action)
	}
	changes, err := json.Marshal(d.changes())
	if err != nil {
		return fmt.Errorf("note %s: %w", d.Action, err)
	}
	return insertAudit(ctx, tx, a, d, string(changes))
}

// changes are the fields that differ, each before and after.
func (d AuditEntry) changes() map[string][2]any {
	changed := map[string][2]any{}
	for name, after := range d.After {
		if before := d.Before[name]; plainText(before) != plainText(after) {
			changed[name] = [2]any{before, after}
		}
	}
	for name, before := range d.Before {
		if _, kept := d.After[name]; !kept && plainText(before) != "" {
			changed[name] = [2]any{before, nil}
		}
	}
	return changed
}

func plainText(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// AuditFilter chooses lines of the audit log.
type AuditFilter struct {
	Record string // with ID: the history of one record
	ID     int64
}

// Audit returns a page of the company's audit log, newest first, and how many
// lines there are.
func (s *Service) Audit(ctx context.Context, a Actor, f AuditFilter, page input.Page) ([]AuditLine, int64, error) {
	total, err := countAudit(ctx, s.db, a.Company.ID, f)
	if err != nil || page.Offset() >= total {
		return []AuditLine{}, total, err
	}
	list, err := auditLines(ctx, s.db, a.Company.ID, f, page)
	return list, total, err
}

// auditBatch is how many lines one step of PruneAudit removes.
const auditBatch = 500

// PruneAudit removes lines older than keep, in small steps.
func (s *Service) PruneAudit(ctx context.Context, keep time.Duration) error {
	before := s.db.Now().Add(-keep)
	for removed := int64(auditBatch); removed == auditBatch; {
		err := s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
			removed, err = pruneAudit(ctx, tx, before, auditBatch)
			return err
		})
		if err != nil {
			return fmt.Errorf("prune the audit log: %w", err)
		}
	}
	return nil
}
