package panel

import (
	"fmt"
	"net/http"
	"testing"

	"carteira/internal/account"
)

func TestCustomerIsAskedForAutopayAndItIsEndedFromTheRecord(t *testing.T) {
	eachOffice(t, func(t *testing.T, office *office) {
		ana := office.owner(t, "ana@example.com")
		path := fmt.Sprintf("/customers/%d", ana.fill()["customers"])
		ana.get(path).want(t, http.StatusOK, "PIX Automático", "Não pedido", "Pedir autorização")
		ana.follow(path+"/autopay").want(t, http.StatusOK, "O cliente foi perguntado.", "Aguardando o cliente", "rec&lt;code&gt;", "faça o papel do cliente")
		ana.follow(path+"/autopay/simulate", "what", "authorise").want(t, http.StatusOK, "Autorizado desde")
		ana.get(path+"/autopay/end").want(t, http.StatusOK, "Encerrar o PIX Automático de João")
		ana.follow(path+"/autopay/end").want(t, http.StatusOK, "O PIX Automático foi encerrado.", "Encerrado em", "pela empresa", "Pedir autorização")
		ana.get("/settings/audit").want(t, http.StatusOK, "PIX Automático de um cliente alterado")
		ana.colleague(account.RoleReadOnly).get(path).want(t, http.StatusOK).lacks(t, "autopay-title")
	})
}
