package customer

import (
	"context"
	"math/rand/v2"

	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// readRoster reads a roster along three indexes, which have all that it takes: rows of
// customers are twenty times as long. Who changes in between is in a bucket whose stamp
// is another. It is nil where a roster has too few numbers.
func readRoster(ctx context.Context, querier sqldb.Querier, companyID int64) (*roster, error) {
	made := &roster{buckets: map[int64]*rosterBucket{}}
	for _, read := range []func(context.Context, sqldb.Querier, int64) (ok bool, err error){
		made.readKinds, made.readNames, made.readMoments,
	} {
		if ok, err := read(ctx, querier, companyID); err != nil || !ok {
			return nil, err
		}
	}
	return made, nil
}

func (r *roster) readKinds(ctx context.Context, querier sqldb.Querier, companyID int64) (ok bool, err error) {
	ok = true
	entries := map[int64][]entry{}
	err = sqldb.Each(ctx, querier, `
		SELECT id, due_on, COALESCE(plan_id, 0), COALESCE(product_id, 0), cancelled_at IS NOT NULL
		FROM customers WHERE company_id = ? AND {visible id}`, []any{companyID}, func(row sqldb.Row) error {
		var one member
		err := row.Scan(&one.id, &one.dueOn, &one.kind.planID, &one.kind.productID, &one.kind.cancelled)
		day, dated := r.days.code(one.dueOn)
		kind, known := r.kinds.code(one.kind)
		ok = ok && dated && known
		bucket := tally.BucketOf(one.id)
		entries[bucket] = append(entries[bucket], entry{placeOf(one.id), [...]uint16{byDay: day, byKind: kind, byMoment: 0}})
		return err
	})
	for bucket, of := range entries {
		r.buckets[bucket] = newRosterBucket(of)
	}
	return ok, err
}

// readNames takes a name in inRank, by chance: it begins a rank. SQLite's index has the
// order but not the names, for which it has to read a row.
func (r *roster) readNames(ctx context.Context, querier sqldb.Querier, companyID int64) (ok bool, err error) {
	err = sqldb.Each(ctx, querier, `
		SELECT id, CASE WHEN id * 40503 % 65536 < ? THEN name_key END
		FROM customers WHERE company_id = ? AND {visible id} ORDER BY name_key, id`, []any{65536 / inRank, companyID}, func(row sqldb.Row) error {
		var id int64
		var name *string
		err := row.Scan(&id, &name)
		if name != nil {
			r.names = append(r.names, rankAt[string]{*name, id})
		}
		if at := r.of(id); at != nil {
			at.in[byName] = uint16(len(r.names)) //nolint:gosec // it is said
		}
		return err
	})
	return len(r.names) < mostCodes, err
}

func (r *roster) readMoments(ctx context.Context, querier sqldb.Querier, companyID int64) (ok bool, err error) {
	ok = true
	err = sqldb.Each(ctx, querier, `
		SELECT id, updated_at FROM customers WHERE company_id = ? AND {visible id}
		ORDER BY updated_at, id`, []any{companyID}, func(row sqldb.Row) error {
		var id, updated int64
		err := row.Scan(&id, &updated)
		moment, ranked := r.moment(updated, id)
		if at := r.of(id); at != nil {
			at.in[byMoment] = moment
		}
		ok = ok && ranked
		return err
	})
	return ok, err
}

const memberColumns = `
	SELECT id, due_on, COALESCE(plan_id, 0), COALESCE(product_id, 0), cancelled_at IS NOT NULL, name_key, updated_at
	FROM customers WHERE company_id = ? AND {visible id} AND `

func scanMember(row sqldb.Row) (one member, err error) {
	err = row.Scan(&one.id, &one.dueOn, &one.kind.planID, &one.kind.productID, &one.kind.cancelled, &one.name, &one.updated)
	return one, err
}

// membersAmong reads some customers by their rows.
func membersAmong(ctx context.Context, querier sqldb.Querier, companyID int64, ids []int64) ([]member, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return sqldb.All(ctx, querier, scanMember, memberColumns+`id {in ?}`, companyID, ids)
}

// membersOf reads the customers of some buckets by their rows.
func membersOf(ctx context.Context, querier sqldb.Querier, companyID int64, buckets []int64) (all []member, err error) {
	for _, bucket := range buckets {
		some, err := sqldb.All(ctx, querier, scanMember, memberColumns+`id >= ? AND id < ?`,
			companyID, bucket*tally.BucketSize, (bucket+1)*tally.BucketSize)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// savedRoster reads what saveRoster has written, but for the names of its ranks. It is
// nil where nothing is saved, or not all of it.
func savedRoster(ctx context.Context, querier sqldb.Querier, companyID int64) (made *roster, err error) {
	var first, parts int64
	whole := true
	err = sqldb.Each(ctx, querier, `SELECT part, saving, data FROM saved_rosters WHERE company_id = ? ORDER BY part`,
		[]any{companyID}, func(row sqldb.Row) error {
			var part, saving int64
			var data []byte
			if err := row.Scan(&part, &saving, &data); err != nil || !whole {
				return err
			}
			if part == 0 {
				first = saving
				made, parts = rosterFrom(data)
				return nil
			}
			parts--
			whole = made != nil && saving == first && made.addPart(data)
			return nil
		})
	if !whole || parts != 0 {
		return nil, err
	}
	return made, err
}

// saveRoster writes a roster down, its head last: others may write their own meanwhile,
// and what is not of one saving is not believed.
func saveRoster(ctx context.Context, db *sqldb.DB, companyID int64, r *roster) error {
	saving := rand.Int64() //nolint:gosec // nobody gains by guessing it
	var last rosterPart
	for part := range r.parts() {
		if last.number > 0 {
			if err := db.WriteRelaxed(ctx, func(tx *sqldb.Tx) error { return savePart(ctx, tx, companyID, saving, last) }); err != nil {
				return err
			}
			if err := db.Yield(ctx); err != nil {
				return err
			}
		}
		last = part
	}
	head, err := r.head(last.number)
	if err != nil {
		return err
	}
	return db.WriteRelaxed(ctx, func(tx *sqldb.Tx) error {
		if err := savePart(ctx, tx, companyID, saving, last); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM saved_rosters WHERE company_id = ? AND part > ?`, companyID, last.number); err != nil {
			return err
		}
		return savePart(ctx, tx, companyID, saving, rosterPart{data: head})
	})
}

func savePart(ctx context.Context, tx *sqldb.Tx, companyID, saving int64, part rosterPart) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO saved_rosters (company_id, part, saving, data) VALUES (?, ?, ?, ?)
		ON CONFLICT (company_id, part) DO UPDATE SET saving = excluded.saving, data = excluded.data`,
		companyID, part.number, saving, part.data)
	return err
}
