package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/catalog"
	"carteira/internal/customer"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// marks are texts of the customer that must be in the file, and nowhere after an
// erasure.
var marks = []string{"Zulmira Teixeira", "5511987654321", "zulmira@example.com", "zulmira.login", "alergia a gatos", "Rua das Hortênsias", "contrato 4711", "conta da irmã", "devolvido ao primo"}

func personOf(t *testing.T, program *App) (account.Actor, customer.Customer) {
	t.Helper()
	ctx := t.Context()
	company, owner, err := program.Accounts.CreateCompany(ctx, account.ReadNewCompany(housetest.Form("name", "Rede Clara", "email", "ana@example.com")))
	housetest.Must(t, err)
	actor := account.Actor{Company: company, UserID: owner.ID, Role: owner.Role, Name: "Ana", From: "192.0.2.1"}
	_, _, err = program.Webhooks.Create(ctx, actor, webhook.ReadNew(input.FromForm(
		map[string][]string{"url": {"https://example.com/hook"}, "events": {"customer.created"}}, "events")))
	housetest.Must(t, err)
	plan, err := program.Catalog.CreatePlan(ctx, actor, catalog.ReadNewPlan(housetest.Form("name", "Mensal", "value", "35.00", "period", "1month")))
	housetest.Must(t, err)
	record, err := program.Customers.Create(ctx, actor, customer.ReadNew(housetest.Form("name", marks[0], "whatsapp", marks[1], "email", marks[2], "usuario", marks[3],
		"notes", marks[4], "plan_id", fmt.Sprint(plan.ID), "data_de_vencimento", "2027-01-31", "external_id", marks[6])))
	housetest.Must(t, err)
	record, err = program.Customers.Update(ctx, actor, record.ID, customer.ReadChanges(housetest.Form("notes", marks[4]+", "+marks[5])))
	housetest.Must(t, err)
	owed, _, err := program.Billing.Owed(ctx, actor, record.ID)
	housetest.Must(t, err)
	_, err = program.Billing.SetStatus(ctx, actor, owed.ID, billing.ReadStatusChange(housetest.Form("status", "Pago", "note", marks[7])))
	housetest.Must(t, err)
	list, _, err := program.Billing.Payments(ctx, actor, billing.PaymentFilter{CustomerID: record.ID}, input.Page{Number: 1, Size: 1})
	housetest.Must(t, err)
	_, err = program.Billing.RefundPayment(ctx, actor, list[0].ID, billing.ReadRefund(housetest.Form("amount", "5.00", "note", marks[8])))
	housetest.Must(t, err)
	return actor, record
}

// everywhereIn lists the columns of all tables that hold a text.
func everywhereIn(t *testing.T, db *sqldb.DB, mark string) (found []string) {
	t.Helper()
	for table, columns := range map[string][]string{
		"customers": {"name", "whatsapp", "email", "usuario", "notes", "name_key", "address", "custom", "external_id"}, "customer_texts": {"text"},
		"invoices": {"description", "note"}, "charges": {"customer_name"}, "payments": {"customer_name", "note"}, "payment_refunds": {"note"},
		"events": {"body"}, "delivery_attempts": {"response_body"}, "audit_log": {"name", "changes"}, "reminder_messages": {"address", "subject", "body"},
	} {
		for _, column := range columns {
			n, err := sqldb.Value[int64](t.Context(), db, `SELECT count(*) FROM `+table+` WHERE `+column+` LIKE ?`, "%"+mark+"%")
			housetest.Must(t, err)
			if n > 0 {
				found = append(found, table+"."+column)
			}
		}
	}
	slices.Sort(found)
	return found
}

func TestFileHasEverythingAndErasureLeavesNothing(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		program := newApp(t, engine)
		actor, record := personOf(t, program)
		file, err := program.Privacy.CustomerFile(t.Context(), actor, record.ID)
		housetest.Must(t, err)
		for _, mark := range marks {
			if !strings.Contains(string(file), mark) {
				t.Errorf("the file lacks %q", mark)
			}
			if len(everywhereIn(t, program.DB, mark)) == 0 {
				t.Errorf("%q is nowhere: the test looks in the wrong places", mark)
			}
		}
		for _, table := range []string{"customers", "invoices", "charges", "payments", "payment_refunds", "reminder_messages", "events"} {
			if !strings.Contains(string(file), `"table": "`+table+`"`) {
				t.Errorf("the file lacks the table %s", table)
			}
		}
		housetest.Must(t, program.Privacy.Erase(t.Context(), actor, record.ID))
		for _, mark := range marks {
			if left := everywhereIn(t, program.DB, mark); len(left) > 0 {
				t.Errorf("%q is left in %v", mark, left)
			}
		}
		found, n, err := program.Customers.List(t.Context(), actor, customer.Filter{Search: "zulmira"}, input.Page{Number: 1, Size: 10})
		if err != nil || n != 0 || len(found) != 0 {
			t.Errorf("search still finds %d, %v", n, err)
		}
		_, err = program.Privacy.CustomerFile(t.Context(), actor, record.ID)
		if fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("the file of an erased customer: %v", err)
		}
		lines, _, err := program.Accounts.Audit(t.Context(), actor, account.AuditFilter{Record: "customer", ID: record.ID}, input.Page{Number: 1, Size: 10})
		if err != nil || len(lines) < 3 || lines[0].Action != "customer.deleted" || lines[0].Who != "Ana" {
			t.Errorf("the audit log does not tell that it happened: %+v, %v", lines, err)
		}
	})
}

func TestFileAndErasureAreTheCompanysAlone(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		program := newApp(t, engine)
		_, record := personOf(t, program)
		company, _, err := program.Accounts.CreateCompany(t.Context(), account.ReadNewCompany(housetest.Form("name", "Outra", "email", "b@example.com")))
		housetest.Must(t, err)
		stranger := account.Operator(company)
		if _, err := program.Privacy.CustomerFile(t.Context(), stranger, record.ID); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("a stranger got the file: %v", err)
		}
		if err := program.Privacy.Erase(t.Context(), stranger, record.ID); fault.KindOf(err) != fault.KindNotFound {
			t.Errorf("a stranger erased: %v", err)
		}
	})
}
