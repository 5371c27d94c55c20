package reminder

import (
	"testing"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
)

func TestStoredSecretsGoToNoOtherMachine(t *testing.T) {
	kind := Kind{Options: []Option{{Name: "host"}, {Name: "from"}, {Name: "password", Secret: true}, {Name: "spare", Secret: true}}}
	channel := Channel{Options: map[string]string{"host": "smtp.example.com", "from": "a@example.com"}}
	stored := map[string]string{"password": "s3nha"}
	for name, tt := range map[string]struct {
		options map[string]string
		refused bool
	}{
		"another host":              {map[string]string{"host": "evil.example.com"}, true},
		"the same host":             {map[string]string{"host": "smtp.example.com", "from": "b@example.com"}, false},
		"another sender":            {map[string]string{"from": "b@example.com"}, false},
		"another host and password": {map[string]string{"host": "smtp.other.com", "password": "n0va"}, false},
	} {
		draft := ChannelDraft{Options: map[string]input.Opt[string]{}}
		for option, value := range tt.options {
			draft.Options[option] = input.Some(value)
		}
		fields := fault.FieldsOf(draft.secretsForNewHost(channel, kind, stored))
		if refused := len(fields.Get("password")) > 0; refused != tt.refused || len(fields.Get("spare")) > 0 {
			t.Errorf("%s: refused %v, want %v", name, refused, tt.refused)
		}
	}
}
