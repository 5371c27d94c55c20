package account

import (
	"context"

	"carteira/internal/platform/sqldb"
)

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

func upsertView(ctx context.Context, tx *sqldb.Tx, actor Actor, view View) (int64, error) {
	return sqldb.Value[int64](ctx, tx, `
		INSERT INTO list_views (company_id, user_id, list, name, query, created_at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (company_id, user_id, list, name) DO UPDATE SET query = excluded.query RETURNING id`,
		actor.Company.ID, actor.UserID, string(view.List), view.Name, view.Query, tx.Now().UnixMicro())
}

func deleteView(ctx context.Context, tx *sqldb.Tx, actor Actor, id int64) (View, error) {
	return sqldb.One(ctx, tx, scanView, `
		DELETE FROM list_views WHERE company_id = ? AND user_id = ? AND id = ? RETURNING id, list, name, query`,
		actor.Company.ID, actor.UserID, id)
}

// readingColumns reads nothing for who has chosen none.
func readingColumns(actor Actor, list List, into *[]string) sqldb.Statement {
	scan := func(row sqldb.Row) (columns string, err error) {
		err = row.Scan(&columns)
		return columns, err
	}
	return sqldb.Listing(into, scan, `
		SELECT columns FROM list_columns WHERE company_id = ? AND user_id = ? AND list = ?`,
		actor.Company.ID, actor.UserID, string(list))
}

func saveColumns(ctx context.Context, tx *sqldb.Tx, actor Actor, list List, columns string) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO list_columns (company_id, user_id, list, columns) VALUES (?, ?, ?, ?)
		ON CONFLICT (company_id, user_id, list) DO UPDATE SET columns = excluded.columns`,
		actor.Company.ID, actor.UserID, string(list), columns)
	return err
}
