package account_test

import (
	"context"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
)

var wholePage = input.Page{Number: 1, Size: 100}

func TestAuditLogSaysWhoDidWhatFromWhere(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		_, visit := house.signIn(t)
		ctx, actor := t.Context(), visit.Actor
		token, _, err := house.CreateToken(ctx, actor, account.ReadNewToken(form("name", "CRM")))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := house.SetCompany(ctx, actor, account.ReadCompanyDraft(form("name", "Rede Nova", "lead_days", "5"))); err != nil {
			t.Fatal(err)
		}
		byToken := account.Actor{Company: actor.Company, TokenID: token.ID, From: "198.51.100.7"}
		if _, err := house.SetCompany(ctx, byToken, account.ReadCompanyDraft(form("lead_days", "9"))); err != nil {
			t.Fatal(err)
		}
		if _, err := house.SetCompany(ctx, account.System(actor.Company, "test"), account.ReadCompanyDraft(form("lead_days", "8"))); err != nil { // the program itself
			t.Fatal(err)
		}
		list, n, err := house.Audit(ctx, actor, account.AuditFilter{}, wholePage)
		if err != nil || n != 5 || len(list) != 5 {
			t.Fatalf("log %+v, %d, %v", list, n, err)
		}
		api, panel, made, in, first := list[0], list[1], list[2], list[3], list[4]
		if api.Who != "CRM" || api.Address != "198.51.100.7" || api.TokenID != token.ID || api.UserID != 0 ||
			len(api.Changes) != 1 || api.Changes[0] != (account.FieldChange{Field: "lead_days", Before: "5", After: "9"}) {
			t.Errorf("by token: %+v", api)
		}
		if panel.Who != "Ana" || panel.UserID != actor.UserID || len(panel.Changes) != 1 || panel.Changes[0].After != "Rede Nova" || !panel.At.Equal(noon) {
			t.Errorf("in the panel: %+v", panel)
		}
		if made.Action != "token.created" || made.Name != "CRM" || in.Action != "signin" || in.Address != here.Address {
			t.Errorf("before: %+v, %+v", made, in)
		}
		if first.Action != "company.created" || first.Address != account.CommandLine || first.RecID != actor.Company.ID {
			t.Errorf("first of all: %+v", first)
		}
		if one, n, err := house.Audit(ctx, actor, account.AuditFilter{Record: "token", ID: token.ID}, wholePage); err != nil || n != 1 || one[0].ID != made.ID {
			t.Errorf("of one record: %+v, %v", one, err)
		}
		stranger := newCompany(t, house.Service, "stranger@example.com")
		if list, n, err := house.Audit(ctx, stranger, account.AuditFilter{}, wholePage); err != nil || n != 1 || list[0].RecID != stranger.Company.ID {
			t.Errorf("another company sees %+v, %v", list, err)
		}
	})
}

func TestAuditLogIsOnlyAddedToAndPrunedByAge(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		_, visit := house.signIn(t)
		err := house.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			for range 1100 {
				if err := account.WriteAudit(t.Context(), visit.Actor.In(tx), account.AuditEntry{Action: "x", Record: "y"}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		err = house.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec(context.WithoutCancel(t.Context()), `UPDATE audit_log SET who = 'nobody'`)
			return err
		})
		if err == nil {
			t.Error("a line was changed")
		}
		house.clock.Advance(400 * 24 * time.Hour)
		house.signIn(t)
		house.clock.Advance(time.Hour)
		if err := house.PruneAudit(t.Context(), 400*24*time.Hour); err != nil {
			t.Fatal(err)
		}
		if list, n, err := house.Audit(t.Context(), visit.Actor, account.AuditFilter{}, wholePage); err != nil || n != 1 || list[0].Action != "signin" {
			t.Errorf("%d lines are left: %+v, %v", n, list, err)
		}
	})
}

func TestHistoryOfRecordsHasTheNewestOfAllFirst(t *testing.T) {
	eachHouse(t, func(t *testing.T, house house) {
		_, visit := house.signIn(t)
		ctx, actor := t.Context(), visit.Actor
		var tokens []int64
		for _, name := range []string{"CRM", "ERP"} {
			token, _, err := house.CreateToken(ctx, actor, account.ReadNewToken(form("name", name)))
			if err != nil {
				t.Fatal(err)
			}
			tokens = append(tokens, token.ID)
			if _, err := house.SetCompany(ctx, actor, account.ReadCompanyDraft(form("name", "Rede "+name))); err != nil {
				t.Fatal(err)
			}
		}
		history := func(limit int, of ...account.AuditSubject) (said string) {
			t.Helper()
			lines, err := house.History(ctx, actor, of, limit)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range lines {
				said += line.Action + " " + line.Name + "; "
			}
			return said
		}
		company := account.AuditSubject{Record: "company", IDs: []int64{actor.Company.ID}}
		both := history(4, company, account.AuditSubject{Record: "token", IDs: tokens})
		if both != "company.updated Rede ERP; token.created ERP; company.updated Rede CRM; token.created CRM; " {
			t.Error(both)
		}
		if one := history(9, account.AuditSubject{Record: "token", IDs: tokens[1:]}, account.AuditSubject{Record: "user"}); one != "token.created ERP; " {
			t.Error(one)
		}
		if none := history(9); none != "" {
			t.Error(none)
		}
		stranger := newCompany(t, house.Service, "stranger@example.com")
		if lines, err := house.History(ctx, stranger, []account.AuditSubject{company}, 9); err != nil || len(lines) != 0 {
			t.Errorf("another company sees %+v, %v", lines, err)
		}
	})
}
