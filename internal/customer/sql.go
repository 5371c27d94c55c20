package customer

import (
	"context"
	"errors"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
)

const columns = `c.id, c.uuid, c.name, c.whatsapp, c.email, c.usuario, c.due_on, c.own_day,
	COALESCE(c.plan_id, 0), COALESCE(p.name, ''), COALESCE(p.value_cents, 0),
	COALESCE(c.product_id, 0), COALESCE(r.name, ''),
	c.notes, c.external_id, c.created_at, c.updated_at`

const joins = ` LEFT JOIN customer_plans p ON p.company_id = c.company_id AND p.id = c.plan_id
	LEFT JOIN products r ON r.company_id = c.company_id AND r.id = c.product_id`

func scan(r sqldb.Row) (c Customer, err error) {
	var created, updated int64
	err = r.Scan(&c.ID, &c.UUID, &c.Name, &c.Whatsapp, &c.Email, &c.Usuario, &c.DueOn, &c.OwnDay,
		&c.Plan.ID, &c.Plan.Name, (*int64)(&c.Plan.Value), &c.Product.ID, &c.Product.Name,
		&c.Notes, &c.ExternalID, &created, &updated)
	c.CreatedAt, c.UpdatedAt = time.UnixMicro(created), time.UnixMicro(updated)
	return c, err
}

func byID(ctx context.Context, q sqldb.Querier, companyID, id int64) (Customer, error) {
	c, err := sqldb.One(ctx, q, scan, `SELECT `+columns+` FROM customers c`+joins+` WHERE c.company_id = ? AND c.id = ?`, companyID, id)
	return c, sqldb.Found(err, "customer")
}

// lock reads a customer for a change: until the commit nobody else changes it.
// The row is locked first and read after, so that what is read is the newest.
func lock(ctx context.Context, tx *sqldb.Tx, companyID, id int64) (Customer, error) {
	_, err := sqldb.Value[int64](ctx, tx, `SELECT id FROM customers WHERE company_id = ? AND id = ? {for update}`, companyID, id)
	if err != nil {
		return Customer{}, sqldb.Found(err, "customer")
	}
	return byID(ctx, tx, companyID, id)
}

// rows reads the customers of a window, newest first. CROSS JOIN makes SQLite
// begin with the ids; left to itself it reads all customers of the company.
func rows(ctx context.Context, q sqldb.Querier, companyID int64, w window) ([]Customer, error) {
	direction := " DESC"
	if !w.descending {
		direction = " ASC"
	}
	args := append(append([]any{}, w.Where.Args...), w.limit, w.offset, companyID)
	return sqldb.All(ctx, q, scan, `
		WITH page AS MATERIALIZED (
			SELECT c.id FROM `+w.From+w.Where.String()+` ORDER BY `+w.Order+direction+` LIMIT CAST(? AS BIGINT) OFFSET CAST(? AS BIGINT)
		)
		SELECT `+columns+` FROM page CROSS JOIN customers c`+joins+`
		WHERE c.id = page.id AND c.company_id = ? ORDER BY c.id DESC`, args...)
}

func countRows(ctx context.Context, q sqldb.Querier, s sqldb.Source) (int64, error) {
	return sqldb.Value[int64](ctx, q, `SELECT count(*) FROM `+s.From+s.Where.String(), s.Where.Args...)
}

// insert returns 0 when another customer has the login or the key.
func insert(ctx context.Context, tx *sqldb.Tx, companyID int64, c Customer) (int64, error) {
	id, err := sqldb.Value[int64](ctx, tx, `
		INSERT INTO customers (company_id, uuid, name, whatsapp, email, usuario, usuario_key, external_id,
			due_on, own_day, plan_id, product_id, notes, search, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`,
		companyID, c.UUID, c.Name, c.Whatsapp, c.Email, c.Usuario, text.Lower(c.Usuario), c.ExternalID,
		c.DueOn, c.OwnDay, sqldb.RefTo(c.Plan.ID), sqldb.RefTo(c.Product.ID), c.Notes, searchText(c),
		c.CreatedAt.UnixMicro(), c.UpdatedAt.UnixMicro())
	if errors.Is(err, sqldb.ErrNotFound) {
		return 0, nil
	}
	return id, err
}

