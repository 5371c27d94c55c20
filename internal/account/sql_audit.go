package account

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/listing"
	"carteira/internal/platform/rows"
	"carteira/internal/platform/sqldb"
)

func insertAudit(ctx context.Context, tx Tx, entry AuditEntry) error {
	changes, err := entry.encode()
	if err != nil {
		return err
	}
	return tx.Queue(ctx, `
		INSERT INTO audit_log (company_id, at, user_id, token_id, who, address, action, record, record_id, name, changes, batch)
		VALUES (?, ?, ?, ?, COALESCE((SELECT name FROM api_tokens WHERE company_id = ? AND id = ?), ?), ?, ?, ?, ?, ?, ?, ?)`,
		tx.Company.ID, tx.Now().UnixMicro(), sqldb.RefTo(tx.Actor.UserID),
		sqldb.RefTo(tx.Actor.TokenID), tx.Company.ID, tx.Actor.TokenID, tx.Actor.Name, tx.Actor.From,
		entry.Action, entry.Record, entry.ID, entry.Name, changes, tx.Actor.Batch)
}

// auditFunctions writes the line of applyFunctions into the logs of all
// children on a plan, as WriteChildAudit does for one.
func auditFunctions(ctx context.Context, tx Tx, change FunctionsChange) error {
	if tx.Actor.Program != "" {
		return nil
	}
	entry := AuditEntry{
		Before: AuditFields{"functions": functionsAudit(change.Before)},
		After:  AuditFields{"functions": functionsAudit(change.After)},
	}
	changes, err := entry.encode()
	if err != nil {
		return fmt.Errorf("audit functions of plan %d: %w", change.PlanID, err)
	}
	return tx.Do(ctx, `
		INSERT INTO audit_log (company_id, at, who, address, action, record, record_id, name, changes)
		SELECT id, CAST(? AS BIGINT), CAST(? AS TEXT), '', 'company.updated', 'company', id, name, CAST(? AS TEXT) FROM companies
		WHERE parent_id = ? AND subscription_plan_id = ? ORDER BY id`,
		tx.Now().UnixMicro(), tx.Company.Name, changes, tx.Company.ID, change.PlanID)
}

// auditTable is the audit log in the order of time, which is not quite that of the
// ids: a line has the instant at which its transaction began.
var auditTable = listing.Table[AuditLine]{
	From: "audit_log l", ID: "l.id", Owner: "l.company_id",
	Columns: `l.id, l.at, COALESCE(l.user_id, 0), COALESCE(l.token_id, 0), l.who, l.address, l.action, l.record, l.record_id, l.name,
		l.changes, l.batch`,
	Scan: scanAuditLine, RowID: func(line AuditLine) int64 { return line.ID },
	Orders: map[string]listing.Order{input.ByID: {Column: "l.at"}},
}

func (f AuditFilter) query(companyID int64) listing.Query {
	query := listing.Query{CompanyID: companyID}
	query.Where.If(f.Record != "", "l.record = ?", f.Record)
	query.Where.If(f.ID != 0, "l.record_id = ?", f.ID)
	query.Where.If(f.UserID != 0, "l.user_id = ?", f.UserID)
	query.Where.If(f.TokenID != 0, "l.token_id = ?", f.TokenID)
	query.Where.If(f.Batch != "", "l.batch = ? AND l.batch <> ''", f.Batch)
	query.Where.If(!f.Since.IsZero(), "l.at >= ?", f.Since.UnixMicro())
	query.Where.If(!f.Until.IsZero(), "l.at < ?", f.Until.UnixMicro())
	return query
}

func scanAuditLine(row sqldb.Row) (line AuditLine, err error) {
	var changes string
	err = row.Scan(&line.ID, (*civil.Instant)(&line.At), &line.UserID, &line.TokenID, &line.Who, &line.Address, &line.Action, &line.Record,
		&line.RecID, &line.Name, &changes, &line.Batch)
	if err != nil {
		return line, err
	}
	line.Changes, err = readChanges(changes)
	return line, err
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

func scanView(row sqldb.Row) (view View, err error) {
	err = row.Scan(&view.ID, (*string)(&view.List), &view.Name, &view.Query)
	return view, err
}

func readingViews(actor Actor, list List, into *[]View) sqldb.Statement {
	return sqldb.Listing(into, scanView, `
		SELECT id, list, name, query FROM list_views
		WHERE company_id = ? AND user_id = ? AND list = ? ORDER BY name`,
		actor.Company.ID, actor.UserID, string(list))
}

// readingColumns reads nothing for who has chosen none.
func readingColumns(actor Actor, list List, into *[]string) sqldb.Statement {
	scan := rows.Into(func(columns *string) []any { return []any{columns} })
	return sqldb.Listing(into, scan, `
		SELECT columns FROM list_columns WHERE company_id = ? AND user_id = ? AND list = ?`,
		actor.Company.ID, actor.UserID, string(list))
}
