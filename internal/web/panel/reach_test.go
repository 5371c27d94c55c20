package panel

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/config"
)

func TestUnreachableAddressIsSaidAndNotSent(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		invoice := person.debtor("Bia Lima", "(11) 98765-4321")
		person.useBank()
		path := fmt.Sprintf("/invoices/%d/charge", invoice.ID)
		person.get("/").want(t, http.StatusOK).lacks(t, "não abrem os links")
		person.get("/settings/address").want(t, http.StatusOK, "Seus clientes conseguem abrir", "https://carteira.example", "CARTEIRA_TLS_DOMAIN")

		office.Reach = config.OnlyHere
		person.get("/").want(t, http.StatusOK, "Seus clientes não abrem os links", "neste computador", `href="/settings/address"`)
		person.get("/settings/address").want(t, http.StatusOK, "Seus clientes não abrem os links").lacks(t, "conseguem abrir")
		asked := person.get(path).want(t, http.StatusOK, "Seus clientes não abrem os links", `id="pix-code"`)
		found := waLink.FindStringSubmatch(asked.body)
		if found == nil || strings.Contains(found[1], "carteira.example") || !strings.Contains(found[1], "pix%3Ccode%3E") {
			t.Errorf("WhatsApp is %q", found)
		}
		person.get(fmt.Sprintf("/invoices/%d", invoice.ID)).want(t, http.StatusOK, "Seus clientes não abrem os links")
		const onlyHere = "Este link só abre neste computador"
		person.post("/settings/users/new", "name", "Caio", "email", "caio@example.com", "role", "attendant").want(t, http.StatusOK, "Um link para Caio", onlyHere)
		staff := person.colleague(account.RoleStaff)
		staff.get(path).want(t, http.StatusOK, "Seus clientes não abrem os links").lacks(t, `href="/settings/address"`)

		office.Reach = config.Unencrypted
		person.get("/").want(t, http.StatusOK, "não é criptografado")
		person.post("/settings/users/new", "name", "Davi", "email", "davi@example.com", "role", "attendant").want(t, http.StatusOK, "Um link para Davi").lacks(t, onlyHere)
		owes := fmt.Sprintf("/customers/%d", invoice.Customer.ID)
		person.follow(owes+"/page").want(t, http.StatusOK, "Seus clientes não abrem os links", `id="own-url"`).lacks(t, "%2Fmy%2F")
	})
}

// Without its gateway a company can still charge: the text goes without a code.
func TestUnreachableAddressWithAFailingGateway(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		invoice := person.debtor("Bia Lima", "(11) 98765-4321")
		person.useBank()
		office.Reach, office.bank.broken = config.OnlyHere, http.ErrServerClosed
		asked := person.get(fmt.Sprintf("/invoices/%d/charge", invoice.ID)).want(t, http.StatusOK, "wa.me")
		if found := waLink.FindStringSubmatch(asked.body); found == nil || strings.Contains(found[1], "http") && strings.Contains(found[1], "pay%2F") {
			t.Errorf("WhatsApp is %q", found)
		}
	})
}
