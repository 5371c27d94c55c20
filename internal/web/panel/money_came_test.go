package panel

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"carteira/internal/dashboard"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
)

// What was undone is no money that came: list, total and file leave it out.
func TestPaymentsAreTheMoneyThatCame(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		undone, kept := person.debtor("Bia", "11987654321"), person.debtor("Caio", "11987654322")
		person.post(fmt.Sprintf("/invoices/%d/pay", undone.ID), "amount", "35,00", "paid_via", "pix").want(t, http.StatusSeeOther)
		person.follow(fmt.Sprintf("/received/%d/undo", person.newestPayment())).want(t, http.StatusOK)
		person.post(fmt.Sprintf("/invoices/%d/pay", kept.ID), "amount", "35,00", "paid_via", "pix").want(t, http.StatusSeeOther)
		for _, query := range []string{"", "?paid_via=pix"} {
			person.get("/payments"+query).want(t, http.StatusOK, "1 pagamento · R$ 35,00", "Caio").lacks(t, ">Bia<", "hand:", "#undone")
			if rows := person.export("/payments/export" + query); len(rows) != 2 || rows[1][1] != "Caio" || rows[1][8] != "" {
				t.Errorf("%q: %q", query, rows)
			}
		}
		person.get("/payments?status=dismissed").want(t, http.StatusOK, "1 pagamento", ">Bia<").lacks(t, ">Caio<")
		if rows := person.export("/payments/export?status=dismissed"); len(rows) != 2 || rows[1][1] != "Bia" {
			t.Errorf("%q", rows)
		}
	})
}

// A person who hears that a customer has paid records it on the home page, and is
// back there.
func TestReceivedOnTheHomePage(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		invoice := person.debtor("Bia", "11987654321")
		dialog := fmt.Sprintf("/customers/%d/received?back=/", invoice.Customer.ID)
		person.get("/").want(t, http.StatusOK, dialog, "Recebi").lacks(t, fmt.Sprintf(`formaction="/customers/%d/renew"`, invoice.Customer.ID))
		person.get(dialog).want(t, http.StatusOK, fmt.Sprintf(`action="/invoices/%d/pay"`, invoice.ID), `name="back" value="/"`)
		person.post(fmt.Sprintf("/invoices/%d/pay", invoice.ID), "amount", "20,00", "paid_via", "pix").
			want(t, http.StatusUnprocessableEntity, "escolha se o resto ainda virá ou se é desconto").lacks(t, "diga partial")
	})
}

func TestReceivedInTheListAndOnTheRecord(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.debtors(person.fill()["plans"], 1)
		list := person.owed(1)
		record := customerPath(list[0].Customer.ID)
		for _, path := range []string{"/customers?status=Vencido", record} {
			person.get(path).want(t, http.StatusOK, "Recebi", `href="`+record+`/received?back=`)
			person.get(record+"/received?back="+url.QueryEscape(path)).
				want(t, http.StatusOK, fmt.Sprintf(`action="/invoices/%d/pay"`, list[0].ID), `name="back" value="`+path+`"`)
		}
	})
}

func TestMonthIsComparedWithTheSameDays(t *testing.T) {
	day := func(text string, amount money.Cents) dashboard.Day {
		return dashboard.Day{Date: civil.MustParse(text), Amount: amount}
	}
	revenue := dashboard.Revenue{
		ByDay:         []dashboard.Day{day("2026-11-01", 100), day("2026-11-02", 50), day("2026-11-03", 0)},
		PreviousByDay: []dashboard.Day{day("2026-10-01", 80), day("2026-10-02", 20), day("2026-10-03", 900)},
	}
	for today, want := range map[string]string{"2026-11-02": "+50,0%", "2026-11-03": "-85,0%", "2026-12-09": "-85,0%", "2026-10-31": ""} {
		if got := change(revenue, civil.MustParse(today)); got != want {
			t.Errorf("on %s: %s, want %s", today, got, want)
		}
	}
}

