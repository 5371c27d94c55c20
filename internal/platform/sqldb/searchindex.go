package sqldb

import (
	"context"
	"fmt"
)

// SQLite's search index takes in new texts after their commit, many together:
// FTS5 writes out what it has gathered at the end of every statement that changes
// it, which costs as much for one text as for a hundred. A customer is in the
// index or in customers_unindexed, never in both (migration 0037), and a search
// reads both. The latter are those past the last id that was indexed, so that a
// new one writes nothing for it, and those of a queue, whose text has changed.
// The commit that makes it maxUnindexed takes them all in, which
// spares a commit of its own and bounds what a search reads without the index;
// IndexSearch takes in those who wait for others in vain.
const (
	countUnindexed = `SELECT count(*) FROM (SELECT 1 FROM customers_unindexed LIMIT ?)`
	// The three characters stand for the company; see companyToken.
	addNewTexts = `INSERT INTO customers_search (rowid, text) /* every company_id */
	SELECT c.id, char(57344 + c.company_id % 6400, 57344 + c.company_id / 6400 % 6400, 57344 + c.company_id / 40960000 % 6400)
		|| char(10) || c.search
	FROM customers_unindexed u CROSS JOIN customers c ON c.id = u.id`
	emptyQueue  = `DELETE FROM customers_index_queue`
	moveIndexed = `UPDATE customers_indexed SET last_id = max(last_id, (
		SELECT COALESCE(max(id), 0) FROM customers)) WHERE one = 1 /* every company_id */`
	addToQueue = `INSERT INTO customers_index_queue (id) SELECT value FROM json_each(?)
	WHERE value <= (SELECT last_id FROM customers_indexed WHERE one = 1) ON CONFLICT (id) DO NOTHING`
)

// maxUnindexed is how many texts wait for the index at most. More would cost
// searches more than they save writers.
const maxUnindexed = 64

// unindexed names the tables that say which rows of another wait for its search
// index. The index of a table that is not named here never lags.
var unindexed = map[string]lag{"customers": {queue: "customers_index_queue", indexed: "customers_indexed"}}

// lag is how far an index is behind: the rows of its queue, and those past the last
// id that was indexed.
type lag struct{ queue, indexed string }

// sources find the rows w that wait, in the order of their ids.
func (l lag) sources(table string) []string {
	return []string{
		fmt.Sprintf("SELECT u.id FROM %s u CROSS JOIN %s w ON w.id = u.id WHERE", l.queue, table),
		fmt.Sprintf("SELECT w.id FROM %s w WHERE w.id > (SELECT last_id FROM %s WHERE one = 1) AND", table, l.indexed),
	}
}

// AwaitIndex has the search index take in new customers whose ids were reserved:
// the index may have passed these ids. All others it knows by their ids.
func AwaitIndex(ctx context.Context, tx *Tx, ids []int64) error {
	if tx.Engine() != SQLite {
		return nil
	}
	_, err := tx.Exec(ctx, addToQueue, ids)
	return err
}

// IndexSearch has the search index take in all that waits for it. Any number of
// processes may call it: texts are indexed in the transaction that forgets them.
func (db *DB) IndexSearch(ctx context.Context) error {
	if db.Engine() != SQLite {
		return nil // GIN has a pending list of its own
	}
	waiting, err := Value[int](ctx, db, countUnindexed, 1)
	if err != nil || waiting == 0 {
		return err
	}
	return db.Write(ctx, func(tx *Tx) error { return takeIn(ctx, tx) })
}

// SearchLook finds whether IndexSearch has anything to take in.
func (db *DB) SearchLook() Look {
	if db.Engine() != SQLite {
		return Look{Text: "SELECT 1 WHERE FALSE"}
	}
	return Look{Text: "SELECT 1 FROM customers_unindexed /* every company_id */"}
}

func takeIn(ctx context.Context, querier Querier) error {
	for _, text := range []string{addNewTexts, emptyQueue, moveIndexed} {
		if _, err := querier.exec(ctx, text, nil); err != nil {
			return fmt.Errorf("bring the search index up to date: %w", querier.translate(err))
		}
	}
	return nil
}

// index has the search index take in what waits for it, when it is many.
func (g *group) index(ctx context.Context) error {
	waiting, err := Value[int](ctx, g.writer, countUnindexed, maxUnindexed)
	if err != nil || waiting < maxUnindexed {
		return err
	}
	return takeIn(ctx, g.writer)
}
