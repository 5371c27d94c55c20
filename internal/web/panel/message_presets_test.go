package panel

import (
	"net/http"
	"testing"

	"carteira/internal/reminder/smtp"
	"carteira/internal/web/page"
)

func TestPresetsFillInTheForm(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.get("/messages/channels/new?kind=smtp").want(t, http.StatusOK, "Serviço de e-mail", "Gmail, Google Workspace", `href="/messages/channels/new?kind=smtp&amp;preset=hostinger"`)
		person.get("/messages/channels/new?kind=smtp&preset=gmail").want(t, http.StatusOK, `value="smtp.gmail.com"`, `value="587"`, "senha de app")
		person.get("/messages/channels/new?kind=smtp&preset=sendgrid").want(t, http.StatusOK, `value="smtp.sendgrid.net"`, `value="apikey"`)
		person.get("/messages/channels/new?kind=smtp&preset=none").want(t, http.StatusOK).lacks(t, "smtp.gmail.com\"")
		person.get("/messages/channels/new?kind=evolution").want(t, http.StatusOK).lacks(t, "Serviço de e-mail")
	})
}

// A mail server that wants no password has none, and the pages say so.
func TestMailServerWithoutPassword(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		channel, _, err := person.Reminders.CreateChannel(t.Context(), person.actor, person.Reminders.ReadNewChannel(values(
			"kind", "smtp", "name", "Correio", "host", "93.184.215.14", "from", "ana@example.com")))
		if err != nil {
			t.Fatal(err)
		}
		path := channelPath(channel.ID)
		person.get(path).want(t, http.StatusOK, "Correio").lacks(t, "guardado com criptografia")
		person.get(path+"/edit").want(t, http.StatusOK).lacks(t, "••••••••")
		person.get(path+"/edit?preset=brevo").want(t, http.StatusOK, `value="smtp-relay.brevo.com"`, `value="ana@example.com"`)
		person.follow(path+"/edit", "name", "Correio", "host", "93.184.215.14", "port", "587", "security", "starttls", "from", "ana@example.com",
			"username", "ana", "password", "hunter2-hunter2", "per_minute", "60").want(t, http.StatusOK, "guardado com criptografia")
		person.get(path+"/edit").want(t, http.StatusOK, "••••••••")
	})
}

func TestPresetsHavePortuguese(t *testing.T) {
	for _, option := range smtp.Kind.Options {
		for _, choice := range option.Choices {
			if label := optionWord(page.Portuguese, choice); label == choice {
				t.Errorf("%s is offered as the API calls it", choice)
			}
		}
	}
	for _, preset := range smtp.Kind.Presets {
		for _, text := range []string{preset.Title, preset.Hint} {
			if !page.Known(text) {
				t.Errorf("messages/*.txt lacks a line:\n%s | ", text)
			}
		}
	}
}
