package account

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

func insertAudit(ctx context.Context, tx *sqldb.Tx, a Actor, e AuditEntry) error {
	changes, err := json.Marshal(e.changes())
	if err != nil {
		return fmt.Errorf("audit %s: %w", e.Action, err)
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO audit_log (company_id, at, user_id, token_id, who, address, action, record, record_id, name, changes)
		VALUES (?, ?, ?, ?, COALESCE((SELECT name FROM api_tokens WHERE company_id = ? AND id = ?), ?), ?, ?, ?, ?, ?, ?)`,
		a.Company.ID, tx.Now().UnixMicro(), sqldb.RefTo(a.UserID), sqldb.RefTo(a.TokenID), a.Company.ID, a.TokenID, a.Name, a.From,
		e.Action, e.Record, e.ID, e.Name, string(changes))
	return err
}

// auditFunctions writes the line of applyFunctions into the logs of all
// children on a plan, as WriteChildAudit does for one.
func auditFunctions(ctx context.Context, tx *sqldb.Tx, a Actor, c FunctionsChange) error {
	if a.Program != "" {
		return nil
	}
	entry := AuditEntry{
		Before: AuditFields{"functions": functionsAudit(c.Before)}, After: AuditFields{"functions": functionsAudit(c.After)},
	}
	changes, err := json.Marshal(entry.changes())
	if err != nil {
		return fmt.Errorf("audit functions of plan %d: %w", c.PlanID, err)
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO audit_log (company_id, at, who, address, action, record, record_id, name, changes)
		SELECT id, CAST(? AS BIGINT), CAST(? AS TEXT), '', 'company.updated', 'company', id, name, CAST(? AS TEXT) FROM companies
		WHERE parent_id = ? AND subscription_plan_id = ? ORDER BY id`,
		tx.Now().UnixMicro(), a.Company.Name, string(changes), a.Company.ID, c.PlanID)
	return err
}

func (f AuditFilter) where(companyID int64) (w sqldb.Where) {
	w.And("company_id = ?", companyID)
	if f.Record != "" {
		w.And("record = ?", f.Record)
	}
	if f.ID != 0 {
		w.And("record_id = ?", f.ID)
	}
	if !f.Since.IsZero() {
		w.And("at >= ?", f.Since.UnixMicro())
	}
	return w
}

func countAudit(ctx context.Context, q sqldb.Querier, companyID int64, f AuditFilter) (int64, error) {
	w := f.where(companyID)
	return sqldb.Value[int64](ctx, q, `SELECT count(*) FROM audit_log`+w.String(), w.Args...)
}

func auditLines(ctx context.Context, q sqldb.Querier, companyID int64, f AuditFilter, page input.Page) ([]AuditLine, error) {
	w := f.where(companyID)
	return sqldb.All(ctx, q, scanAuditLine, `
		SELECT id, at, COALESCE(user_id, 0), COALESCE(token_id, 0), who, address, action, record, record_id, name, changes
		FROM audit_log`+w.String()+` ORDER BY id DESC LIMIT CAST(? AS BIGINT) OFFSET CAST(? AS BIGINT)`, append(w.Args, page.Size, page.Offset())...)
}

func scanAuditLine(r sqldb.Row) (e AuditLine, err error) {
	var at int64
	var changes string
	err = r.Scan(&e.ID, &at, &e.UserID, &e.TokenID, &e.Who, &e.Address, &e.Action, &e.Record, &e.RecID, &e.Name, &changes)
	if err != nil {
		return e, err
	}
	e.At = time.UnixMicro(at)
	e.Changes, err = readChanges(changes)
	return e, err
}

func readChanges(stored string) ([]FieldChange, error) {
	var fields map[string][2]any
	if err := json.Unmarshal([]byte(stored), &fields); err != nil {
		return nil, fmt.Errorf("read changes: %w", err)
	}
	list := make([]FieldChange, 0, len(fields))
	for name, pair := range fields {
		list = append(list, FieldChange{name, plainText(pair[0]), plainText(pair[1])})
	}
	slices.SortFunc(list, func(a, b FieldChange) int { return strings.Compare(a.Field, b.Field) })
	return list, nil
}

func pruneAudit(ctx context.Context, tx *sqldb.Tx, before time.Time, limit int) (int64, error) {
	return tx.Exec(ctx, `DELETE FROM audit_log WHERE id IN (
		SELECT id FROM audit_log WHERE at < ? ORDER BY at LIMIT ? /* every company_id */) /* every company_id */`, before.UnixMicro(), limit)
}

func eraseAudit(ctx context.Context, tx *sqldb.Tx, companyID int64, record string, id int64) error {
	_, err := tx.Exec(ctx, `UPDATE audit_log SET name = '', changes = '{}' WHERE company_id = ? AND record = ? AND record_id = ?`,
		companyID, record, id)
	return err
}
