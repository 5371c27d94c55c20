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
		functions := account.PlanFunctions{PlanID: c.after.ID, Before: c.before.Functions, Functions: c.after.Functions}
		if err := s.accounts.SetFunctionsTx(ctx, tx, a, functions); err != nil {
			return err
		}
	}
	return auditPlan(ctx, tx, a, c)
}

func auditPlan(ctx context.Context, tx *sqldb.Tx, a account.Actor, c *planChange) error {
	entry := account.AuditEntry{
		Action: string(c.action), Record: "subscription_plan", ID: c.after.ID, Name: c.after.Name, After: planAudit(&c.after),
	}
	if c.before.ID != 0 {
		entry.Before = planAudit(&c.before)
	}
	return account.WriteAudit(ctx, tx, a, entry)
}

// planFields are the fields of a plan as the audit log shows them.
var planFields = []struct {
	name string
	show func(*Plan) any
}{
	{"name", func(p *Plan) any { return p.Name }},
	{"value", func(p *Plan) any { return p.Value }},
	{"credits", func(p *Plan) any { return p.Credits }},
	{"period", func(p *Plan) any { return p.Period }},
	{"trial_days", func(p *Plan) any { return p.TrialDays }},
	{"functions", func(p *Plan) any { return strings.Trim(p.Functions.String(), ",") }},
	{"active", func(p *Plan) any { return p.Active }},
}

func planAudit(p *Plan) account.AuditFields {
	shown := make(account.AuditFields, len(planFields))
	for _, f := range planFields {
		shown[f.name] = f.show(p)
	}
	return shown
}

// posting is an entry on its way into the ledger of a company.
type posting struct {
	companyID int64
	entry     Entry
}

// post changes a balance that was locked and writes the entry that says why. It
// refuses what would bring the balance below zero. It is the only place that
// writes balances and entries, but for lockBalances, which makes an empty one.
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

// creditMove is credits that are made for a company, or moved between it and a
// reseller. theirs is empty where there is no reseller.
type creditMove struct {
	ours, theirs EntryKind
	gain         int64 // of the acting company; negative: credits leave it
	reseller     account.Company
	note         string
}

// applyMove posts both sides of a move and writes its audit lines: what a
// company does with the credits of a reseller is in the logs of both.
func (s *Service) applyMove(ctx context.Context, tx *sqldb.Tx, a account.Actor, m creditMove) (after Moved, err error) {
	ours := Entry{Kind: m.ours, Amount: m.gain, Reseller: Ref{ID: m.reseller.ID}, Note: m.note}
	if after.Balance, err = post(ctx, tx, a, posting{a.Company.ID, ours}); err != nil {
		return after, err
	}
	if m.reseller.ID == 0 {
		return after, auditMove(ctx, tx, a, m)
	}
	theirs := Entry{Kind: m.theirs, Amount: -m.gain, Reseller: Ref{ID: a.Company.ID}, Note: m.note}
	if after.ResellerBalance, err = post(ctx, tx, a, posting{m.reseller.ID, theirs}); err != nil {
		return after, err
	}
	return after, auditMove(ctx, tx, a, m)
}

func auditMove(ctx context.Context, tx *sqldb.Tx, a account.Actor, m creditMove) error {
	entry := account.AuditEntry{
		Action: "credits." + string(m.ours), Record: "reseller", ID: a.Company.ID, Name: a.Company.Name,
		After: account.AuditFields{"credits": max(m.gain, -m.gain)},
	}
	if m.reseller.ID != 0 {
		entry.ID, entry.Name = m.reseller.ID, m.reseller.Name
		theirs := entry
		theirs.Action, theirs.Record = "credits."+string(m.theirs), "company"
		if err := account.WriteChildAudit(ctx, tx, a, m.reseller.ID, theirs); err != nil {
			return err
		}
	}
	return account.WriteAudit(ctx, tx, a, entry)
}
