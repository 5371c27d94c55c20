package panel

import (
	"fmt"
	"net/http"
	"testing"

	"carteira/internal/account"
	"carteira/internal/payment"
)

func TestCustomerIsAskedForAutopayAndItIsEndedFromTheRecord(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		ana := office.owner(t, "ana@example.com")
		path := fmt.Sprintf("/customers/%d", ana.fill()["customers"])
		ana.get(path).want(t, http.StatusOK, "PIX Automático", "Não pedido", "Pedir por código", "Pedir pelo banco do cliente")
		ana.follow(path+"/autopay").want(t, http.StatusOK, "O pedido foi enviado.", "Aguardando o cliente", "rec&lt;code&gt;", "faça o papel do cliente")
		ana.follow(path+"/autopay/simulate", "what", "authorise").want(t, http.StatusOK, "Autorizado desde")
		ana.get(path+"/autopay/end").want(t, http.StatusOK, "Encerrar o PIX Automático de João")
		ana.follow(path+"/autopay/end").want(t, http.StatusOK, "O PIX Automático foi encerrado.", "Encerrado em", "pela empresa", "Pedir por código")
		ana.get("/settings/audit").want(t, http.StatusOK, "PIX Automático de um cliente alterado")
		ana.colleague(account.RoleReadOnly).get(path).want(t, http.StatusOK).lacks(t, "autopay-title")
	})
}

func TestCustomersBankIsAskedFromTheRecord(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		ana := office.owner(t, "ana@example.com")
		path := fmt.Sprintf("/customers/%d", ana.fill()["customers"])
		desk := ana.colleague(account.RoleAttendant)
		desk.get(path).want(t, http.StatusOK, path+"/autopay/request", "O banco pergunta ao cliente no aplicativo")
		form := path + "/autopay/request"
		desk.get(form).want(t, http.StatusOK, "Nubank", "Outro banco, pelo ISPB", `data-mask="account"`)
		wrong := desk.post(form, "bank", "", "ispb", "123", "branch", "1234-5", "account", "12345-X")
		wrong.want(t, http.StatusUnprocessableEntity, "precisa ter os oito dígitos do ISPB", "no máximo quatro, sem o dígito verificador",
			"no máximo vinte, com o dígito verificador", `value="12345-X"`, `<option value="other" selected>`)
		desk.post(form, "bank", "other").want(t, http.StatusUnprocessableEntity, "é preciso para o pedido ao banco")
		office.bank.broken = &payment.Refusal{Reason: "the payer has no CPF"}
		desk.post(form, "bank", "18236120", "branch", "0001", "account", "123456-7").
			want(t, http.StatusBadGateway, "the payer has no CPF", `value="123456-7"`)
		office.bank.broken = nil
		desk.follow(form, "bank", "18236120", "ispb", "left over", "branch", "00.01", "account", "123456-7").
			want(t, http.StatusOK, "O pedido foi enviado ao banco do cliente.", "Aguardando o cliente", "O banco do cliente pergunta no aplicativo").
			lacks(t, "rec&lt;code&gt;")
		want := payment.PayerAccount{ISPB: "18236120", Branch: "0001", Account: "1234567"}
		if got := office.bank.mandate; got.Journey != payment.JourneyRequest || got.Account == nil || *got.Account != want {
			t.Errorf("the bank was asked for %+v, %+v", got, got.Account)
		}
		desk.follow(path+"/autopay").want(t, http.StatusOK, "o pedido já foi enviado ao cliente de outra forma")
		ana.colleague(account.RoleReadOnly).get(form).want(t, http.StatusForbidden)
	})
}

func TestRecordSaysWhichJourneysTheGatewayHas(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		ana := office.owner(t, "ana@example.com")
		path := fmt.Sprintf("/customers/%d", ana.fill()["customers"])
		office.bank.journeys = []payment.Journey{payment.JourneyCode}
		ana.get(path).want(t, http.StatusOK, "Pedir por código").lacks(t, "/autopay/request")
		ana.post(path+"/autopay/request", "bank", "18236120", "branch", "1", "account", "2").
			want(t, http.StatusUnprocessableEntity, "o gateway da empresa não tem esta forma de pedir")
		office.bank.journeys = []payment.Journey{payment.JourneyPayCode}
		ana.get(path).want(t, http.StatusOK, "o cliente autoriza ao pagar").lacks(t, "Pedir por código", "O seu gateway não tem")
	})
}

func TestListOfAutopayIsForEverybodyWhoSeesCustomers(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		ana := office.owner(t, "ana@example.com")
		path := fmt.Sprintf("/customers/%d", ana.fill()["customers"])
		ana.get("/payments/autopay").want(t, http.StatusOK, "Nenhum pedido ainda")
		ana.follow(path+"/autopay").want(t, http.StatusOK)
		ana.follow(path+"/autopay/simulate", "what", "authorise").want(t, http.StatusOK, "Quem mais tem")
		desk := ana.colleague(account.RoleAttendant)
		for _, person := range []*person{ana, desk, ana.colleague(account.RoleReadOnly)} {
			person.get("/payments/autopay").want(t, http.StatusOK, "João", "Autorizado", "1 cliente")
			person.get("/payments/autopay?state=active").want(t, http.StatusOK, "João")
			person.get("/payments/autopay?state=failed").want(t, http.StatusOK, "Ninguém está nesta situação no momento.")
		}
		desk.get("/payments/autopay").lacks(t, `href="/payments/reviews"`)
		ana.get("/payments/autopay?state=odd").want(t, http.StatusOK, "João")
	})
}
