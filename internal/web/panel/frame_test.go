package panel

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
)

func TestErrorsOfWhoIsSignedInKeepTheFrame(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		ana := office.owner(t, "ana@example.com")
		for path, status := range map[string]int{"/customers/999999": 404, "/nowhere": 404, "/customers/x": 404} {
			ana.get(path).want(t, status, `aria-label="Menu principal"`, "Esta página não existe")
		}
		rui := ana.colleague(account.RoleReadOnly)
		rui.get("/settings").want(t, http.StatusForbidden, `aria-label="Menu principal"`, "sua permissão não inclui isto")
		office.visitor(t).get("/nowhere").want(t, http.StatusNotFound, "Esta página não existe").lacks(t, "Menu principal")
	})
}

var focused = regexp.MustCompile(`name="([^"]+)"[^>]* autofocus`)

func TestFirstWrongFieldHasTheCursor(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	ana := office.owner(t, "ana@example.com")
	for form, want := range map[string]string{"": "name", "name=Bia&email=x&cpf_cnpj=1": "email", "name=Bia&cpf_cnpj=1": "cpf_cnpj"} {
		var pairs []string
		for pair := range strings.SplitSeq(form, "&") {
			name, value, _ := strings.Cut(pair, "=")
			pairs = append(pairs, name, value)
		}
		answer := ana.post("/customers/new", pairs...).want(t, http.StatusUnprocessableEntity)
		found := focused.FindAllStringSubmatch(answer.body, -1)
		if len(found) != 1 || found[0][1] != want {
			t.Errorf("%q leads to %v, want %s", form, found, want)
		}
	}
	if found := focused.FindAllStringSubmatch(ana.get("/customers/new").body, -1); len(found) != 1 || found[0][1] != "name" {
		t.Errorf("a new form leads to %v", found)
	}
}

func TestMasksAreHintsToScriptsAndEverySpellingIsRead(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	ana := office.owner(t, "ana@example.com")
	ana.get("/customers/new").want(t, http.StatusOK, `data-mask="phone"`, `data-mask="taxid"`, `data-mask="cep"`, `data-mask="money"`)
	for n, spelling := range [][2]string{{"(11) 98765-4321", "529.982.247-25"}, {"11987654321", "52998224725"}, {"+55 11 98765 4321", " 529.982.247-25 "}} {
		ana.follow("/customers/new", "another", "yes", "name", fmt.Sprint("Bia ", n), "whatsapp", spelling[0], "cpf_cnpj", spelling[1], "address.cep", "01310-100", "price", "1.234,56").
			want(t, http.StatusOK, "(11) 98765-4321", "529.982.247-25", "R$\u00a01.234,56")
	}
	ana.get("/customers/1/edit").want(t, http.StatusOK, `value="1.234,56"`).lacks(t, "1234.56")
}

func TestWrongCodeIsNotTypedAgain(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	ana := office.owner(t, "ana@example.com")
	ana.post("/profile/proof", "proof", password, "next", "/profile/second-factor")
	ana.post("/profile/second-factor", "code", "123456").want(t, http.StatusConflict, `role="alert"`).lacks(t, `value="123456"`)
}

func TestCustomerWhoIsThereAlreadyIsPointedOut(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		ana := office.owner(t, "ana@example.com")
		ana.follow("/customers/new", "name", "Bia", "whatsapp", "(11) 98765-4321")
		ana.follow("/customers/new", "name", "Caio", "cpf_cnpj", "529.982.247-25")
		ana.post("/customers/new", "name", "Beatriz", "whatsapp", "11 98765 4321", "cpf_cnpj", "52998224725").
			want(t, http.StatusConflict, "Talvez já esteja cadastrado", ">Bia</a>", ">Caio</a>", "Criar assim mesmo", `value="Beatriz"`)
		ana.get("/customers").want(t, http.StatusOK).lacks(t, "Beatriz")
		ana.post("/customers/new", "name", "", "whatsapp", "11 98765 4321").want(t, http.StatusUnprocessableEntity).lacks(t, "Talvez já")
		ana.follow("/customers/new", "name", "Beatriz", "whatsapp", "11 98765 4321", "another", "yes").want(t, http.StatusOK, "Beatriz")
		office.owner(t, "rui@example.com").follow("/customers/new", "name", "Lia", "whatsapp", "(11) 98765-4321").want(t, http.StatusOK, "Lia")
	})
}

func TestAuditLogNamesWhatBecameOfAnInvoice(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	ana := office.owner(t, "ana@example.com")
	invoice := fmt.Sprintf("/invoices/%d", ana.fill()["invoices"])
	ana.post(invoice+"/pay", "amount", "35,00", "via", "cash")
	ana.get("/settings/audit").want(t, http.StatusOK, "Fatura paga").lacks(t, "Fatura alterada")
	ana.post(invoice+"/status", "status", "Em aberto")
	ana.post(invoice+"/status", "status", "Cancelado")
	ana.get("/settings/audit").want(t, http.StatusOK, "Fatura reaberta", "Fatura cancelada")
}

// After a payment is undone the history of the customer does not end with the
// renewal that it brought.
func TestHistoryOfACustomerHasThePaymentAndItsUndoing(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		ana := office.owner(t, "ana@example.com")
		ids := ana.fill()
		invoice, path := fmt.Sprintf("/invoices/%d", ids["invoices"]), fmt.Sprintf("/customers/%d", ids["customers"])
		number := fmt.Sprintf("nº %d", ids["invoices"])
		ana.post(invoice+"/pay", "amount", "35,00", "via", "cash")
		ana.get(path).want(t, http.StatusOK, "Fatura paga", number, "Cliente renovado").lacks(t, "Vencimento voltou")
		ana.post(invoice+"/status", "status", "Em aberto")
		undone := ana.get(path).want(t, http.StatusOK, "Fatura reaberta", "Vencimento voltou à data anterior")
		if back, renewed := strings.Index(undone.body, "Vencimento voltou"), strings.Index(undone.body, "Cliente renovado"); back > renewed {
			t.Error("the newest is not the first")
		}
		ana.post(path+"/cancel", "cancelled", "true", "keep_invoices", "false")
		ana.post(path+"/restore", "cancelled", "false")
		ana.get(path).want(t, http.StatusOK, "Cliente cancelado", "Cliente reativado").lacks(t, "Cliente alterado")
	})
}
