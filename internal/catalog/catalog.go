// Package catalog owns what a company sells: plans, which say what a customer
// pays and for how long, and products, which say what for. It does not own
// the customers who buy them, nor the subscription plans of resellers.
package catalog

import (
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/watch"
)

// Ref names a record that another one refers to.
type Ref struct {
	ID   int64
	Name string
}

// Limits of the free texts.
const (
	maxName        = 255
	maxDescription = 5000
	maxPeriod      = 40
)

// Filter chooses plans or products.
type Filter struct {
	Search     string
	OnlyActive *bool
}

// ReadFilter reads search and active from a query.
func ReadFilter(in *input.Form) Filter {
	filter := Filter{Search: in.Line("search", maxName).Value}
	if active := in.Choice("active", "true", "false", "1", "0"); active.HasValue() {
		yes := active.Value == "true" || active.Value == "1"
		filter.OnlyActive = &yes
	}
	return filter
}

// Service has the use cases.
type Service struct {
	db           *sqldb.DB
	planWatchers watch.List[PlanChanges]
}

// New makes the service.
func New(db *sqldb.DB) *Service { return &Service{db: db} }
