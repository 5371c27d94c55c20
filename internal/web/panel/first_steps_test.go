package panel

import (
	"net/http"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/config"
)

// The steps stay after an import, and go one by one as they are done or hidden.
func TestFirstStepsStayUntilDoneOrHidden(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.debtors(person.fill()["plans"], 8)
		person.get("/").want(t, http.StatusOK, "Para começar", "CNPJ ou CPF da empresa", "Multa e juros", `value="whatsapp"`, `value="logo"`, "Para fazer hoje")
		colleague := person.colleague(account.RoleStaff)
		colleague.get("/").lacks(t, "Ocultar", "Multa e juros")
		person.follow("/settings/steps", "step", "late").want(t, http.StatusOK, "Para começar").lacks(t, "Multa e juros")
		person.post("/settings/steps", "step", "late").want(t, http.StatusNotFound)
		colleague.post("/settings/steps", "step", "all").want(t, http.StatusForbidden)
		person.follow("/settings/steps", "step", "all").want(t, http.StatusOK, "Para fazer hoje").lacks(t, "Para começar")
		person.get("/settings/audit").want(t, http.StatusOK, "Primeiros passos ocultos")
	})
}

// What is done by itself is found once, and then not asked for again.
func TestFirstStepsThatAreDoneAreWrittenDown(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		office.Reach = config.Reachable
		person.debtors(person.fill()["plans"], 1)
		settings := []string{"name", "Rede Clara", "cpf_cnpj", "11.222.333/0001-81", "whatsapp", "11987654321", "late_fee_percent", "2"}
		person.post("/settings", settings...).want(t, http.StatusSeeOther)
		company, err := account.FindCompany(t.Context(), office.DB, person.actor.Company.ID)
		if err != nil || company.CpfCnpj != "11222333000181" {
			t.Fatalf("%q, %v", company.CpfCnpj, err)
		}
		person.post("/settings", "cpf_cnpj", "11.222.333/0001-82").want(t, http.StatusUnprocessableEntity)
		for _, step := range []string{"logo", "rules", "team", "gateway"} {
			if body := person.get("/").body; strings.Contains(body, `value="`+step+`"`) {
				person.post("/settings/steps", "step", step).want(t, http.StatusSeeOther)
			}
		}
		person.get("/").want(t, http.StatusOK).lacks(t, "Para começar")
		company, err = account.FindCompany(t.Context(), office.DB, person.actor.Company.ID)
		if err != nil || !strings.Contains(company.HiddenSteps, "cpf_cnpj") || !strings.Contains(company.HiddenSteps, "plan") {
			t.Errorf("hidden: %q, %v", company.HiddenSteps, err)
		}
	})
}
