package reseller

import (
	"context"
	"strings"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

// A reseller's row is a company's: account applies its changes. This file
// applies those of the room's own records, subscription plans and credits.

// PlanAction is what happened to a subscription plan, as the audit log names
// it.
type PlanAction string

// The actions.
const (
	PlanCreated     PlanAction = "subscription_plan.created"
	PlanUpdated     PlanAction = "subscription_plan.updated"
	PlanLinkRenewed PlanAction = "subscription_plan.link"
)

// planChange is one change of a plan's record. before is zero for a plan that is
// made.
type planChange struct {
	action        PlanAction
	before, after Plan
}

// applyPlan writes a change of a subscription plan and draws its consequences:
// row, the functions of the resellers on it, audit line. It is the only place
// that writes a plan's row.
func (s *Service) applyPlan(ctx context.Context, tx *sqldb.Tx, a account.Actor, c *planChange) (err error) {
	if c.before.ID == 0 {
		c.after.CreatedAt = tx.Now()
		c.after.ID, err = insertPlan(ctx, tx, a.Company.ID, c.after)
	} else {
		err = updatePlan(ctx, tx, a.Company.ID, c.after)
	}
	if err != nil {
		return err
	}
	if c.before.ID != 0 && c.after.Functions != c.before.Functions {
		functions := account.FunctionsChange{PlanID: c.after.ID, Before: c.before.Functions, After: c.after.Functions}
		if err := s.accounts.SetFunctionsTx(ctx, tx, a, functions); err != nil {
			return err
		}
	}
	return auditPlan(ctx, tx, a, c)
}

func auditPlan(ctx context.Context, tx *sqldb.Tx, a account.Actor, c *planChange) error {
	entry := account.AuditEntry{
		Action: string(c.action), Record: "subscription_plan", ID: c.after.ID, Name: c.after.Name, After: planFields.Of(&c.after),
	}
	if c.before.ID != 0 {
		entry.Before = planFields.Of(&c.before)
	}
	return account.WriteAudit(ctx, tx, a, entry)
}

// planFields are the fields of a plan as the audit log shows them.
var planFields = account.AuditTable[Plan]{
	{Name: "name", Show: func(p *Plan) any { return p.Name }},
	{Name: "value", Show: func(p *Plan) any { return p.Value }},
	{Name: "credits", Show: func(p *Plan) any { return p.Credits }},
	{Name: "period", Show: func(p *Plan) any { return p.Period }},
	{Name: "trial_days", Show: func(p *Plan) any { return p.TrialDays }},
	{Name: "functions", Show: func(p *Plan) any { return strings.Trim(p.Functions.String(), ",") }},
	{Name: "active", Show: func(p *Plan) any { return p.Active }},
}

// posting is an entry on its way into the ledger of a company.
type posting struct {
	companyID int64
	entry     Entry
}

// post changes a balance that was locked and writes the entry that says why. It
// refuses what would bring the balance below zero. It is the only place that
// writes balances and entries, but for lockBalances, which makes an empty one.
// The audit line is that of the move (applyCredits) or of the subscription that
// is paid for (account).
func post(ctx context.Context, tx *sqldb.Tx, a account.Actor, p posting) (balance int64, err error) {
	balance, ok, err := addToBalance(ctx, tx, p.companyID, p.entry.Amount)
	if err != nil {
		return balance, err
	}
	if !ok {
		return balance, tooFew(-p.entry.Amount, balance)
	}
	p.entry.Balance, p.entry.By = balance, a.By()
	return balance, insertEntry(ctx, tx, p.companyID, p.entry)
}

// creditChange is credits that are made for a company, or moved between it and a
// reseller. theirs is empty where there is no reseller.
type creditChange struct {
	ours, theirs EntryKind
	gain         int64 // of the acting company; negative: credits leave it
	reseller     account.Company
	note         string
}

// applyCredits posts both sides of a move and writes its audit lines: what a
// company does with the credits of a reseller is in the logs of both.
func (s *Service) applyCredits(ctx context.Context, tx *sqldb.Tx, a account.Actor, c creditChange) (after Moved, err error) {
	ours := Entry{Kind: c.ours, Amount: c.gain, Reseller: Ref{ID: c.reseller.ID}, Note: c.note}
	if after.Balance, err = post(ctx, tx, a, posting{a.Company.ID, ours}); err != nil {
		return after, err
	}
	if c.reseller.ID == 0 {
		return after, auditCredits(ctx, tx, a, c)
	}
	theirs := Entry{Kind: c.theirs, Amount: -c.gain, Reseller: Ref{ID: a.Company.ID}, Note: c.note}
	if after.ResellerBalance, err = post(ctx, tx, a, posting{c.reseller.ID, theirs}); err != nil {
		return after, err
	}
	return after, auditCredits(ctx, tx, a, c)
}

func auditCredits(ctx context.Context, tx *sqldb.Tx, a account.Actor, c creditChange) error {
	entry := account.AuditEntry{
		Action: "credits." + string(c.ours), Record: "reseller", ID: a.Company.ID, Name: a.Company.Name,
		After: account.AuditFields{"credits": max(c.gain, -c.gain)},
	}
	if c.reseller.ID != 0 {
		entry.ID, entry.Name = c.reseller.ID, c.reseller.Name
		theirs := entry
		theirs.Action, theirs.Record = "credits."+string(c.theirs), "company"
		if err := account.WriteChildAudit(ctx, tx, a, c.reseller.ID, theirs); err != nil {
			return err
		}
	}
	return account.WriteAudit(ctx, tx, a, entry)
}
