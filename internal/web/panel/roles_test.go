package panel

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/dashboard"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/internal/reseller"
	"carteira/internal/web/panel/kit"
)

// attendantMay is all that an attendant may open besides what is everybody's
// about themselves. A new route is in this list or is refused: its author
// decides here.
var attendantMay = []string{
	"GET /{$}", "GET /search", "GET /sandbox",
	"GET /customers", "GET /customers/new", "POST /customers/new", "GET /customers/{id}",
	"GET /customers/{id}/edit", "POST /customers/{id}/edit",
	"GET /customers/{id}/cancel", "POST /customers/{id}/cancel", "POST /customers/{id}/restore",
	"POST /customers/{id}/renew", "GET /customers/{id}/invoice", "POST /customers/{id}/invoice",
	"POST /customers/{id}/page", "GET /customers/{id}/page/withdraw", "POST /customers/{id}/page/withdraw",
	"POST /customers/{id}/messages", "GET /customers/{id}/charge", "GET /customers/{id}/received", "POST /undo", "GET /recent",
	"POST /customers/{id}/autopay", "GET /customers/{id}/autopay/end", "POST /customers/{id}/autopay/end",
	"POST /customers/{id}/autopay/simulate", "GET /customers/{id}/autopay/request", "POST /customers/{id}/autopay/request",
	"GET /payments/autopay", "GET /customers/{id}/slips",
	"GET /notices", "GET /notices/{id}", "POST /notices/{id}/dismiss",
	"GET /invoices", "GET /invoices/{id}", "GET /invoices/{id}/pay", "POST /invoices/{id}/pay",
	"GET /invoices/{id}/receipt", "GET /invoices/{id}/charge", "POST /invoices/{id}/pix",
	"GET /plans", "GET /products",
	"GET /messages", "GET /messages/rounds/{id}", "GET /messages/templates", "GET /messages/log", "GET /messages/log/{id}",
}

func TestAttendantOpensWhatTheListSaysAndNothingElse(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		owner := office.owner(t, "ana@example.com")
		ids, attendant := owner.fill(), owner.colleague(account.RoleAttendant)
		before, known := owner.everything(), map[string]bool{}
		for _, route := range office.table() {
			known[route.Pattern()] = true
			if route.Role == public || route.Role == self {
				continue
			}
			listed := slices.Contains(attendantMay, route.Pattern())
			if listed != kit.Allows(account.RoleAttendant, route.Role) {
				t.Errorf("%s: the list says %t, its role %q says otherwise", route.Pattern(), listed, route.Role)
			}
			if !listed {
				attendant.try(route, ids).want(t, http.StatusForbidden, "sua permissão não inclui isto")
			} else if route.Method == http.MethodGet {
				if got := attendant.try(route, ids).status; got == http.StatusForbidden {
					t.Errorf("%s is refused", route.Pattern())
				}
			}
		}
		for _, pattern := range attendantMay {
			if !known[pattern] {
				t.Errorf("%s is no route", pattern)
			}
		}
		if after := owner.everything(); after != before {
			t.Errorf("something changed:\n%s\nthen\n%s", before, after)
		}
	})
}

func TestAttendantSeesNoTotalsAndNoWayToDeleteOrExport(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		owner := office.owner(t, "ana@example.com")
		ids, attendant := owner.fill(), owner.colleague(account.RoleAttendant)
		owner.get("/").want(t, http.StatusOK, "Recebido no mês", "Receita recorrente mensal")
		attendant.get("/").want(t, http.StatusOK, "Vencem hoje", "/customers/new").
			lacks(t, "Recebido", "Receita", "Previsto", "Em atraso", "Doze meses", `href="/payments"`, `href="/credits"`, `href="/resellers"`, "/invoices/bulk")
		owner.get("/invoices").want(t, http.StatusOK, "1 fatura · R$", "/invoices/export")
		attendant.get("/invoices").want(t, http.StatusOK, "1 fatura<", "/charge", "/pay?").lacks(t, "1 fatura · ", "/export", `name="action"`)
		attendant.get("/customers").want(t, http.StatusOK, "/customers/new", "/charge").lacks(t, "/export", `name="action"`, `href="/imports"`)
		path := fmt.Sprintf("/customers/%d", ids["customers"])
		attendant.get(path).want(t, http.StatusOK, path+"/edit", path+"/charge", path+"/renew").lacks(t, path+"/delete", path+"/erase", path+"/file")
		invoice := fmt.Sprintf("/invoices/%d", ids["invoices"])
		attendant.get(invoice).want(t, http.StatusOK, invoice+"/pay").lacks(t, invoice+"/status", invoice+"/edit", "/refund")
		attendant.get("/search?q=c").want(t, http.StatusOK, "/customers/new").lacks(t, `href="/imports"`, `href="/payments"`, `href="/credits"`)
	})
}

func TestAttendantDoesTheDaysWork(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		owner := office.owner(t, "ana@example.com")
		ids, attendant := owner.fill(), owner.colleague(account.RoleAttendant)
		attendant.follow("/customers/new", "name", "Bia").want(t, http.StatusOK, "Bia: cadastro criad")
		attendant.follow(fmt.Sprintf("/invoices/%d/pay", ids["invoices"]), "amount", "35,00", "via", "cash").want(t, http.StatusOK, "fatura paga", "Desfazer")
	})
}

