package panel

import (
	"fmt"
	"net/http"
	"testing"

	"carteira/internal/catalog"
	"carteira/internal/web/panel/kit"
)

func TestPlanAndProductThatNobodyHasAreDeleted(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		ids := person.fill()
		product, err := person.Catalog.CreateProduct(t.Context(), person.actor, catalog.ReadNewProduct(values("name", "Fibar")))
		if err != nil {
			t.Fatal(err)
		}
		plan, err := person.Catalog.CreatePlan(t.Context(), person.actor,
			catalog.ReadNewPlan(values("name", "Mensla", "value", "35.00", "period", "1month", "product_id", kit.IDText(product.ID))))
		if err != nil {
			t.Fatal(err)
		}
		planPath, productPath := "/plans/"+kit.IDText(plan.ID), "/products/"+kit.IDText(product.ID)
		person.follow(productPath+"/delete").want(t, http.StatusOK, "há planos, clientes ou faturas com este produto")
		person.get(planPath).want(t, http.StatusOK, planPath+"/delete")
		person.get(planPath+"/delete").want(t, http.StatusOK, "Excluir Mensla?", "nenhum cliente e nenhuma fatura")
		person.follow(planPath+"/delete").want(t, http.StatusOK, "Mensla: cadastro excluído.")
		person.follow(productPath+"/delete").want(t, http.StatusOK, "Fibar: cadastro excluído.")
		person.get(planPath).want(t, http.StatusNotFound)
		person.get("/settings/audit").want(t, http.StatusOK, "Plano excluído", "Produto excluído", "Mensla", "Fibar")

		used := fmt.Sprintf("/plans/%d", ids["plans"])
		person.follow(used+"/delete").want(t, http.StatusOK, "há clientes ou faturas com este plano; em vez disso, arquive-o")
		person.get(used).want(t, http.StatusOK)
	})
}

func TestPlanOfAMessageRuleIsNotDeleted(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		ids := person.fill()
		plan, err := person.Catalog.CreatePlan(t.Context(), person.actor, catalog.ReadNewPlan(values("name", "Anual", "value", "350.00", "period", "1year")))
		if err != nil {
			t.Fatal(err)
		}
		office.exec(t, `UPDATE reminder_rules SET plan_id = ? WHERE company_id = ? AND id = ?`, plan.ID, person.actor.Company.ID, ids["messages/rules"])
		path := "/plans/" + kit.IDText(plan.ID)
		person.follow(path+"/delete").want(t, http.StatusOK, "uma regra de mensagens é para ele")
		person.get(path).want(t, http.StatusOK, "Anual")
	})
}
