package api

import (
	"context"
	"time"

	"carteira/internal/reseller"
	"carteira/internal/web"
)

func (s *Server) listResellers(ctx context.Context, call *call) (web.Answer, error) {
	resellers, err := listed(ctx, call, reseller.ReadFilter, s.Resellers.List)
	now := s.DB.Now()
	return resellers.answer(func(object *web.Object, seller *reseller.Reseller) { call.writeReseller(object, seller, now) }), err
}

// madeReseller is a new reseller, with the invitation of an owner who has no password.
func (s *Server) madeReseller(call *call, made reseller.Paid) web.Answer {
	now := s.DB.Now()
	return web.Answer{Data: web.One(func(object *web.Object) {
		call.writePaid(object, &made, now)
		object.Text("invitation_link", made.InvitationLink)
	})}
}

func (s *Server) paidReseller(call *call, paid reseller.Paid) web.Answer {
	now := s.DB.Now()
	return web.Answer{Data: web.One(func(object *web.Object) { call.writePaid(object, &paid, now) })}
}

func (s *Server) reseller(call *call, seller reseller.Reseller) web.Answer {
	now := s.DB.Now()
	return web.Answer{Data: web.One(func(object *web.Object) { call.writeReseller(object, &seller, now) })}
}

// writeReseller writes the fields of a reseller's record. Its status goes by its
// own calendar, its times are the reader's.
func (c *call) writeReseller(object *web.Object, seller *reseller.Reseller, now time.Time) {
	object.Int("id", seller.ID)
	object.String("name", seller.Name)
	object.String("email", seller.Email)
	object.Text("whatsapp", seller.Whatsapp)
	object.String("level", string(seller.Level))
	object.String("status", string(seller.Standing(now)))
	object.Int("credits", seller.Credits)
	writeRef(object, "plan", seller.Plan.ID, seller.Plan.Name)
	object.Date("expires_at", seller.Subscription.ExpiresOn)
	object.Int("customers_count", seller.Customers)
	object.Time("created_at", seller.CreatedAt, c.actor.Company.Zone)
}

func (c *call) writePaid(object *web.Object, paid *reseller.Paid, now time.Time) {
	c.writeReseller(object, &paid.Reseller, now)
	object.Int("credits_spent", paid.CreditsSpent)
	object.Int("credits_balance", paid.CreditsBalance)
}

func (s *Server) listSubscriptionPlans(ctx context.Context, call *call) (web.Answer, error) {
	plans, err := listed(ctx, call, reseller.ReadPlanFilter, s.Resellers.Plans)
	return plans.answer(func(object *web.Object, plan *reseller.Plan) {
		s.writeSubscriptionPlan(object, plan, call.actor.Company.Zone)
	}), err
}

func (s *Server) writeSubscriptionPlan(object *web.Object, plan *reseller.Plan, zone *time.Location) {
	object.Int("id", plan.ID)
	object.String("name", plan.Name)
	object.Money("value", plan.Value)
	object.Int("credits", plan.Credits)
	object.String("period_unit", string(plan.Period.Unit))
	object.Int("period_count", int64(plan.Period.Count))
	object.Int("trial_days", int64(plan.TrialDays))
	object.Data("functions", web.JSON(plan.Functions.Names()))
	object.String("signup_link", s.Resellers.SignupLink(*plan))
	object.Bool("active", plan.Active)
	object.Time("created_at", plan.CreatedAt, zone)
}

func (s *Server) subscriptionPlan(call *call, plan reseller.Plan) web.Answer {
	return web.Answer{Data: web.One(func(object *web.Object) { s.writeSubscriptionPlan(object, &plan, call.actor.Company.Zone) })}
}
