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
	return page(c, p, total, web.List(list, func(b []byte, p *catalog.Plan) []byte {
		return c.appendPlan(b, p, counts[p.ID].N)
	})), err
}

func (s *Server) readPlan(ctx context.Context, c *call) (web.Answer, error) {
	plan, err := s.Catalog.Plan(ctx, c.actor, c.id)
	if err != nil {
		return web.Answer{}, err
	}
	counts, err := s.Customers.CountByPlan(ctx, c.actor, []int64{plan.ID})
	return web.Answer{Data: func(b []byte) []byte { return c.appendPlan(b, &plan, counts[plan.ID].N) }}, err
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
	return page(c, p, total, web.List(list, func(b []byte, p *catalog.Product) []byte {
		return c.appendProduct(b, p, counts[p.ID].N)
	})), err
}

func (s *Server) readProduct(ctx context.Context, c *call) (web.Answer, error) {
	product, err := s.Catalog.Product(ctx, c.actor, c.id)
	if err != nil {
		return web.Answer{}, err
	}
	counts, err := s.Customers.CountByProduct(ctx, c.actor, []int64{product.ID})
	return web.Answer{Data: func(b []byte) []byte { return c.appendProduct(b, &product, counts[product.ID].N) }}, err
}

func (c *call) appendPlan(b []byte, p *catalog.Plan, customers int64) []byte {
	b = web.AppendInt(append(b, `{"id":`...), p.ID)
	b = web.AppendString(append(b, `,"name":`...), p.Name)
	b = p.Value.Append(append(b, `,"value":"`...))
	b = web.AppendString(append(b, `","period_unit":`...), string(p.Period.Unit))
	b = web.AppendInt(append(b, `,"period_count":`...), int64(p.Period.Count))
	b = web.AppendString(append(b, `,"period_label":`...), p.Period.Label())
	b = appendRef(append(b, `,"product":`...), p.Product.ID, p.Product.Name)
	b = web.AppendBool(append(b, `,"active":`...), p.Active)
	b = web.AppendInt(append(b, `,"customers_count":`...), customers)
	b = web.AppendTime(append(b, `,"created_at":`...), p.CreatedAt, c.actor.Company.Zone)
	return append(b, '}')
}

func (c *call) appendProduct(b []byte, p *catalog.Product, customers int64) []byte {
	b = web.AppendInt(append(b, `{"id":`...), p.ID)
	b = web.AppendString(append(b, `,"name":`...), p.Name)
	b = web.AppendText(append(b, `,"description":`...), p.Description)
	b = web.AppendBool(append(b, `,"active":`...), p.Active)
	b = web.AppendInt(append(b, `,"customers_count":`...), customers)
	b = web.AppendTime(append(b, `,"created_at":`...), p.CreatedAt, c.actor.Company.Zone)
	return append(b, '}')
}

func idsOf[T any](list []T, id func(*T) int64) []int64 {
	ids := make([]int64, len(list))
	for i := range list {
		ids[i] = id(&list[i])
	}
	return ids
}
