package reseller

import (
	"context"

	"carteira/internal/account"
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
func (s *Service) applyPlan(ctx context.Context, tx account.Tx, change *planChange) (err error) {
	if change.before.ID == 0 {
		change.after.CreatedAt = tx.Now()
		change.after.ID, err = insertPlan(ctx, tx, change.after)
	} else {
		err = tx.Do(ctx, `
			UPDATE subscription_plans SET `+storedPlan.Columns("", " = ?")+`, search = ?, updated_at = ?
			WHERE company_id = ? AND id = ?`, append(planValues(tx.Tx, change.after), tx.Company.ID, change.after.ID)...)
	}
	if err != nil {
		return err
	}
	if change.before.ID != 0 && change.after.Functions != change.before.Functions {
		functions := account.FunctionsChange{
			PlanID: change.after.ID,
			Before: change.before.Functions,
			After:  change.after.Functions,
		}
		if err := s.accounts.SetFunctionsTx(ctx, tx, functions); err != nil {
			return err
		}
	}
	return auditPlan(ctx, tx, change)
}

func auditPlan(ctx context.Context, tx account.Tx, change *planChange) error {
	entry := account.AuditEntry{
		Action: string(change.action),
		Record: "subscription_plan",
		ID:     change.after.ID,
		Name:   change.after.Name,
		After:  planFields.Audit(&change.after),
	}
	if change.before.ID != 0 {
		entry.Before = planFields.Audit(&change.before)
	}
	return account.WriteAudit(ctx, tx, entry)
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
func post(ctx context.Context, tx account.Tx, posting posting) (balance int64, err error) {
	balance, ok, err := addToBalance(ctx, tx.Tx, posting.companyID, posting.entry.Amount)
	if err != nil {
		return balance, err
	}
	if !ok {
		return balance, tooFew(-posting.entry.Amount, balance)
	}
	posting.entry.Balance, posting.entry.By = balance, tx.Actor.By()
	return balance, insertEntry(ctx, tx.Tx, posting.companyID, posting.entry)
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
func (s *Service) applyCredits(ctx context.Context, tx account.Tx, change creditChange) (after Moved, err error) {
	ours := Entry{
		Kind:     change.ours,
		Amount:   change.gain,
		Reseller: Ref{ID: change.reseller.ID},
		Note:     change.note,
	}
	if after.Balance, err = post(ctx, tx, posting{tx.Company.ID, ours}); err != nil {
		return after, err
	}
	if change.reseller.ID == 0 {
		return after, auditCredits(ctx, tx, change)
	}
	theirs := Entry{
		Kind:     change.theirs,
		Amount:   -change.gain,
		Reseller: Ref{ID: tx.Company.ID},
		Note:     change.note,
	}
	after.ResellerBalance, err = post(ctx, tx, posting{change.reseller.ID, theirs})
	if err != nil {
		return after, err
	}
	return after, auditCredits(ctx, tx, change)
}

func auditCredits(ctx context.Context, tx account.Tx, change creditChange) error {
	entry := account.AuditEntry{
		Action: "credits." + string(change.ours),
		Record: "reseller",
		ID:     tx.Company.ID,
		Name:   tx.Company.Name,
		After:  account.AuditFields{"credits": max(change.gain, -change.gain)},
	}
	if change.reseller.ID != 0 {
		entry.ID, entry.Name = change.reseller.ID, change.reseller.Name
		theirs := entry
		theirs.Action, theirs.Record = "credits."+string(change.theirs), "company"
		if err := account.WriteChildAudit(ctx, tx, change.reseller.ID, theirs); err != nil {
			return err
		}
	}
	return account.WriteAudit(ctx, tx, entry)
}
