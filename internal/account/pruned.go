package account

import (
	"context"
	"strconv"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/watch"
)

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
