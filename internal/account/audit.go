package account

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"carteira/internal/platform/input"
	"carteira/internal/platform/listing"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/watch"
)

// CommandLine is the From of an actor who types commands.
const CommandLine = "command line"

// AuditFields are the values of a record by the API's field names, for the audit
// log. Secrets are never among them.
type AuditFields map[string]any

// AuditEntry is what an actor did, on its way into the audit log.
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
	Batch   string // of the piece of work that it is a part of; "": of none
}

// FieldChange is a field before and after.
type FieldChange struct {
	Field         string
	Before, After string
}

// WriteAudit writes an entry into the audit log of the actor's company, in the
// transaction in which it was done. What the program does by itself leaves no
// line; an actor without a name or an address is an error of ours, since a line
// would be missing.
func WriteAudit(ctx context.Context, tx Tx, entry AuditEntry) error {
	if tx.Actor.written != nil && *tx.Actor.written == 0 {
		*tx.Actor.written = entry.ID
	}
	switch {
	case tx.Actor.Program != "":
		return nil
	case tx.Actor.UserID == 0 && tx.Actor.TokenID == 0 && tx.Actor.From == "":
		return fmt.Errorf("audit %s: the actor is zero; use System, Operator, or that of a request", entry.Action)
	}
	return insertAudit(ctx, tx, entry)
}

// Note writes an entry of something that changes nothing, as an export.
func (s *Service) Note(ctx context.Context, actor Actor, entry AuditEntry) error {
	return actor.Write(ctx, s.db, func(tx Tx) error { return WriteAudit(ctx, tx, entry) })
}

// WriteAuditEverywhere writes an entry into the audit log of every company: the
// operator does something to all of them at once.
func WriteAuditEverywhere(ctx context.Context, tx Tx, entry AuditEntry) error {
	if tx.Actor.Program != "" {
		return nil
	}
	all, err := companies(ctx, tx)
	if err != nil {
		return err
	}
	for _, company := range all {
		tx.Company = company
		if err := WriteAudit(ctx, tx, entry); err != nil {
			return err
		}
	}
	return nil
}

// WriteChildAudit writes an entry into the audit log of a child of the actor's
// company: what a company does to one of its children is in the logs of both.
// The line names the company; who of its people acted is in its own log.
func WriteChildAudit(ctx context.Context, tx Tx, childID int64, entry AuditEntry) error {
	if tx.Actor.Program != "" {
		return nil
	}
	return insertAudit(ctx, Actor{Company: Company{ID: childID}, Name: tx.Company.Name}.In(tx.Tx), entry)
}

// changedField is a field that differs, before and after.
type changedField struct {
	name          string
	before, after any
}

// changes are the fields that differ, in the order of their names.
func (e AuditEntry) changes() []changedField {
	changed := make([]changedField, 0, len(e.After))
	for name, after := range e.After {
		if before := e.Before[name]; plainText(before) != plainText(after) {
			changed = append(changed, changedField{name, before, after})
		}
	}
	for name, before := range e.Before {
		if _, kept := e.After[name]; !kept && plainText(before) != "" {
			changed = append(changed, changedField{name, before, nil})
		}
	}
	slices.SortFunc(changed, func(a, b changedField) int { return strings.Compare(a.name, b.name) })
	return changed
}

func plainText(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string: // most are
		return value
	}
	return fmt.Sprint(value)
}

// AuditFilter chooses lines of the audit log.
type AuditFilter struct {
	Record  string // with ID: the history of one record
	ID      int64
	UserID  int64     // of what one user did; 0: of anyone
	TokenID int64     // of what was done with one token; 0: with any, or none
	Batch   string    // of one piece of work over many records
	Since   time.Time // zero: from the beginning
	Until   time.Time // before this instant; zero: to the end
}

// Countable is how many lines the audit log counts and leads to: a log of years
// is looked through by its days, not page by page.
const Countable = 10_000

// Audit returns a page of the company's audit log, newest or oldest first, and how
// many lines there are, at most Countable.
func (s *Service) Audit(ctx context.Context, actor Actor, filter AuditFilter, page input.Page) ([]AuditLine, int64, error) {
	query := filter.query(actor.Company.ID)
	query.Most = Countable
	return auditTable.Page(ctx, s.db, query, page)
}

// AuditSubject is some records of a kind.
type AuditSubject struct {
	Record string
	IDs    []int64
}

// History returns the newest lines of the audit log that are about some records, at
// most limit of them.
func (s *Service) History(ctx context.Context, actor Actor, of []AuditSubject, limit int) ([]AuditLine, error) {
	lines := []AuditLine{}
	for _, subject := range of {
		if len(subject.IDs) == 0 {
			continue
		}
		query := listing.Query{CompanyID: actor.Company.ID}
		query.Where.And("l.record = ?", subject.Record)
		query.Where.And("l.record_id {in ?}", subject.IDs)
		found, err := auditTable.First(ctx, s.db, query, int64(limit))
		if err != nil {
			return nil, err
		}
		lines = append(lines, found...)
	}
	slices.SortFunc(lines, func(a, b AuditLine) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.ID, a.ID))
	})
	return lines[:min(len(lines), limit)], nil
}

// WalkAudit calls visit for every line of a filter, newest first. It has no
// transaction open while visit runs.
func (s *Service) WalkAudit(ctx context.Context, actor Actor, filter AuditFilter, visit func(AuditLine) error) error {
	return auditTable.Each(ctx, s.db, filter.query(actor.Company.ID), visit)
}

// auditBatch is how many lines one step of PruneAudit removes.
const auditBatch = 500

