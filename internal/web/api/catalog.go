package api

import (
	"context"

	"carteira/internal/catalog"
	"carteira/internal/platform/input"
	"carteira/internal/web"
)

func (s *Server) listPlans(ctx context.Context, call *call) (web.Answer, error) {
	plans, err := listed(ctx, call, catalog.ReadFilter, s.Catalog.Plans)
	if err != nil {
		return web.Answer{}, err
	}
	counts, err := s.Customers.CountByPlan(ctx, call.actor, idsOf(plans.list, func(plan *catalog.Plan) int64 { return plan.ID }))
	return plans.answer(func(object *web.Object, plan *catalog.Plan) { call.writePlan(object, plan, counts[plan.ID].N) }), err
}

func (s *Server) readPlan(ctx context.Context, call *call) (web.Answer, error) {
	plan, err := s.Catalog.Plan(ctx, call.actor, call.id)
	if err != nil {
		return web.Answer{}, err
	}
	counts, err := s.Customers.CountByPlan(ctx, call.actor, []int64{plan.ID})
	return web.Answer{Data: web.One(func(object *web.Object) { call.writePlan(object, &plan, counts[plan.ID].N) })}, err
}

func (s *Server) listProducts(ctx context.Context, call *call) (web.Answer, error) {
	products, err := listed(ctx, call, catalog.ReadFilter, s.Catalog.Products)
	if err != nil {
		return web.Answer{}, err
	}
	ids := idsOf(products.list, func(product *catalog.Product) int64 { return product.ID })
	counts, err := s.Customers.CountByProduct(ctx, call.actor, ids)
	return products.answer(func(object *web.Object, product *catalog.Product) {
		call.writeProduct(object, product, counts[product.ID].N)
	}), err
}

func (s *Server) readProduct(ctx context.Context, call *call) (web.Answer, error) {
	product, err := s.Catalog.Product(ctx, call.actor, call.id)
	if err != nil {
		return web.Answer{}, err
	}
	counts, err := s.Customers.CountByProduct(ctx, call.actor, []int64{product.ID})
	return web.Answer{Data: web.One(func(object *web.Object) { call.writeProduct(object, &product, counts[product.ID].N) })}, err
}

func (c *call) writePlan(object *web.Object, plan *catalog.Plan, customers int64) {
	object.Int("id", plan.ID)
	object.String("name", plan.Name)
	object.Money("value", plan.Value)
	object.String("period_unit", string(plan.Period.Unit))
	object.Int("period_count", int64(plan.Period.Count))
	object.String("period_label", plan.Period.Label())
	writeRef(object, "product", plan.Product.ID, plan.Product.Name)
	object.Bool("active", plan.Active)
	object.Int("customers_count", customers)
	object.Time("created_at", plan.CreatedAt, c.actor.Company.Zone)
}

func (c *call) writeProduct(object *web.Object, product *catalog.Product, customers int64) {
	object.Int("id", product.ID)
	object.String("name", product.Name)
	object.Text("description", product.Description)
	object.Bool("active", product.Active)
	object.Int("customers_count", customers)
	object.Time("created_at", product.CreatedAt, c.actor.Company.Zone)
}

func idsOf[T any](list []T, id func(*T) int64) []int64 {
	ids := make([]int64, len(list))
	for i := range list {
		ids[i] = id(&list[i])
	}
	return ids
}

// newPlan is a plan that no customer has yet.
func (c *call) newPlan(plan catalog.Plan) web.Answer {
	return web.Answer{Data: web.One(func(object *web.Object) { c.writePlan(object, &plan, 0) })}
}

func (s *Server) updatePlan(ctx context.Context, call *call, form *input.Form) (web.Answer, error) {
	if _, err := s.Catalog.UpdatePlan(ctx, call.actor, call.id, catalog.ReadPlanChanges(form)); err != nil {
		return web.Answer{}, err
	}
	return s.readPlan(ctx, call)
}

// newProduct is a product that no customer has yet.
func (c *call) newProduct(product catalog.Product) web.Answer {
	return web.Answer{Data: web.One(func(object *web.Object) { c.writeProduct(object, &product, 0) })}
}

func (s *Server) updateProduct(ctx context.Context, call *call, form *input.Form) (web.Answer, error) {
	if _, err := s.Catalog.UpdateProduct(ctx, call.actor, call.id, catalog.ReadProductChanges(form)); err != nil {
		return web.Answer{}, err
	}
	return s.readProduct(ctx, call)
}
