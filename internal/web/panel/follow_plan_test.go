package panel

import (
	"fmt"
	"net/http"
	"testing"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/platform/money"
)

// After saving a plan, the page lists the customers that do not follow, and
// offers to change them too.
func TestSavedPlanSaysWhoFollows(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		plan := person.debtor("Ana", "11987654320").Plan.ID
		path := fmt.Sprintf("/plans/%d", plan)
		for n, price := range []string{"35.00", "20.00", "30.00"} {
			form := []string{"name", fmt.Sprint("Cliente ", n), "plan_id", fmt.Sprint(plan), "price", price, "data_de_vencimento", "2026-01-31"}
			if n == 2 {
				form = append(form, "cancelled", "true")
			}
			if _, err := person.Customers.Create(t.Context(), person.actor, customer.ReadNew(values(form...))); err != nil {
				t.Fatal(err)
			}
		}
		own, err := person.Customers.OwnPriced(t.Context(), person.actor, plan)
		if err != nil || own == 0 {
			t.Fatal(own, err)
		}
		list := fmt.Sprintf("/customers?plan_id=%d&amp;own_price=true", plan)
		said := fmt.Sprintf("não mudam: %d.", own)
		person.follow(path, "name", "Fibra", "value", "40,00", "period_count", "1", "period_unit", "month", "active", "true").
			want(t, http.StatusOK, said, list, path+"/follow")
		person.wantRows(list, int(own))
		person.get(path+"/follow").want(t, http.StatusOK, "Todos pagam o preço de Fibra, R$ 40,00?")
		person.colleague(account.RoleAttendant).post(path+"/follow").want(t, http.StatusForbidden)
		person.follow(path+"/follow").want(t, http.StatusOK, fmt.Sprintf("Fibra: %d.", own))
		person.get(path).want(t, http.StatusOK).lacks(t, path+"/follow")
		err = person.Customers.Walk(t.Context(), person.actor, customer.Filter{PlanID: plan, Status: customer.DueToday}, func(record customer.Customer) error {
			if record.Price() != money.Cents(4000) {
				t.Errorf("%s pays %s", record.Name, record.Price())
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
