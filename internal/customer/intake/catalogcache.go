package intake

import (
	"context"
	"fmt"

	"carteira/internal/account"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
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
	prices       planPrices // of plans that have to be made

	// What a row names and the company lacks is made; nil: it is refused.
	addPlan    func(catalog.Plan) (catalog.Plan, error)
	addProduct func(catalog.Product) (catalog.Product, error)
}

// names finds ids by name, without regard to case and accents.
type names map[string][]int64

func (n names) put(name string, id int64) {
	n[text.Fold(name)] = append(n[text.Fold(name)], id)
}

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

func loadCatalog(ctx context.Context, querier sqldb.Querier, actor account.Actor) (*catalogCache, error) {
	plans, err := catalog.AllPlans(ctx, querier, actor)
	if err != nil {
		return nil, err
	}
	products, err := catalog.AllProducts(ctx, querier, actor)
	if err != nil {
		return nil, err
	}
	cache := &catalogCache{
		plans:        map[int64]catalog.Plan{},
		products:     map[int64]catalog.Product{},
		planNames:    names{},
		productNames: names{},
	}
	for _, plan := range plans {
		cache.putPlan(plan)
	}
	for _, product := range products {
		cache.putProduct(product)
	}
	return cache, nil
}

func (s *catalogCache) putPlan(plan catalog.Plan) {
	s.plans[plan.ID] = plan
	s.planNames.put(plan.Name, plan.ID)
}

func (s *catalogCache) putProduct(product catalog.Product) {
	s.products[product.ID] = product
	s.productNames.put(product.Name, product.ID)
}

// addedGoods are the plans and products that an import made.
type addedGoods struct {
	Plans    []int64 `json:"plans,omitempty"`
	Products []int64 `json:"products,omitempty"`
}

// addTo lets what is missing be made in the database, and writes down in added
// what was.
func (s *catalogCache) addTo(ctx context.Context, tx account.Tx, added *addedGoods) {
	s.addPlan = func(plan catalog.Plan) (catalog.Plan, error) {
		plan, err := catalog.AddPlan(ctx, tx, plan)
		added.Plans = append(added.Plans, plan.ID)
		return plan, err
	}
	s.addProduct = func(product catalog.Product) (catalog.Product, error) {
		product, err := catalog.AddProduct(ctx, tx, product)
		added.Products = append(added.Products, product.ID)
		return product, err
	}
}

// pretend lets what is missing be made in the cache alone, for a check that
// writes nothing. Its ids are negative, as no row's is.
func (s *catalogCache) pretend() {
	s.addPlan = func(plan catalog.Plan) (catalog.Plan, error) {
		plan.ID, plan.Active = int64(-1-len(s.plans)), true
		return plan, nil
	}
	s.addProduct = func(product catalog.Product) (catalog.Product, error) {
		product.ID, product.Active = int64(-1-len(s.products)), true
		return product, nil
	}
}

func (s *catalogCache) lookup() customer.Catalog {
	return customer.Catalog{
		Plan:    func(id int64) (catalog.Plan, error) { return cached(s.plans, id) },
		Product: func(id int64) (catalog.Product, error) { return cached(s.products, id) },
	}
}

func cached[T any](all map[int64]T, id int64) (T, error) {
	value, ok := all[id]
	if !ok {
		return value, fault.NotFound("it")
	}
	return value, nil
}

// choose sets the plan and the product that a row names. What cannot be chosen
// is refused; nothing is made for a row that will not be written.
func (s *catalogCache) choose(draft *rowDraft) (refused fault.Fields, err error) {
	if err := s.choosePlan(draft, &refused); err != nil {
		return refused, err
	}
	return refused, s.chooseProduct(draft, &refused)
}

// choosePlan finds the plan by name where a row gives no id. A new plan is paid by
// the month, and costs what most rows of the file pay for it.
func (s *catalogCache) choosePlan(draft *rowDraft, refused *fault.Fields) error {
	amount, priced := draft.amount.Get()
	if name := draft.plan.Value; name != "" && !draft.PlanID.Given() {
		ids := s.planNames.of(name, func(id int64) bool { return s.plans[id].Active },
			func(id int64) bool { return priced && s.plans[id].Value == amount })
		usual, known := s.prices.of(name)
		switch {
		case len(ids) > 0:
			draft.PlanID = only(ids, "plan", refused)
		case s.addPlan == nil:
			refused.Add("plan", "does not exist")
		case draft.Problems.Any() || !refused.Empty():
		case !known:
			refused.Add("value", "must say what the new plan costs")
		default:
			plan, err := s.addPlan(catalog.Plan{
				Name:   name,
				Value:  usual,
				Period: civil.Period{Unit: civil.Month, Count: 1},
			})
			if err != nil {
				return err
			}
			s.putPlan(plan)
			draft.PlanID = input.Some(plan.ID)
		}
	}
	s.ownPrice(draft)
	return nil
}

// ownPrice gives a row its own price where its amount is not the plan's. A price
// that is the plan's is none: it would stay behind when the plan's changes.
func (s *catalogCache) ownPrice(draft *rowDraft) {
	plan, chosen := s.plans[draft.PlanID.Value]
	if !chosen {
		return
	}
	if amount, priced := draft.amount.Get(); priced && !draft.OwnPrice.HasValue() {
		draft.OwnPrice = input.Some(amount)
	}
	if price, own := draft.OwnPrice.Get(); own && price == plan.Value {
		draft.OwnPrice = input.Opt[money.Cents]{}
	}
	draft.differs = draft.OwnPrice.HasValue()
}

// chooseProduct finds the product by name where a row gives no id.
func (s *catalogCache) chooseProduct(draft *rowDraft, refused *fault.Fields) error {
	name := draft.product.Value
	if name == "" || draft.ProductID.Given() {
		return nil
	}
	ids := s.productNames.of(name, func(id int64) bool { return s.products[id].Active })
	switch {
	case len(ids) > 0:
		draft.ProductID = only(ids, "product", refused)
	case s.addProduct == nil:
		refused.Add("product", "does not exist")
	case draft.Problems.Any() || !refused.Empty():
	default:
		product, err := s.addProduct(catalog.Product{Name: name})
		if err != nil {
			return err
		}
		s.putProduct(product)
		draft.ProductID = input.Some(product.ID)
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
