package panel

import (
	"net/http"
	"testing"

	"carteira/internal/account"
)

func TestPhoneIsConnectedInThePanel(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		ids := person.fill()
		person.post("/profile/proof", "proof", password, "next", "/")
		id := ids["messages/channels"]
		path := phonePath(id)
		person.get(channelPath(id)).want(t, http.StatusOK, "O celular", `hx-get="`+path+`"`)
		person.get(path).want(t, http.StatusOK, "Desconectado", "Mostrar o QR code").lacks(t, "hx-trigger", `<svg class="qr"`)
		person.mood(id, "empty")
		person.get(path).want(t, http.StatusOK, "ainda não tem a instância", `value="a &lt;b&gt;"`)
		person.follow(path, "do", "choose", "instance", "a <b>").want(t, http.StatusOK, "ainda não tem a instância a &lt;b&gt;")
		person.mood(id, "hatching")
		person.get(path).want(t, http.StatusOK, "preparando o código", `hx-trigger="every 5s"`).lacks(t, `<svg class="qr"`)
		person.mood(id, "calling")
		person.follow(path, "do", "connect").want(t, http.StatusOK, "Esperando o celular", `<svg class="qr"`, `hx-trigger="every 5s"`).lacks(t, "scan")
		person.mood(id, "home")
		person.get(path).want(t, http.StatusOK, "Conectado", "(11) 98765-4321", "Desconectar").lacks(t, "hx-trigger")
		person.follow(path, "do", "disconnect").want(t, http.StatusOK)
		person.mood(id, "wild")
		person.get(path).want(t, http.StatusOK, "Sem resposta", "a ponte respondeu 502", "Tentar de novo")
		person.post(path, "do", "connect").want(t, http.StatusOK, "a ponte respondeu 502")
		person.follow(path, "do", "sing").want(t, http.StatusOK, "deve ser connect")
		person.get("/settings/audit").want(t, http.StatusOK, "Celular de um canal conectado", "Celular de um canal desconectado")
		person.colleague(account.RoleStaff).get(path).want(t, http.StatusForbidden)
	})
}

// A channel without a phone has no page of one.
func TestChannelWithoutAPhoneHasNoPageOfOne(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.fill()
		person.post("/profile/proof", "proof", password, "next", "/")
		channel, _, err := person.Reminders.CreateChannel(t.Context(), person.actor, person.Reminders.ReadNewChannel(values("kind", "log", "name", "Diário")))
		if err != nil {
			t.Fatal(err)
		}
		person.get(phonePath(channel.ID)).want(t, http.StatusNotFound)
		person.post(phonePath(channel.ID), "do", "connect").want(t, http.StatusNotFound)
		person.get(channelPath(channel.ID)).want(t, http.StatusOK).lacks(t, "O celular")
		person.get("/messages/channels/new?kind=evolution").want(t, http.StatusOK, `value="carteira-`)
	})
}
