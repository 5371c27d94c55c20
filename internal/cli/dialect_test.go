package cli

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"regexp"
	"testing"
	"time"

	"carteira/internal/event"
	"carteira/internal/platform/config"
	"carteira/internal/platform/sqldb"
	"carteira/internal/webhook"
	"carteira/test/kit/sqldbtest"
)

// What commands print as JSON is in the API's dialect: times with their offset, null
// for what is not there.
func TestListsAsJSONAreInTheDialectOfTheAPI(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		s := newShell(t, engine)
		run := func(args ...string) string {
			t.Helper()
			code, stdout, stderr := s.run(t, args...)
			if code != 0 {
				t.Fatalf("%v: %s", args, stderr)
			}
			return stdout
		}
		run("token", "create", "--company", "1", "--name", "ERP", "--scope", "read")
		var tokens []map[string]any
		if err := json.Unmarshal([]byte(run("token", "list", "--company", "1", "--json")), &tokens); err != nil || len(tokens) != 1 {
			t.Fatal(tokens, err)
		}
		at := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d-03:00$`)
		if made, _ := tokens[0]["created_at"].(string); !at.MatchString(made) {
			t.Errorf("created_at is %v", tokens[0]["created_at"])
		}
		for _, never := range []string{"last_used_at", "expires_at"} {
			if value, there := tokens[0][never]; !there || value != nil {
				t.Errorf("%s is %v", never, value)
			}
		}
		if companies := run("company", "list", "--json"); !bytes.Contains([]byte(companies), []byte(`"parent":null`)) {
			t.Error(companies)
		}
	})
}

func TestEventsOfAWebhookAreAListAsInTheAPI(t *testing.T) {
	hook := webhook.Webhook{ID: 1, Events: []event.Name{event.InvoicePaid, event.CustomerCreated}}
	text, err := json.Marshal(apiValue(object(webhookColumns, webhookRow(call{}, hook))))
	if err != nil || !bytes.Contains(text, []byte(`"events":["invoice.paid","customer.created"]`)) {
		t.Error(string(text), err)
	}
}

func TestDurationsInTheLogHaveAUnit(t *testing.T) {
	for format, want := range map[string]string{"json": `"took_ms":1.5`, "text": "took=1.5ms"} {
		var out bytes.Buffer
		logger(config.Config{LogFormat: format}, &out, slog.LevelInfo).Info("request", "took", 1500*time.Microsecond)
		if !bytes.Contains(out.Bytes(), []byte(want)) {
			t.Errorf("%s: %s", format, out.String())
		}
	}
}