func TestPaymentsAreSearchedOrderedByDayAndAddedUpByMeans(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.debtors(person.fill()["plans"], 2)
		list := person.owed(2)
		person.get(fmt.Sprintf("/invoices/%d/pay", list[0].ID)).want(t, http.StatusOK, `value="pix" selected`)
		person.follow(fmt.Sprintf("/invoices/%d/pay", list[0].ID), "amount", "35,00", "paid_via", "pix", "paid_at", "2026-01-20")
		person.follow(fmt.Sprintf("/invoices/%d/pay", list[1].ID), "amount", "35,00", "paid_via", "cash", "paid_at", "2026-01-10")
		shown := person.get("/payments")
		shown.want(t, http.StatusOK, "PIX R$ 35,00", "dinheiro R$ 35,00", "20/01/2026").lacks(t, "00:00")
		if strings.Index(shown.body, "20/01/2026") > strings.Index(shown.body, "10/01/2026") {
			t.Error("the newest day does not come first")
		}
		name := list[0].Customer.Name
		person.get("/payments?search="+url.QueryEscape(name)).want(t, http.StatusOK, name).lacks(t, list[1].Customer.Name+"<")
		person.get("/payments?search=zzz").want(t, http.StatusOK, "Nenhum pagamento")
	})
}

func TestReceiptHasWhatTheSettingsSayOfTheCompany(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		debt := person.debtor("Bia", "11987654321")
		person.post("/settings", "contact_email", "x").want(t, http.StatusUnprocessableEntity)
		person.follow("/settings", "cpf_cnpj", "11.222.333/0001-81", "address", "Rua A, 1", "contact_email", "oi@example.com").want(t, http.StatusOK, "Rua A, 1")
		person.follow(fmt.Sprintf("/invoices/%d/pay", debt.ID), "amount", "35,00")
		person.get(fmt.Sprintf("/invoices/%d/receipt", debt.ID)).want(t, http.StatusOK,
			fmt.Sprintf("Nº %d", debt.ID), "11.222.333/0001-81", "Rua A, 1", "oi@example.com", "sem informar")
	})
}

// A refund is a row with a minus on its own day: what January's list and file say
// stays as it was, and the totals are the month's for the accountant.
func TestRefundIsARowOfItsOwnDay(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		bia, caio := person.debtor("Bia", "11987654321"), person.debtor("Caio", "11987654322")
		person.follow(fmt.Sprintf("/invoices/%d/pay", bia.ID), "amount", "35,00", "paid_via", "pix", "paid_at", "2025-12-20")
		back := fmt.Sprintf("/received/%d/refund", person.newestPayment())
		person.follow(fmt.Sprintf("/invoices/%d/pay", caio.ID), "amount", "35,00", "paid_via", "cash", "paid_at", "2026-01-20")
		const december, january = "?from=2025-12-01&to=2025-12-31", "?from=2026-01-01&to=2026-01-31"
		before := person.export("/payments/export" + december)
		person.follow(back, "amount", "5,00", "refunded_on", "2026-01-25", "note", "=cobrado a mais").want(t, http.StatusOK)

		person.get("/payments"+december).want(t, http.StatusOK, "1 pagamento · R$ 35,00", ">Bia<").lacks(t, "devolvido", "Devoluções", "-R$")
		if after := person.export("/payments/export" + december); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("December was %q, and is %q", before, after)
		}
		person.get("/payments"+january).want(t, http.StatusOK, "1 pagamento · 1 devolução · R$ 30,00", "dinheiro R$ 35,00", "PIX -R$ 5,00",
			"Devoluções", ">Bia<", "25/01/2026", "cobrado a mais", "Ana", "-R$\u00a05,00")
		rows := person.export("/payments/export" + january)
		if len(rows) != 3 || rows[2][1] != "Bia" || fmt.Sprint(rows[2][3:8]) != "[25/01/2026 PIX Dinheiro devolvido -5,00 Ana]" ||
			!strings.HasSuffix(rows[2][9], "cobrado a mais") {
			t.Errorf("January is %q", rows)
		}
		for query, want := range map[string]string{
			"": "2 pagamentos · 1 devolução · R$ 65,00", "?search=bia": "1 pagamento · 1 devolução · R$ 30,00",
			january + "&search=bia": "0 pagamentos · 1 devolução · -R$ 5,00", december + "&search=bia": "1 pagamento · R$ 35,00",
			january + "&paid_via=pix": "0 pagamentos · 1 devolução · -R$ 5,00", "?search=caio": "1 pagamento · R$ 35,00",
		} {
			person.get("/payments"+query).want(t, http.StatusOK, want)
		}
		person.get("/payments/month?month=2026-01").want(t, http.StatusOK, "R$\u00a030,00", "-R$\u00a05,00")
	})
}