// PruneAudit removes lines older than keep, in small steps.
func (s *Service) PruneAudit(ctx context.Context, keep time.Duration) error {
	before := s.db.Now().Add(-keep)
	for removed := auditBatch; removed == auditBatch; {
		err := s.db.Write(ctx, func(tx *sqldb.Tx) error {
			// The oldest lines have the lowest ids.
			gone, err := sqldb.All(ctx, tx, ScanPruned, `DELETE FROM audit_log WHERE at < ? AND id IN (
				SELECT id FROM audit_log ORDER BY id LIMIT ? /* every company_id */)
				RETURNING company_id, id /* every company_id */`, before.UnixMicro(), auditBatch)
			if err != nil {
				return err
			}
			removed = len(gone)
			return TellPruned(ctx, tx, s.pruned, PrunedRows{"audit.pruned", gone})
		})
		if err != nil {
			return fmt.Errorf("prune the audit log: %w", err)
		}
	}
	return nil
}

// encode is the JSON of the fields that differ, an object of pairs: most of them
// are short plain texts, for which a map and reflection would take half of the
// time of a line.
func (e AuditEntry) encode() (string, error) {
	text := []byte{'{'}
	for n, field := range e.changes() {
		if n > 0 {
			text = append(text, ',')
		}
		var err error
		if text, err = field.append(text); err != nil {
			return "", fmt.Errorf("audit %s: %w", e.Action, err)
		}
	}
	return string(append(text, '}')), nil
}

func (f changedField) append(text []byte) ([]byte, error) {
	text, err := appendJSON(text, f.name)
	if err != nil {
		return nil, err
	}
	if text, err = appendJSON(append(text, ":["...), f.before); err != nil {
		return nil, err
	}
	if text, err = appendJSON(append(text, ','), f.after); err != nil {
		return nil, err
	}
	return append(text, ']'), nil
}

func appendJSON(text []byte, value any) ([]byte, error) {
	if plain, ok := value.(string); ok && isPlainASCII(plain) {
		return append(append(append(text, '"'), plain...), '"'), nil
	}
	encoded, err := json.Marshal(value)
	return append(text, encoded...), err
}

// isPlainASCII reports whether encoding/json leaves a text as it is.
func isPlainASCII(text string) bool {
	for n := range len(text) {
		switch c := text[n]; {
		case c < ' ', c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}

// Pruned are records of a company that were kept long enough and are gone.
type Pruned struct {
	CompanyID int64
	Kind      string // such as message.pruned
	IDs       []string
}

// PrunedRow is one of them, as a statement returns it.
type PrunedRow struct{ CompanyID, ID int64 }

// ScanPruned reads the columns company_id and id.
func ScanPruned(row sqldb.Row) (pruned PrunedRow, err error) {
	err = row.Scan(&pruned.CompanyID, &pruned.ID)
	return pruned, err
}

// PrunedRows are records of one kind, of any companies.
type PrunedRows struct {
	Kind string
	Rows []PrunedRow
}

// byCompany are the records of each company, in the order in which they went.
func (p PrunedRows) byCompany() []*Pruned {
	found := map[int64]*Pruned{}
	var list []*Pruned
	for _, row := range p.Rows {
		of := found[row.CompanyID]
		if of == nil {
			of = &Pruned{CompanyID: row.CompanyID, Kind: p.Kind}
			found[row.CompanyID], list = of, append(list, of)
		}
		of.IDs = append(of.IDs, strconv.FormatInt(row.ID, 10))
	}
	return list
}

// TellPruned calls a watcher once for each company that has lost records; nil
// sees nothing.
func TellPruned(ctx context.Context, tx *sqldb.Tx, watcher watch.Watcher[Pruned], gone PrunedRows) error {
	if watcher == nil {
		return nil
	}
	for _, of := range gone.byCompany() {
		if err := watcher(ctx, tx, *of); err != nil {
			return err
		}
	}
	return nil
}

// Kept are the rows of a table that say something about one person, as that
// person may read them: every value as a text, instants as times.
type Kept struct {
	Table string              `json:"table"`
	Rows  []map[string]string `json:"rows"`
}

// ReadKept reads what a room keeps about a person by statements with the same arguments, each SELECT of plain columns
// FROM one table. What is null or empty is left out.
func ReadKept(ctx context.Context, querier sqldb.Querier, args []any, statements ...string) ([]Kept, error) {
	kept := make([]Kept, len(statements))
	for n, statement := range statements {
		columns, from, _ := strings.Cut(strings.TrimPrefix(statement, "SELECT "), "FROM ")
		names := strings.Fields(strings.ReplaceAll(columns, ",", " "))
		texts := "CAST(" + strings.Join(names, " AS TEXT), CAST(") + " AS TEXT) "
		table, _, _ := strings.Cut(from, " ")
		rows, err := sqldb.All(ctx, querier, func(row sqldb.Row) (map[string]string, error) { return keptRow(row, names) },
			strings.Replace(statement, columns, texts, 1), args...)
		if err != nil {
			return nil, err
		}
		kept[n] = Kept{table, rows}
	}
	return kept, nil
}

func keptRow(from sqldb.Row, names []string) (map[string]string, error) {
	values := make([]*string, len(names))
	targets := make([]any, len(names))
	for i := range values {
		targets[i] = &values[i]
	}
	if err := from.Scan(targets...); err != nil {
		return nil, err
	}
	row := map[string]string{}
	for i, value := range values {
		if value != nil && *value != "" {
			row[names[i]] = readable(names[i], *value)
		}
	}
	return row, nil
}

// readable turns microseconds of a column that ends in _at into a time.
func readable(column, value string) string {
	micros, err := strconv.ParseInt(value, 10, 64)
	if err != nil || !strings.HasSuffix(column, "_at") {
		return value
	}
	if micros == 0 {
		return ""
	}
	return time.UnixMicro(micros).UTC().Format(time.RFC3339)
}