func update(ctx context.Context, tx *sqldb.Tx, companyID int64, c Customer) error {
	_, err := tx.Exec(ctx, `
		UPDATE customers SET name = ?, whatsapp = ?, email = ?, usuario = ?, usuario_key = ?, external_id = ?,
			due_on = ?, own_day = ?, plan_id = ?, product_id = ?, notes = ?, search = ?, updated_at = ?
		WHERE company_id = ? AND id = ?`,
		c.Name, c.Whatsapp, c.Email, c.Usuario, text.Lower(c.Usuario), c.ExternalID,
		c.DueOn, c.OwnDay, sqldb.RefTo(c.Plan.ID), sqldb.RefTo(c.Product.ID), c.Notes, searchText(c), c.UpdatedAt.UnixMicro(),
		companyID, c.ID)
	return err
}

func remove(ctx context.Context, tx *sqldb.Tx, companyID, id int64) error {
	_, err := tx.Exec(ctx, `DELETE FROM customers WHERE company_id = ? AND id = ?`, companyID, id)
	return err
}

// taken reports whether another customer has c's login or key.
func taken(ctx context.Context, q sqldb.Querier, companyID int64, c Customer) (usuario, external bool, err error) {
	has := func(column, value string) (bool, error) {
		if value == "" {
			return false, nil
		}
		n, err := sqldb.Value[int64](ctx, q, `
			SELECT count(*) FROM customers WHERE company_id = ? AND `+column+` = ? AND `+column+` <> '' AND id <> ?`,
			companyID, value, c.ID)
		return n > 0, err
	}
	if usuario, err = has("usuario_key", text.Lower(c.Usuario)); err != nil {
		return false, false, err
	}
	external, err = has("external_id", c.ExternalID)
	return usuario, external, err
}

