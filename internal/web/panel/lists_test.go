package panel

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/platform/sqldb"
	"carteira/internal/reseller"
)

// table reads a file as a spreadsheet in Brazil does.
func (a answer) table(t *testing.T) [][]string {
	t.Helper()
	text, marked := strings.CutPrefix(a.body, "\ufeff")
	if a.status != http.StatusOK || !marked || !strings.HasPrefix(a.header.Get("Content-Disposition"), "attachment;") {
		t.Fatalf("%d %v %.200q", a.status, a.header, a.body)
	}
	reader := csv.NewReader(strings.NewReader(text))
	reader.Comma = ';'
	rows, err := reader.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// lists are those with chips of days, a total and a file, each with its file's
// address and a span of days that holds nothing.
func lists(ids map[string]int64) map[string][2]string {
	hook := fmt.Sprintf("/webhooks/%d", ids["webhooks"])
	return map[string][2]string{
		"/payments":       {"/payments/export", "from=2001-01-01&to=2001-01-02"},
		"/messages/log":   {"/messages/log/export", "due_from=2001-01-01&due_to=2001-01-02"},
		"/resellers":      {"/resellers/export", "expires_from=2001-01-01&expires_to=2001-01-02"},
		"/credits":        {"/credits/export", "from=2001-01-01&to=2001-01-02"},
		"/settings/audit": {"/settings/audit/export", "from=2001-01-01&to=2001-01-02"},
		hook:              {hook + "/export", "from=2001-01-01&to=2001-01-02"},
	}
}

func TestEveryListHasDaysATotalAndAFile(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		ana := office.owner(t, "ana@example.com")
		for path, list := range lists(ana.fill()) {
			shown := ana.get(path).want(t, http.StatusOK, "Este mês", "Mês passado", "Hoje", `href="`+list[0]+`?"`)
			total := regexp.MustCompile(`<strong class="small">(\d+) `).FindStringSubmatch(shown.body)
			rows := ana.get(list[0]).table(t)
			listed := len(rows) - 1
			if path == "/settings/audit" {
				listed-- // the line that says that the log was exported
			}
			if total == nil || fmt.Sprint(listed) != total[1] || len(rows) < 2 {
				t.Errorf("%s says %v, and its file has %d rows", path, total, len(rows)-1)
			}
			for _, row := range rows[1:] {
				for _, cell := range row {
					if strings.HasPrefix(cell, "=") || strings.HasPrefix(cell, "+") || strings.HasPrefix(cell, "@") {
						t.Errorf("%s: a spreadsheet runs %q", list[0], cell)
					}
				}
			}
			ana.get(path+"?"+list[1]).want(t, http.StatusOK, "Limpar os filtros").lacks(t, `<strong class="small">`)
			if rows := ana.get(list[0] + "?" + list[1]).table(t); len(rows) != 1 {
				t.Errorf("%s has %d rows of days without any", list[0], len(rows)-1)
			}
			ana.get(path+"?from=x&due_from=x&expires_from=x").want(t, http.StatusOK)
			if answer := ana.get(list[0] + "?from=x&due_from=x&expires_from=x"); answer.status != http.StatusUnprocessableEntity {
				t.Errorf("%s of wrong days answered %d", list[0], answer.status)
			}
		}
	})
}

func TestPaymentsAreFilteredAndAddedUp(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		ana := office.owner(t, "ana@example.com")
		ana.useBank()
		invoice := ana.debtor("=Bia", "")
		ana.pay(invoice.ID, 0)
		extra, err := office.Billing.CreateExtra(t.Context(), ana.actor, invoice.Customer.ID, billing.ReadExtra(values("amount", "10.50", "due", "2026-01-31")))
		if err != nil {
			t.Fatal(err)
		}
		ana.follow(fmt.Sprintf("/invoices/%d/pay", extra.ID), "amount", "10,50", "via", "cash", "paid_at", "2026-01-30")
		worth := (invoice.Amount + 1050).BR()
		ana.get("/payments").want(t, http.StatusOK, "2 pagamentos · "+worth)
		ana.get("/payments?status=applied").want(t, http.StatusOK, "2 pagamentos · "+worth)
		ana.get("/payments?status=refunded").want(t, http.StatusOK, "Nenhum pagamento encontrado")
		ana.get("/payments?paid_via=bank").want(t, http.StatusOK, "1 pagamento · "+invoice.Amount.BR(), "<details class=\"morefilters\" open>")
		rows := ana.get("/payments/export").table(t)
		if len(rows) != 3 || rows[1][1] != "'=Bia" || rows[1][6] != "10,50" || rows[2][6] != strings.TrimPrefix(invoice.Amount.BR(), "R$ ") {
			t.Errorf("%v", rows)
		}
		link := regexp.MustCompile(`href="(/invoices/\d+\?from=[^"]+)"`).FindStringSubmatch(ana.get("/payments?status=applied").body)
		if link == nil {
			t.Fatal("a row leads nowhere")
		}
		ana.get(strings.ReplaceAll(link[1], "&amp;", "&")).want(t, http.StatusOK, `href="/payments?status=applied"`, "← Pagamentos")
		ana.get(fmt.Sprintf("/invoices/%d?from=https://evil.example/payments", invoice.ID)).want(t, http.StatusOK, `href="/invoices"`).lacks(t, `href="https://evil`)
	})
}

func TestRecordsOfListsLeadBackAndToTheirNeighbours(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		ana := office.owner(t, "ana@example.com")
		ids := ana.fill()
		for n := range 2 {
			_, err := office.Resellers.Create(t.Context(), ana.actor, reseller.ReadNewReseller(values("name", fmt.Sprint("Loja ", n), "email", fmt.Sprintf("l%d@example.com", n),
				"type", "subscriber", "plan_id", fmt.Sprint(ids["subscription-plans"]))))
			if err != nil {
				t.Fatal(err)
			}
		}
		row := regexp.MustCompile(`href="(/resellers/\d+\?list=[^"]+at=2)"`).FindStringSubmatch(ana.get("/resellers?status=active").body)
		if row == nil {
			t.Fatal("a row has no place")
		}
		ana.get(strings.ReplaceAll(row[1], "&amp;", "&")).want(t, http.StatusOK, `href="/resellers?status=active"`, `rel="prev"`, `rel="next"`)
		message := regexp.MustCompile(`href="(/messages/log/\d+\?list=[^"]+)"`).FindStringSubmatch(ana.get("/messages/log?status=scheduled").body)
		if message == nil {
			t.Fatal("a message has no place")
		}
		ana.get(strings.ReplaceAll(message[1], "&amp;", "&")).want(t, http.StatusOK, `href="/messages/log?status=scheduled"`)
	})
}

func TestFilesNeedTheFunctionOfExports(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	ana := office.owner(t, "ana@example.com")
	all := lists(ana.fill())
	office.exec(t, `UPDATE companies SET functions = ',api,webhooks,payments,resellers,reminders,' WHERE id = ?`, ana.actor.Company.ID)
	for path, list := range all {
		ana.get(path).want(t, http.StatusOK).lacks(t, list[0])
		ana.get(list[0]).want(t, http.StatusForbidden, "Seu plano não inclui isto", string(account.FunctionExport))
	}
}
