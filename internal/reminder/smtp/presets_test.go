package smtp

import (
	"maps"
	"testing"

	"carteira/test/kit/channeltest"
)

func TestPresetsNeedOnlyWhatIsTheCompanysOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, preset := range Kind.Presets {
		if seen[preset.Name] || preset.Title == "" || preset.Hint == "" {
			t.Errorf("%+v", preset)
		}
		seen[preset.Name] = true
		options := map[string]string{"from": "cobranca@clara.example"}
		maps.Copy(options, preset.Options)
		if preset.Options["security"] != none {
			options["password"] = "secret"
		}
		if _, err := Kind.Open(options, channeltest.Env()); err != nil {
			t.Errorf("%s: %v", preset.Name, err)
		}
		usual := map[string]string{startTLS: "587", implicit: "465", none: "25"}[preset.Options["security"]]
		if preset.Options["port"] != usual {
			t.Errorf("%s: port %s with %s", preset.Name, preset.Options["port"], preset.Options["security"])
		}
	}
	if len(seen) < 10 {
		t.Errorf("%d services", len(seen))
	}
}

// A relay wants no sign-in, with TLS or without.
func TestServerWithoutSignIn(t *testing.T) {
	for _, security := range []string{startTLS, none} {
		server := newMailServer(t, func(server *mailServer) { server.auth, server.noTLS = "", security == none })
		sender, err := open(server.options("security", security, "username", "", "password", ""), channeltest.Env())
		if err != nil {
			t.Fatal(err)
		}
		letter := channeltest.Letter()
		letter.To = letter.Email
		if _, err := sender.Send(t.Context(), letter); err != nil || len(server.received()) != 1 || server.received()[0].user != "" {
			t.Errorf("%s: %v, %+v", security, err, server.received())
		}
	}
}
