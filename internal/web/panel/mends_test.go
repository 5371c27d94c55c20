package panel

import (
	"fmt"
	"net/http"
	"testing"

	"carteira/internal/account"
	"carteira/internal/payment"
)

// What a gateway lacks is said in the reader's language, and leads to the field of
// the customer or to the option of the gateway.
func TestRefusalOfAGatewayLeadsToWhatMendsIt(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.useBank()
		invoice := person.debtor("Bia", "")
		path, edit := fmt.Sprintf("/invoices/%d", invoice.ID), fmt.Sprintf("/customers/%d/edit", invoice.Customer.ID)
		office.bank.broken = &payment.Refusal{
			Reason: "Mercado Pago needs the customer's e-mail address; enter one, or the option payer_email for all who have none",
		}
		mail, option := `href="`+edit+`#f-email"`, `href="/payments/gateways/bank#f-payer_email"`
		refused := person.follow(path+"/pix").want(t, http.StatusOK,
			"Banco &amp; Cia recusou: falta o e-mail do cliente; preencha no cadastro", mail, option)
		refused.lacks(t, "needs the customer")
		person.get(path+"/charge").want(t, http.StatusOK, mail, option)
		person.get(edit).want(t, http.StatusOK, `id="f-email"`)
		attendant := person.colleague(account.RoleAttendant)
		attendant.get(path).want(t, http.StatusOK, mail).lacks(t, option)
		person.colleague(account.RoleReadOnly).get(path).want(t, http.StatusOK).lacks(t, mail, option)

		office.bank.broken = &payment.Refusal{Reason: "the answer was: 400: sem saldo"}
		person.follow(path+"/pix").want(t, http.StatusOK, "recusou: a resposta foi: 400: sem saldo")
	})
}
