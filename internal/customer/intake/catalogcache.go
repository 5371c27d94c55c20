package intake

import (
	"context"
	"fmt"
	"slices"

	"carteira/internal/account"
	"carteira/internal/catalog"
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
	plans    shelf[catalog.Plan]
	products shelf[catalog.Product]
	prices   map[string]money.Cents // of plans that have to be made
}

// shelf is the plans or the products.
type shelf[T any] struct {
	field string // that names one
	of    func(T) (id int64, name string)
	byID  map[int64]T
	named map[string][]T // without regard to case and accents

	// add makes what a row names and the company lacks; nil: it is refused.
	add  func(T) (T, error)
	made []int64
}

func newShelf[T any](field string, all []T, of func(T) (id int64, name string), add func(T) (T, error)) shelf[T] {
	s := shelf[T]{field: field, of: of, add: add, byID: map[int64]T{}, named: map[string][]T{}}
	for _, value := range all {
		s.put(value)
	}
	return s
}

func (s *shelf[T]) put(value T) {
	id, name := s.of(value)
	s.byID[id] = value
	s.named[text.Fold(name)] = append(s.named[text.Fold(name)], value)
}

func (s *shelf[T]) find(id int64) (T, error) {
	value, ok := s.byID[id]
	if !ok {
		return value, fault.NotFound("it")
	}
	return value, nil
}

// called returns those with a name. Each preference leaves those that have it, if
// any have.
func (s *shelf[T]) called(name string, preferences ...func(T) bool) []T {
	found := s.named[text.Fold(name)]
	for _, prefers := range preferences {
		left := slices.DeleteFunc(slices.Clone(found), func(value T) bool { return !prefers(value) })
		if len(left) > 0 {
			found = left
		}
	}
	return found
}

// choose takes the one that was found, or makes the wanted one where none was,
// but nothing for a bad row, which will not be written. It refuses to choose between
// several.
func (s *shelf[T]) choose(found []T, wanted T, bad bool, refused *fault.Fields) (chosen input.Opt[int64], err error) {
	switch {
	case len(found) > 1:
		refused.Add(s.field, fmt.Sprintf("%d have this name; give the id in a column %s_id", len(found), s.field))
	case len(found) == 1:
		id, _ := s.of(found[0])
		return input.Some(id), nil
	case s.add == nil:
		refused.Add(s.field, "does not exist")
	case !bad:
		if wanted, err = s.add(wanted); err != nil {
			return chosen, err
		}
		s.put(wanted)
		id, _ := s.of(wanted)
		s.made = append(s.made, id)
		return input.Some(id), nil
	}
	return chosen, nil
}

// newID is the id of something that a check keeps in the cache alone: negative, as no row's is.
func (s *shelf[T]) newID() int64 { return int64(-1 - len(s.byID)) }

// insertion makes a plan or product in a transaction.
type insertion[T any] = func(context.Context, account.Tx, T) (T, error)

// adder makes what rows name and the company lacks, where that is chosen: a check,
// which writes nothing, keeps it in the cache alone.
func adder[T any](ctx context.Context, im *importer, querier sqldb.Querier, add insertion[T]) func(T) (T, error) {
	tx, writes := querier.(*sqldb.Tx)
	switch {
	case !im.options.CreateMissing:
		return nil
	case writes:
		return func(wanted T) (T, error) { return add(ctx, im.actor.In(tx), wanted) }
	}
	return func(wanted T) (T, error) { return wanted, nil }
}

func (im *importer) loadCatalog(ctx context.Context, querier sqldb.Querier) (*catalogCache, error) {
	plans, err := catalog.AllPlans(ctx, querier, im.actor)
	if err != nil {
		return nil, err
	}
	products, err := catalog.AllProducts(ctx, querier, im.actor)
	if err != nil {
		return nil, err
	}
	ofPlan := func(plan catalog.Plan) (int64, string) { return plan.ID, plan.Name }
	ofProduct := func(product catalog.Product) (int64, string) { return product.ID, product.Name }
	return &catalogCache{
		plans:    newShelf("plan", plans, ofPlan, adder(ctx, im, querier, catalog.AddPlan)),
		products: newShelf("product", products, ofProduct, adder(ctx, im, querier, catalog.AddProduct)),
		prices:   im.prices,
	}, nil
}

// addedGoods are the plans and products that an import made.
type addedGoods struct {
	Plans    []int64 `json:"plans,omitempty"`
	Products []int64 `json:"products,omitempty"`
}

// choose sets the plan and the product that a row names. What cannot be chosen
// is refused.
func (s *catalogCache) choose(draft *rowDraft) (refused fault.Fields, err error) {
	if draft.plan.Value != "" && !draft.PlanID.Given() {
		if err := s.choosePlan(draft, &refused); err != nil {
			return refused, err
		}
	}
	// The amount of a row is its own price: customer.Draft drops one that is the plan's.
	if draft.amount.HasValue() && draft.PlanID.HasValue() && !draft.OwnPrice.HasValue() {
		draft.OwnPrice = draft.amount
	}
	if name := draft.product.Value; name != "" && !draft.ProductID.Given() {
		found := s.products.called(name, func(product catalog.Product) bool { return product.Active })
		bad := draft.Problems.Any() || !refused.Empty()
		wanted := catalog.Product{ID: s.products.newID(), Name: name, Active: true}
		draft.ProductID, err = s.products.choose(found, wanted, bad, &refused)
	}
	return refused, err
}

// choosePlan finds the plan by its name. A new plan is paid by the month, and
// costs what most rows of the file pay for it.
func (s *catalogCache) choosePlan(draft *rowDraft, refused *fault.Fields) (err error) {
	name, bad := draft.plan.Value, draft.Problems.Any()
	amount, priced := draft.amount.Get()
	found := s.plans.called(name, func(plan catalog.Plan) bool { return plan.Active },
		func(plan catalog.Plan) bool { return priced && plan.Value == amount })
	usual, known := s.prices[text.Fold(name)]
	if len(found) == 0 && s.plans.add != nil && !known && !bad {
		refused.Add("value", "must say what the new plan costs")
		return nil
	}
	monthly := civil.Period{Unit: civil.Month, Count: 1}
	wanted := catalog.Plan{ID: s.plans.newID(), Name: name, Value: usual, Period: monthly, Active: true}
	draft.PlanID, err = s.plans.choose(found, wanted, bad, refused)
	return err
}
