package billing

import (
	"context"
	"fmt"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// An instant of the books is read by the clock that it was written with: PaidAt
// and CreatedAt have the offset of the company's zone at that time, and a row
// stores it with the day. So the date inside paid_at is always the day that
// lists, filters and sums use, wherever the company moves.

// instantAt is an instant by the clock of its row; zero where there is none.
func instantAt(micros int64, offset int) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).In(time.FixedZone("", offset))
}

// offsetOf is how far east of UTC the clock of an instant is, in seconds.
func offsetOf(at time.Time) int {
	_, offset := at.Zone()
	return offset
}

// quarter is what offsets of zones are multiples of.
const quarter = 15 * 60

// offsetGiving returns the offset, nearest to that of a zone, at which an instant
// is on a day: most likely the offset of the zone which the company had then.
// Where no zone of the world has that day, it is the company's.
func offsetGiving(at time.Time, day civil.Date, zone *time.Location) int {
	own := offsetOf(at.In(zone))
	begins := int(day.Start(time.UTC).Unix() - at.Unix()) // an offset by which the day begins at that instant
	least, most := ceilTo(begins, quarter), begins+24*60*60-1
	most -= ((most % quarter) + quarter) % quarter
	offset := min(max(own, least), most)
	if offset < -14*60*60 || offset > 14*60*60 {
		return own
	}
	return offset
}

func ceilTo(n, step int) int { return n + ((-n%step)+step)%step }

// fillBatch bounds one transaction of Fill.
const fillBatch = 1000

// Fill completes the rows of a database that an earlier version made, where a
// migration in SQL cannot: the offsets of their days need the company's time
// zone. It goes on where an earlier run was broken off, and costs a look into
// empty indexes when nothing is left.
func (s *Service) Fill(ctx context.Context) error {
	looks := make([]sqldb.Statement, len(dayTables))
	for i, table := range dayTables {
		looks[i] = sqldb.Statement{Text: table.find, Args: []any{1}}
	}
	left, err := sqldb.Looks(ctx, s.db, looks)
	if err != nil {
		return fmt.Errorf("fill in days: %w", err)
	}
	zones := map[int64]*time.Location{}
	for i, table := range dayTables {
		for filled := fillBatch; left[i] && filled == fillBatch; {
			err := s.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
				filled, err = table.fill(ctx, tx, zones)
				return err
			})
			if err != nil {
				return fmt.Errorf("fill in days: %w", err)
			}
		}
	}
	return nil
}

// unfilledDays are the instants of a row that lacks their offsets; one may be missing.
type unfilledDays struct {
	id, company int64
	created     written
	paid        written
}

// written is an instant and the day on which it counts.
type written struct {
	micros int64
	on     civil.Date
}

// offsets is what the rows of one company have in common.
type offsets struct {
	company int64
	created int
	paid    int
	isPaid  bool
}

func (t dayTable) fill(ctx context.Context, tx *sqldb.Tx, zones map[int64]*time.Location) (int, error) {
	rows, err := t.unfilled(ctx, tx, fillBatch)
	if err != nil {
		return 0, err
	}
	groups := map[offsets][]int64{}
	for _, row := range rows {
		zone, err := zoneOf(ctx, tx, zones, row.company)
		if err != nil {
			return 0, err
		}
		key := offsets{
			company: row.company,
			created: row.created.offset(zone),
			paid:    row.paid.offset(zone),
			isPaid:  row.paid.micros != 0,
		}
		groups[key] = append(groups[key], row.id)
	}
	for key, ids := range groups {
		if err := t.write(ctx, tx, key, ids); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}

func (w written) offset(zone *time.Location) int {
	if w.micros == 0 {
		return 0
	}
	return offsetGiving(time.UnixMicro(w.micros), w.on, zone)
}

func zoneOf(ctx context.Context, tx *sqldb.Tx, zones map[int64]*time.Location, companyID int64) (*time.Location, error) {
	if zone, known := zones[companyID]; known {
		return zone, nil
	}
	found, err := account.FindCompany(ctx, tx, companyID)
	zones[companyID] = found.Zone
	return found.Zone, err
}

// keepClosed refuses a change of the sums of a day with closed books. A move
// within a day, as at the deletion of a customer, changes none. Only changes of
// past days read the company: a day that has not ended is never closed.
func keepClosed(ctx context.Context, tx account.Tx, changes []tally.Change) error {
	today, first := tx.Today(tx.Now()).String(), ""
	sums := map[string]tally.Sums{}
	for _, change := range changes {
		sum := sums[change.Day]
		sums[change.Day] = tally.Sums{N: sum.N + change.N, Cents: sum.Cents + change.Cents}
	}
	for day, sum := range sums {
		if sum != (tally.Sums{}) && day < today && (first == "" || day < first) {
			first = day
		}
	}
	if first == "" {
		return nil
	}
	closed, err := account.ClosedThroughTx(ctx, tx)
	if err == nil && first <= closed.String() {
		return fault.Field("books_closed_through", "the books are closed through "+closed.String())
	}
	return err
}

// firstOpen is the first day of the books that is not closed; zero: all are open.
func firstOpen(actor account.Actor) civil.Date {
	closed := actor.Company.Settings.ClosedThrough
	if closed.IsZero() {
		return closed
	}
	return closed.AddDays(1)
}

// postpone has money that a gateway reports late count on the first open day: it
// came, and cannot be refused.
func (p *Payment) postpone(actor account.Actor, now time.Time) {
	if open := firstOpen(actor); !p.byPerson() && p.PaidOn.Before(open) {
		p.PaidAt, p.PaidOn = paidTime(actor, now, open).In(actor.Company.Zone), open
	}
}

// settledBy is how changes of invoices move the counter of paid ones.
func settledBy(change Change) (settled []tally.Change) {
	if change.Action != ActionCreated {
		settled = countedPaid(change.Before, -1)
	}
	if change.Action == ActionDeleted {
		return append(settled, gone(countedPaid(change.Before, 1))...)
	}
	return append(settled, countedPaid(change.After, 1)...)
}

// writtenOffBy is how a change moves what is written off on a day.
func writtenOffBy(change Change) (moved []tally.Change) {
	if change.Action == ActionDeleted {
		return nil
	}
	for n, invoice := range map[int64]Invoice{-1: change.Before, 1: change.After} {
		if !invoice.WrittenOffOn.IsZero() {
			moved = append(moved, tally.Change{N: n, Cents: n * int64(invoice.WrittenOff), Key: tally.Key{Day: invoice.WrittenOffOn.String()}})
		}
	}
	return moved
}
