package api

import (
	"context"

	"carteira/internal/catalog"
	"carteira/internal/web"
)

func (s *Server) listPlans(ctx context.Context, c *call) (web.Answer, error) {
	q := c.query()
	p, f := q.Page(), catalog.ReadFilter(q)
	if err := q.Err(); err != nil {
		return web.Answer{}, err
	}
	list, total, err := s.Catalog.Plans(ctx, c.actor, f, p)
	if err != nil {
		return web.Answer{}, err
	}
	counts, err := s.Customers.CountByPlan(ctx, c.actor, idsOf(list, func(p *catalog.Plan) int64 { return p.ID }))
	return page(c, p, total, web.List(list, func(o *web.Object, p *catalog.Plan) {
		c.writePlan(o, p, counts[p.ID].N)
	})), err
}

func (s *Server) readPlan(ctx context.Context, c *call) (web.Answer, error) {
	plan, err := s.Catalog.Plan(ctx, c.actor, c.id)
	if err != nil {
		return web.Answer{}, err
	}
	counts, err := s.Customers.CountByPlan(ctx, c.actor, []int64{plan.ID})
	return web.Answer{Data: web.One(func(o *web.Object) { c.writePlan(o, &plan, counts[plan.ID].N) })}, err
}

func (s *Server) listProducts(ctx context.Context, c *call) (web.Answer, error) {
	q := c.query()
	p, f := q.Page(), catalog.ReadFilter(q)
	if err := q.Err(); err != nil {
		return web.Answer{}, err
	}
	list, total, err := s.Catalog.Products(ctx, c.actor, f, p)
	if err != nil {
		return web.Answer{}, err
	}
	counts, err := s.Customers.CountByProduct(ctx, c.actor, idsOf(list, func(p *catalog.Product) int64 { return p.ID }))
	return page(c, p, total, web.List(list, func(o *web.Object, p *catalog.Product) {
		c.writeProduct(o, p, counts[p.ID].N)
	})), err
}

func (s *Server) readProduct(ctx context.Context, c *call) (web.Answer, error) {
	product, err := s.Catalog.Product(ctx, c.actor, c.id)
	if err != nil {
		return web.Answer{}, err
	}
	counts, err := s.Customers.CountByProduct(ctx, c.actor, []int64{product.ID})
	return web.Answer{Data: web.One(func(o *web.Object) { c.writeProduct(o, &product, counts[product.ID].N) })}, err
}

func (c *call) writePlan(o *web.Object, p *catalog.Plan, customers int64) {
	o.Int("id", p.ID)
	o.String("name", p.Name)
	o.Money("value", p.Value)
	o.String("period_unit", string(p.Period.Unit))
	o.Int("period_count", int64(p.Period.Count))
	o.String("period_label", p.Period.Label())
	writeRef(o, "product", p.Product.ID, p.Product.Name)
	o.Bool("active", p.Active)
	o.Int("customers_count", customers)
	o.Time("created_at", p.CreatedAt, c.actor.Company.Zone)
}

func (c *call) writeProduct(o *web.Object, p *catalog.Product, customers int64) {
	o.Int("id", p.ID)
	o.String("name", p.Name)
	o.Text("description", p.Description)
	o.Bool("active", p.Active)
	o.Int("customers_count", customers)
	o.Time("created_at", p.CreatedAt, c.actor.Company.Zone)
}

func idsOf[T any](list []T, id func(*T) int64) []int64 {
	ids := make([]int64, len(list))
	for i := range list {
		ids[i] = id(&list[i])
	}
	return ids
}
