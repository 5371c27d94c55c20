package api

import (
	"carteira/internal/platform/civil"
	"context"
	"time"

	"carteira/internal/account"
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
	return page(c, p, total, web.List(list, func(b []byte, r *reseller.Reseller) []byte { return c.appendReseller(b, r, now) })), err
}

func (s *Server) createReseller(ctx context.Context, c *call) (web.Answer, error) {
	form, err := c.form()
	if err != nil {
		return web.Answer{}, err
	}
	made, err := s.Resellers.Create(ctx, c.actor, reseller.ReadNewReseller(form))
	now := s.DB.Now()
	return web.Answer{Data: func(b []byte) []byte {
		b = c.appendPaid(b, &made, now)
		b = append(b[:len(b)-1], `,"invitation_link":`...)
		return append(web.AppendText(b, made.InvitationLink), '}')
	}}, err
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
	changed, err := s.Resellers.Update(ctx, c.actor, c.id, reseller.ReadResellerChanges(form))
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
	return web.Answer{Data: func(b []byte) []byte { return c.appendPaid(b, &renewed, now) }}, err
}

func (s *Server) reseller(c *call, r reseller.Reseller) web.Answer {
	now := s.DB.Now()
	return web.Answer{Data: func(b []byte) []byte { return c.appendReseller(b, &r, now) }}
}

// appendReseller writes a reseller's record. Its status goes by its own
// calendar, its times are the reader's.
func (c *call) appendReseller(b []byte, r *reseller.Reseller, now time.Time) []byte {
	b = web.AppendInt(append(b, `{"id":`...), r.ID)
	b = web.AppendString(append(b, `,"name":`...), r.Name)
	b = web.AppendString(append(b, `,"email":`...), r.Email)
	b = web.AppendText(append(b, `,"whatsapp":`...), r.Whatsapp)
	b = web.AppendString(append(b, `,"level":`...), string(r.Level))
	b = web.AppendString(append(b, `,"status":`...), string(r.Standing(now)))
	b = web.AppendInt(append(b, `,"credits":`...), r.Credits)
	b = appendRef(append(b, `,"plan":`...), r.Plan.ID, r.Plan.Name)
	b = web.AppendDate(append(b, `,"expires_at":`...), r.Subscription.ExpiresOn)
	b = web.AppendInt(append(b, `,"customers_count":`...), r.Customers)
	b = web.AppendTime(append(b, `,"created_at":`...), r.CreatedAt, c.actor.Company.Zone)
	return append(b, '}')
}

func (c *call) appendPaid(b []byte, p *reseller.Paid, now time.Time) []byte {
	b = c.appendReseller(b, &p.Reseller, now)
	b = web.AppendInt(append(b[:len(b)-1], `,"credits_spent":`...), p.CreditsSpent)
	b = web.AppendInt(append(b, `,"credits_balance":`...), p.CreditsBalance)
	return append(b, '}')
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
