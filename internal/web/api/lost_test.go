package api

import (
	"encoding/json"
	"net/http"
	"testing"

	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

// Every POST with an answer that a crash lost: a repeat is answered with the
// record as it is, and nothing is made again.
func TestRepeatAfterALostAnswerGivesTheRecord(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		caller := newService(t, engine).newCaller(t)
		for _, op := range operations() {
			if op.Method != http.MethodPost {
				continue
			}
			caller.wantRecordAfterLoss(t, op.OperationID, caller.pathOf(t, op.OperationID, op.Path), string(op.Body))
		}
	})
}

func (c *caller) wantRecordAfterLoss(t *testing.T, operation, path, body string) {
	t.Helper()
	first := c.call(t, http.MethodPost, path, body, "Idempotency-Key", operation)
	if first.status != http.StatusOK {
		t.Errorf("%s: %d %s", operation, first.status, first.body)
		return
	}
	c.exec(t, `UPDATE idempotency_keys SET status = 0, answer = '', lease_until = 0 WHERE key = ?`, operation)
	if marked := c.count(t, `SELECT count(*) FROM idempotency_keys WHERE key = ? AND carried_out = ?`, operation, true); marked != 1 {
		return // it changed nothing, and is run again
	}
	made := c.rows(t)
	again := c.call(t, http.MethodPost, path, body, "Idempotency-Key", operation)
	if again.status != http.StatusOK || again.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("%s, repeated: %d %s", operation, again.status, again.body)
		return
	}
	if operation != "testWebhook" && c.rows(t) != made {
		t.Errorf("%s was carried out twice", operation)
	}
	var one, two struct {
		Data struct{ ID any }
	}
	if json.Unmarshal([]byte(first.body), &one) != nil || json.Unmarshal([]byte(again.body), &two) != nil || one.Data.ID != two.Data.ID {
		t.Errorf("%s: first %s\nagain %s", operation, first.body, again.body)
	}
}

// rows counts what the operations make.
func (c *caller) rows(t *testing.T) (sum int64) {
	t.Helper()
	for _, table := range []string{
		"customers", "invoices", "payments", "customer_plans", "products", "companies", "subscription_plans", "webhooks", "audit_log",
	} {
		sum += c.count(t, `SELECT count(*) FROM `+table)
	}
	return sum
}

func TestEveryPostHasWhatAnswersForALostAnswer(t *testing.T) {
	var server Server
	known := server.lost()
	for _, op := range server.routes() {
		if op.method == http.MethodPost && known[op.path] == nil {
			t.Errorf("lost has no POST %s", op.path)
		}
	}
}
