package panel

import (
	"net/http"
	"strings"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/internal/reminder"
	"carteira/internal/web/panel/kit"
)

func TestChannelOfMetaShowsWhereItsReportsGo(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		without, _, err := person.Reminders.CreateChannel(t.Context(), person.actor, person.Reminders.ReadNewChannel(values(
			"kind", "whatsapp_cloud", "phone_number_id", "106540352242922", "token", "EAAJB")))
		if err != nil {
			t.Fatal(err)
		}
		shown := person.get(channelPath(without.ID)).want(t, http.StatusOK, "Avisos de entrega", "Nenhum chegou ainda", "Falta a chave secreta do aplicativo",
			"https://carteira.example/channels/whatsapp_cloud/"+without.CallbackKey, without.VerifyToken)
		if strings.Count(shown.body, "guardado com criptografia") != 1 { // the token, and no app secret
			t.Errorf("secrets that are not set are said to be kept:\n%s", shown.body)
		}
		person.follow(channelPath(without.ID)+"/edit", "name", "Zap", "phone_number_id", "106540352242922", "api_version", "v23.0",
			"per_minute", "600", "app_secret", "0f1e2d3c4b5a69788796a5b4c3d2e1f0").want(t, http.StatusOK, "Avisos de entrega").
			lacks(t, "Falta a chave secreta", "0f1e2d3c4b5a69788796a5b4c3d2e1f0")
	})
}

// arrive writes what a carrier reported of a message that was sent.
func (p *person) arrive(messageID int64, arrival reminder.Arrival, problem string) {
	p.t.Helper()
	err := p.DB.Write(p.t.Context(), func(tx *sqldb.Tx) error {
		at := tx.Now().UnixMicro()
		if _, err := tx.Exec(p.t.Context(), `UPDATE reminder_attempts SET arrival = ?, arrival_at = ?, arrival_problem = ?
			WHERE company_id = ? AND message_id = ?`, string(arrival), at, problem, p.actor.Company.ID, messageID); err != nil {
			return err
		}
		_, err := tx.Exec(p.t.Context(), `UPDATE reminder_messages SET arrival = ?, arrival_at = ? WHERE company_id = ? AND id = ?`,
			string(arrival), at, p.actor.Company.ID, messageID)
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

func TestArrivalsAreShownAndFiltered(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		id := person.fill()["messages/log"]
		if m := person.send(id); m.Status != reminder.Sent {
			t.Fatalf("%s: %s", m.Status, m.Reason)
		}
		path := "/messages/log/" + kit.IDText(id)
		person.get(path).want(t, http.StatusOK, "Enviada").lacks(t, "Informado pelo serviço")
		person.arrive(id, reminder.ArrivalRead, "")
		person.get(path).want(t, http.StatusOK, "Lida", "Informado pelo serviço")
		person.get("/messages/log?arrival=read").want(t, http.StatusOK, path, `<span class="tag" data-tone="good">Lida</span>`, `aria-current="true"`)
		person.get("/messages/log?arrival=delivered").want(t, http.StatusOK, "Nenhuma corresponde a estes filtros").lacks(t, path+"?")
		person.post("/profile/proof", "proof", password, "next", "/messages/log")
		person.get("/messages/log/export?arrival=read").want(t, http.StatusOK, "chegada em", "Lida")
		person.arrive(id, reminder.ArrivalFailed,
			"the number cannot get the message: it is not on WhatsApp, or its app is too old, so check it with the customer (Meta 131026)")
		person.get(path).want(t, http.StatusOK, "Não chegou",
			"o número não pode receber a mensagem: não está no WhatsApp ou o aplicativo é antigo demais, confira com o cliente (Meta 131026)")
	})
}