// What an attendant may not do is refused by the use cases too, whatever edge
// asks for it.
func TestUseCasesRefuseAttendants(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	owner := office.owner(t, "ana@example.com")
	ids, actor := owner.fill(), owner.colleague(account.RoleAttendant).actor
	_, _, worth := office.Billing.Worth(t.Context(), actor, billing.Filter{}, 1)
	_, month := office.Dashboard.Month(t.Context(), actor, dashboard.Question{})
	walked := office.Customers.Walk(t.Context(), actor, customer.Filter{}, func(customer.Customer) error { return nil })
	walkedInvoices := office.Billing.Walk(t.Context(), actor, billing.Filter{}, func(billing.Invoice) error { return nil })
	for what, err := range map[string]error{
		"the worth of invoices": worth, "the month": month, "deleting": office.Customers.Delete(t.Context(), actor, ids["customers"]),
		"erasing": office.Privacy.Erase(t.Context(), actor, ids["customers"]), "exporting customers": walked, "exporting invoices": walkedInvoices,
	} {
		if fault.KindOf(err) != fault.KindForbidden {
			t.Errorf("%s: %v", what, err)
		}
	}
	list, _, err := office.Customers.List(t.Context(), actor, customer.Filter{}, input.Page{Number: 1, Size: 10})
	if err != nil || len(list) == 0 {
		t.Errorf("the day's work is refused too: %v", err)
	}
}

func TestOwnerMakesAnAttendantAndChangesTheRole(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		ana := office.owner(t, "ana@example.com")
		ana.post("/profile/proof", "proof", password, "next", "/settings/users")
		ana.post("/settings/users/new", "name", "Rui", "email", "rui@example.com", "role", "attendant").want(t, http.StatusOK, "Atendente", "/password/")
		users, err := office.Accounts.Users(t.Context(), ana.actor)
		if err != nil || users[1].Role != account.RoleAttendant {
			t.Fatalf("%+v, %v", users, err)
		}
		path := fmt.Sprintf("/settings/users/%d", users[1].ID)
		ana.get(path).want(t, http.StatusOK, `value="attendant" selected`)
		ana.follow(path, "role", "staff").want(t, http.StatusOK, "Equipe")
		ana.follow(path, "role", "attendant").want(t, http.StatusOK, "Atendente")
	})
}

func TestCompanyAtTheTopGrantsItselfCredits(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		ana := office.owner(t, "ana@example.com")
		ana.get("/credits").want(t, http.StatusOK, `href="/credits/grant"`)
		ana.post("/credits/grant", "amount", "0").want(t, http.StatusUnprocessableEntity, `value="0"`, `role="alert"`)
		ana.follow("/credits/grant", "amount", "40", "note", "para a Loja").
			want(t, http.StatusOK, "Os créditos foram criados. Agora você tem 40.", `id="balance-value">40<`, "para a Loja", "Criados no topo", ">Ana<")
		ana.get("/settings/audit").want(t, http.StatusOK, "Créditos concedidos")
		ana.colleague(account.RoleStaff).get("/credits").want(t, http.StatusOK).lacks(t, "/credits/grant")
		child := ana.below("name", "Loja")
		child.get("/credits").want(t, http.StatusOK).lacks(t, "/credits/grant")
		child.get("/credits/grant").want(t, http.StatusOK, "A empresa acima").lacks(t, `name="amount"`)
		child.post("/credits/grant", "amount", "40").want(t, http.StatusForbidden)
		if balance, err := office.Resellers.Balance(t.Context(), child.actor); err != nil || balance != 0 {
			t.Errorf("a company below has %d credits, %v", balance, err)
		}
	})
}

func TestHomeOfACompanyWithResellersShowsWhatEnds(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		ana := office.owner(t, "ana@example.com")
		ana.get("/").want(t, http.StatusOK).lacks(t, "Testes que terminam")
		ana.follow("/credits/grant", "amount", "40")
		for name, days := range map[string]string{"Curto": "5", "Longo": "20"} {
			plan, err := office.Resellers.CreatePlan(t.Context(), ana.actor, reseller.ReadNewPlan(values("name", name, "value", "1", "credits", "0", "trial_days", days)))
			if err != nil {
				t.Fatal(err)
			}
			_, err = office.Resellers.Create(t.Context(), ana.actor, reseller.ReadNewReseller(values("name", "Loja "+name, "email", strings.ToLower(name)+"@example.com",
				"type", "trial", "plan_id", fmt.Sprint(plan.ID))))
			if err != nil {
				t.Fatal(err)
			}
		}
		home := ana.get("/").want(t, http.StatusOK, "Saldo: 40 créditos", "Testes que terminam em 7 dias", "Loja Curto", "Nenhuma assinatura termina")
		home.lacks(t, "Loja Longo")
		ana.get("/resellers?status=trial&expires_from=2026-01-31&expires_to=2026-02-07").want(t, http.StatusOK, "Loja Curto").lacks(t, "Loja Longo")
		ana.colleague(account.RoleAttendant).get("/").want(t, http.StatusOK).lacks(t, "Saldo", "Loja Curto")
	})
}
