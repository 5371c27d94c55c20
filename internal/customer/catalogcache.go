package customer

import (
	"context"
	"fmt"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/text"
)

// catalogCache holds what the company sells while an import reads many
// customers: no row asks the database for its plan, and a plan may be chosen by
// its name.
type catalogCache struct {
	plans        map[int64]catalog.Plan
	products     map[int64]catalog.Product
	planNames    names
	productNames names

	// What a row names and the company lacks is made; nil: it is refused.
	addPlan    func(catalog.Plan) (catalog.Plan, error)
	addProduct func(catalog.Product) (catalog.Product, error)
}

// names finds ids by name, without regard to case and accents.
type names map[string][]int64

func (n names) put(name string, id int64) { n[text.Fold(name)] = append(n[text.Fold(name)], id) }

// of returns the ids of a name. Each preference leaves those that have it, if
// any have.
func (n names) of(name string, preferences ...func(id int64) bool) []int64 {
	ids := n[text.Fold(name)]
	for _, prefers := range preferences {
		var left []int64
		for _, id := range ids {
			if prefers(id) {
				left = append(left, id)
			}
		}
		if len(left) > 0 {
			ids = left
		}
	}
	return ids
}

func loadCatalog(ctx context.Context, q sqldb.Querier, a account.Actor) (*catalogCache, error) {
	plans, err := catalog.AllPlans(ctx, q, a)
	if err != nil {
		return nil, err
	}
	products, err := catalog.AllProducts(ctx, q, a)
	if err != nil {
		return nil, err
	}
	s := &catalogCache{plans: map[int64]catalog.Plan{}, products: map[int64]catalog.Product{}, planNames: names{}, productNames: names{}}
	for _, p := range plans {
		s.putPlan(p)
	}
	for _, p := range products {
		s.putProduct(p)
	}
	return s, nil
}

func (s *catalogCache) putPlan(p catalog.Plan) {
	s.plans[p.ID] = p
	s.planNames.put(p.Name, p.ID)
}

func (s *catalogCache) putProduct(p catalog.Product) {
	s.products[p.ID] = p
	s.productNames.put(p.Name, p.ID)
}

// addedGoods are the plans and products that an import made.
type addedGoods struct {
	Plans    []int64 `json:"plans,omitempty"`
	Products []int64 `json:"products,omitempty"`
}

// addTo lets what is missing be made in the database, and writes down in added
// what was.
func (s *catalogCache) addTo(ctx context.Context, tx *sqldb.Tx, a account.Actor, added *addedGoods) {
	s.addPlan = func(p catalog.Plan) (catalog.Plan, error) {
		p, err := catalog.AddPlan(ctx, tx, a, p)
		added.Plans = append(added.Plans, p.ID)
		return p, err
	}
	s.addProduct = func(p catalog.Product) (catalog.Product, error) {
		p, err := catalog.AddProduct(ctx, tx, a, p)
		added.Products = append(added.Products, p.ID)
		return p, err
	}
}

// pretend lets what is missing be made in the cache alone, for a check that
// writes nothing. Its ids are negative, as no row's is.
func (s *catalogCache) pretend() {
	s.addPlan = func(p catalog.Plan) (catalog.Plan, error) {
		p.ID, p.Active = int64(-1-len(s.plans)), true
		return p, nil
	}
	s.addProduct = func(p catalog.Product) (catalog.Product, error) {
		p.ID, p.Active = int64(-1-len(s.products)), true
		return p, nil
	}
}

func (s *catalogCache) lookup() catalogLookup {
	return catalogLookup{
		plan:    func(id int64) (catalog.Plan, error) { return cached(s.plans, id) },
		product: func(id int64) (catalog.Product, error) { return cached(s.products, id) },
	}
}

func cached[T any](all map[int64]T, id int64) (T, error) {
	v, ok := all[id]
	if !ok {
		return v, fault.NotFound("it")
	}
	return v, nil
}

// choose sets the plan and the product that a row names. What cannot be chosen
// is refused; nothing is made for a row that will not be written.
func (s *catalogCache) choose(d *rowDraft) (refused fault.Fields, err error) {
	if err := s.choosePlan(d, &refused); err != nil {
		return refused, err
	}
	return refused, s.chooseProduct(d, &refused)
}

// choosePlan finds the plan by name where a row gives no id. A new plan costs
// the row's amount and is paid by the month.
func (s *catalogCache) choosePlan(d *rowDraft, refused *fault.Fields) error {
	amount, priced := d.amount.Get()
	if name := d.plan.Value; name != "" && !d.PlanID.Given() {
		ids := s.planNames.of(name,
			func(id int64) bool { return s.plans[id].Active },
			func(id int64) bool { return priced && s.plans[id].Value == amount })
		switch {
		case len(ids) > 0:
			d.PlanID = only(ids, "plan", refused)
		case s.addPlan == nil:
			refused.Add("plan", "does not exist")
		case d.Problems.Any() || !refused.Empty():
		case !priced:
			refused.Add("value", "must say what the new plan costs")
		default:
			p, err := s.addPlan(catalog.Plan{Name: name, Value: amount, Period: civil.Period{Unit: civil.Month, Count: 1}})
			if err != nil {
				return err
			}
			s.putPlan(p)
			d.PlanID = input.Some(p.ID)
		}
	}
	// Customers pay what the plan costs. Another amount must not be passed over
	// in silence: their first invoice would be the one to tell.
	if p, ok := s.plans[d.PlanID.Value]; ok && priced && p.Value != amount {
		refused.Add("value", fmt.Sprintf("the plan costs %s; choose another plan, or leave the amount out", p.Value.BR()))
	}
	return nil
}

// chooseProduct finds the product by name where a row gives no id.
func (s *catalogCache) chooseProduct(d *rowDraft, refused *fault.Fields) error {
	name := d.product.Value
	if name == "" || d.ProductID.Given() {
		return nil
	}
	ids := s.productNames.of(name, func(id int64) bool { return s.products[id].Active })
	switch {
	case len(ids) > 0:
		d.ProductID = only(ids, "product", refused)
	case s.addProduct == nil:
		refused.Add("product", "does not exist")
	case d.Problems.Any() || !refused.Empty():
	default:
		p, err := s.addProduct(catalog.Product{Name: name})
		if err != nil {
			return err
		}
		s.putProduct(p)
		d.ProductID = input.Some(p.ID)
	}
	return nil
}

// only returns the one id there is, and refuses to choose between several.
func only(ids []int64, name string, refused *fault.Fields) input.Opt[int64] {
	if len(ids) > 1 {
		refused.Add(name, fmt.Sprintf("%d have this name; give the id in a column %s_id", len(ids), name))
		return input.Opt[int64]{}
	}
	return input.Some(ids[0])
}
