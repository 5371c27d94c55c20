package account

import (
	"encoding/json"
	"testing"
)

func TestTheChangesOfALineAreTheJSONOfTheirPairs(t *testing.T) {
	entry := AuditEntry{
		Action: "customer.updated",
		Before: AuditFields{"name": "", "notes": "a <b> & \"c\"\\", "gone": "it was", "same": "x", "empty": ""},
		After: AuditFields{
			"name": "João\u2028da Silva", "notes": "linha\ntab\t\x7f", "same": "x", "amount": 3500, "list": []string{"a", "b"},
			"wrong": "\xff", "null": nil,
		},
	}
	want, err := json.Marshal(map[string][2]any{
		"name": {"", "João\u2028da Silva"}, "notes": {"a <b> & \"c\"\\", "linha\ntab\t\x7f"}, "gone": {"it was", nil},
		"amount": {nil, 3500}, "list": {nil, []string{"a", "b"}}, "wrong": {nil, "\xff"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := entry.encode(); err != nil || got != string(want) {
		t.Errorf("%s, %v\nwant %s", got, err, want)
	}
	if got, err := (AuditEntry{}).encode(); err != nil || got != "{}" {
		t.Errorf("of nothing: %s, %v", got, err)
	}
	if _, err := (AuditEntry{After: AuditFields{"what": func() {}}}).encode(); err == nil {
		t.Error("a value without a form was encoded")
	}
}
