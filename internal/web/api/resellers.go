package api

import (
	"context"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/reseller"
	"carteira/internal/web"
)

func (s *Server) listResellers(ctx context.Context, c *call) (web.Answer, error) {
	q := c.query()
	p, f := q.Page(), reseller.ReadFilter(q)
	if err := q.Err(); err != nil {
		return web.Answer{}, err
	}
	list, total, err := s.Resellers.List(ctx, c.actor, f, p)
	now := s.DB.Now()
	return page(c, p, total, web.List(list, func(o *web.Object, r *reseller.Reseller) { c.writeReseller(o, r, now) })), err
}

func (s *Server) createReseller(ctx context.Context, c *call) (web.Answer, error) {
	form, err := c.form()
	if err != nil {
		return web.Answer{}, err
	}
	made, err := s.Resellers.Create(ctx, c.actor, reseller.ReadNewReseller(form))
	now := s.DB.Now()
	return web.Answer{Data: web.One(func(o *web.Object) {
		c.writePaid(o, &made, now)
		o.Text("invitation_link", made.InvitationLink)
	})}, err
}

func (s *Server) readReseller(ctx context.Context, c *call) (web.Answer, error) {
	found, err := s.Resellers.Find(ctx, c.actor, c.id)
	return s.reseller(c, found), err
}

func (s *Server) updateReseller(ctx context.Context, c *call) (web.Answer, error) {
	form, err := c.form()
	if err != nil {
		return web.Answer{}, err
	}
	changed, err := s.Resellers.Update(ctx, c.actor, c.id, reseller.ReadChanges(form))
	return s.reseller(c, changed), err
}

func (s *Server) setResellerLevel(ctx context.Context, c *call) (web.Answer, error) {
	form, err := c.form()
	if err != nil {
		return web.Answer{}, err
	}
	changed, err := s.Resellers.SetLevel(ctx, c.actor, c.id, reseller.ReadLevelRequest(form))
	return s.reseller(c, changed), err
}

func (s *Server) renewReseller(ctx context.Context, c *call) (web.Answer, error) {
	form, err := c.form()
	if err != nil {
		return web.Answer{}, err
	}
	renewed, err := s.Resellers.Renew(ctx, c.actor, c.id, reseller.ReadRenewRequest(form))
	now := s.DB.Now()
	return web.Answer{Data: web.One(func(o *web.Object) { c.writePaid(o, &renewed, now) })}, err
}

func (s *Server) reseller(c *call, r reseller.Reseller) web.Answer {
	now := s.DB.Now()
	return web.Answer{Data: web.One(func(o *web.Object) { c.writeReseller(o, &r, now) })}
}

// writeReseller writes the fields of a reseller's record. Its status goes by its
// own calendar, its times are the reader's.
func (c *call) writeReseller(o *web.Object, r *reseller.Reseller, now time.Time) {
	o.Int("id", r.ID)
	o.String("name", r.Name)
	o.String("email", r.Email)
	o.Text("whatsapp", r.Whatsapp)
	o.String("level", string(r.Level))
	o.String("status", string(r.Standing(now)))
	o.Int("credits", r.Credits)
	writeRef(o, "plan", r.Plan.ID, r.Plan.Name)
	o.Date("expires_at", r.Subscription.ExpiresOn)
	o.Int("customers_count", r.Customers)
	o.Time("created_at", r.CreatedAt, c.actor.Company.Zone)
}

func (c *call) writePaid(o *web.Object, p *reseller.Paid, now time.Time) {
	c.writeReseller(o, &p.Reseller, now)
	o.Int("credits_spent", p.CreditsSpent)
	o.Int("credits_balance", p.CreditsBalance)
}

func (s *Server) listSubscriptionPlans(ctx context.Context, c *call) (web.Answer, error) {
	q := c.query()
	p, f := q.Page(), reseller.ReadPlanFilter(q)
	if err := q.Err(); err != nil {
		return web.Answer{}, err
	}
	list, total, err := s.Resellers.Plans(ctx, c.actor, f, p)
	if err != nil {
		return web.Answer{}, err
	}
	records := make([]subscriptionPlanRecord, len(list))
	for i, plan := range list {
		records[i] = s.subscriptionPlan(c, plan)
	}
	return page(c, p, total, web.JSON(records)), nil
}

func (s *Server) createSubscriptionPlan(ctx context.Context, c *call) (web.Answer, error) {
	form, err := c.form()
	if err != nil {
		return web.Answer{}, err
	}
	plan, err := s.Resellers.CreatePlan(ctx, c.actor, reseller.ReadNewPlan(form))
	return web.Answer{Data: web.JSON(s.subscriptionPlan(c, plan))}, err
}

func (s *Server) readSubscriptionPlan(ctx context.Context, c *call) (web.Answer, error) {
	plan, err := s.Resellers.FindPlan(ctx, c.actor, c.id)
	return web.Answer{Data: web.JSON(s.subscriptionPlan(c, plan))}, err
}

func (s *Server) updateSubscriptionPlan(ctx context.Context, c *call) (web.Answer, error) {
	form, err := c.form()
	if err != nil {
		return web.Answer{}, err
	}
	plan, err := s.Resellers.UpdatePlan(ctx, c.actor, c.id, reseller.ReadPlanChanges(form))
	return web.Answer{Data: web.JSON(s.subscriptionPlan(c, plan))}, err
}

type subscriptionPlanRecord struct {
	ID          int64              `json:"id"`
	Name        string             `json:"name"`
	Value       string             `json:"value"`
	Credits     int64              `json:"credits"`
	PeriodUnit  string             `json:"period_unit"`
	PeriodCount int                `json:"period_count"`
	TrialDays   int                `json:"trial_days"`
	Functions   []account.Function `json:"functions"`
	SignupLink  string             `json:"signup_link"`
	Active      bool               `json:"active"`
	CreatedAt   string             `json:"created_at"`
}

func (s *Server) subscriptionPlan(c *call, p reseller.Plan) subscriptionPlanRecord {
	return subscriptionPlanRecord{
		ID: p.ID, Name: p.Name, Value: p.Value.String(), Credits: p.Credits, PeriodUnit: string(p.Period.Unit), PeriodCount: p.Period.Count,
		TrialDays: p.TrialDays, Functions: p.Functions.Names(), SignupLink: s.Resellers.SignupLink(p), Active: p.Active,
		CreatedAt: civil.Timestamp(p.CreatedAt, c.actor.Company.Zone),
	}
}