func appendDelta(ctx context.Context, tx *sqldb.Tx, companyID int64, p place, n int64) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO customer_deltas (company_id, bucket, due_on, plan_id, product_id, n) VALUES (?, ?, ?, ?, ?, ?)`,
		companyID, p.bucket, p.dueOn, p.planID, p.productID, n)
	return err
}

func total(ctx context.Context, q sqldb.Querier, companyID int64) (int64, error) {
	return sqldb.Value[int64](ctx, q, `
		SELECT COALESCE((SELECT n FROM customer_totals WHERE company_id = ?), 0)
			+ COALESCE((SELECT CAST(SUM(n) AS BIGINT) FROM customer_deltas WHERE company_id = ?), 0)`, companyID, companyID)
}

func tallied(ctx context.Context, q sqldb.Querier, companyID, planID, productID int64, d due) (int64, error) {
	var w sqldb.Where
	w.And("company_id = ?", companyID)
	if planID != 0 {
		w.And("plan_id = ?", planID)
	}
	if productID != 0 {
		w.And("product_id = ?", productID)
	}
	d.conditions(&w, "due_on", "= ''")
	return sqldb.Value[int64](ctx, q, `
		SELECT COALESCE((SELECT CAST(SUM(n) AS BIGINT) FROM customer_counts`+w.String()+`), 0)
			+ COALESCE((SELECT CAST(SUM(n) AS BIGINT) FROM customer_deltas`+w.String()+`), 0)`, append(append([]any{}, w.Args...), w.Args...)...)
}

func countBy(ctx context.Context, q sqldb.Querier, companyID int64, column string, ids []int64) (map[int64]int64, error) {
	counts := make(map[int64]int64, len(ids))
	if len(ids) == 0 {
		return counts, nil
	}
	one := []any{companyID}
	for _, id := range ids {
		one = append(one, id)
	}
	in := ` WHERE company_id = ? AND ` + column + ` IN (` + sqldb.Marks(len(ids)) + `)`
	err := sqldb.Each(ctx, q, `
		SELECT id, CAST(SUM(n) AS BIGINT) FROM (
			SELECT `+column+` AS id, n FROM customer_counts`+in+`
			UNION ALL SELECT `+column+` AS id, n FROM customer_deltas`+in+`
		) AS counted GROUP BY id`, append(one, one...), func(r sqldb.Row) error {
		var id, n int64
		err := r.Scan(&id, &n)
		counts[id] = n
		return err
	})
	return counts, err
}

// bucketAt finds the bucket in which the customer at an offset of the newest
// first list stands: the ids below which it is, and how many stand above.
func bucketAt(ctx context.Context, q sqldb.Querier, companyID, offset int64) (below, skipped int64, err error) {
	found := false
	err = sqldb.Each(ctx, q, `
		SELECT bucket, CAST(SUM(n) AS BIGINT) FROM (
			SELECT bucket, n FROM customer_buckets WHERE company_id = ?
			UNION ALL SELECT bucket, n FROM customer_deltas WHERE company_id = ?
		) AS counted GROUP BY bucket ORDER BY bucket DESC`, []any{companyID, companyID}, func(r sqldb.Row) error {
		var bucket, n int64
		if err := r.Scan(&bucket, &n); err != nil || found {
			return err
		}
		if skipped+n > offset {
			below, found = (bucket+1)*bucketSize, true
			return nil
		}
		skipped += n
		return nil
	})
	return below, skipped, err
}

// stamp changes with every change of a company's customers. The number and
// the sum of the deltas tell a late commit apart, which their highest id would
// not; folding counts up.
type stamp struct{ folds, deltas, sum int64 }

func stampOf(ctx context.Context, q sqldb.Querier, companyID int64) (stamp, error) {
	return sqldb.One(ctx, q, func(r sqldb.Row) (s stamp, err error) {
		err = r.Scan(&s.folds, &s.deltas, &s.sum)
		return s, err
	}, `SELECT COALESCE((SELECT folds FROM customer_totals WHERE company_id = ?), 0), count(*), COALESCE(CAST(SUM(id) AS BIGINT), 0)
		FROM customer_deltas WHERE company_id = ?`, companyID, companyID)
}

func companiesWithDeltas(ctx context.Context, q sqldb.Querier) ([]int64, error) {
	return sqldb.All(ctx, q, func(r sqldb.Row) (id int64, err error) {
		err = r.Scan(&id)
		return id, err
	}, `SELECT DISTINCT company_id FROM customer_deltas`)
}

type delta struct {
	place
	n int64
}

func takeDeltas(ctx context.Context, tx *sqldb.Tx, companyID int64, limit int) ([]delta, error) {
	return sqldb.All(ctx, tx, func(r sqldb.Row) (d delta, err error) {
		err = r.Scan(&d.bucket, &d.dueOn, &d.planID, &d.productID, &d.n)
		return d, err
	}, `DELETE FROM customer_deltas WHERE company_id = ? AND id IN (
			SELECT id FROM customer_deltas WHERE company_id = ? ORDER BY id LIMIT ?
		) RETURNING bucket, due_on, plan_id, product_id, n`, companyID, companyID, limit)
}

// addSums adds deltas to the sums, each sum once.
func addSums(ctx context.Context, tx *sqldb.Tx, companyID int64, deltas []delta) error {
	var all int64
	buckets, places := map[int64]int64{}, map[place]int64{}
	for _, d := range deltas {
		all += d.n
		buckets[d.bucket] += d.n
		d.bucket = 0
		places[d.place] += d.n
	}
	for bucket, n := range buckets {
		if err := addTo(ctx, tx, "customer_buckets", []string{"bucket"}, n, companyID, bucket); err != nil {
			return err
		}
	}
	for p, n := range places {
		columns := []string{"due_on", "plan_id", "product_id"}
		if err := addTo(ctx, tx, "customer_counts", columns, n, companyID, p.dueOn, p.planID, p.productID); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO customer_totals (company_id, n, folds) VALUES (?, ?, 1)
		ON CONFLICT (company_id) DO UPDATE SET n = customer_totals.n + excluded.n, folds = customer_totals.folds + 1`, companyID, all)
	return err
}

// addTo adds n to a sum and takes away one that has come to nothing.
func addTo(ctx context.Context, tx *sqldb.Tx, table string, key []string, n int64, args ...any) error {
	if n == 0 {
		return nil
	}
	columns, match := "company_id", "company_id = ?"
	for _, k := range key {
		columns += ", " + k
		match += " AND " + k + " = ?"
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO `+table+` (`+columns+`, n) VALUES (`+sqldb.Marks(len(args)+1)+`)
		ON CONFLICT (`+columns+`) DO UPDATE SET n = `+table+`.n + excluded.n`, append(args[:len(args):len(args)], n)...)
	if err != nil || n > 0 {
		return err
	}
	_, err = tx.Exec(ctx, `DELETE FROM `+table+` WHERE `+match+` AND n = 0`, args...)
	return err
}
