package whatsapp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"carteira/internal/reminder"
	"carteira/test/kit/channeltest"
)

const secretOfApp = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"

// told is a call in the form of Meta's document: two entries, several statuses,
// and unrelated parts between them.
const told = `{"object":"whatsapp_business_account","entry":[
 {"id":"1","changes":[{"field":"messages","value":{"messaging_product":"whatsapp",
  "metadata":{"display_phone_number":"15550783881","phone_number_id":"106540352242922"},
  "statuses":[
   {"id":"wamid.A","status":"sent","timestamp":"1769000000","recipient_id":"5511987654321",
    "biz_opaque_callback_data":"carteira:12:1:msg_0123","pricing":{"billable":true,"pricing_model":"PMP","category":"utility"}},
   {"id":"wamid.A","status":"delivered","timestamp":"1769000001","recipient_id":"5511987654321"},
   {"id":"wamid.B","status":"failed","timestamp":"1769000002","recipient_id":"5511987654322",
    "errors":[{"code":131026,"title":"Message undeliverable","message":"Message undeliverable","error_data":{"details":"Unable to deliver."},"href":"https://x"}]},
   {"id":"wamid.C","status":"failed","timestamp":"x","errors":[{"code":130429,"title":"Rate limit hit"}]},
   {"id":"wamid.D","status":"failed"}, {"id":"wamid.E","status":"failed","errors":[{"code":999999,"title":"Odd","error_data":{"details":"Something odd."}}]},
   {"id":"wamid.F","status":"deleted"}, {"status":"read"}]}},
  {"field":"account_update","value":{"statuses":[{"id":"wamid.G","status":"read"}]}}]},
 {"id":"2","changes":[{"field":"messages","value":{"messages":[{"id":"wamid.H","from":"5511987654321","type":"text"}]}},
  {"field":"messages","value":{"statuses":[{"id":"wamid.I","status":"played","timestamp":"1769000003"}]}}]}]}`

func signedCall(body, secret string) reminder.Call {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return reminder.Call{
		Header: http.Header{"X-Hub-Signature-256": {"sha256=" + hex.EncodeToString(mac.Sum(nil))}},
		Body:   []byte(body),
	}
}

func TestMetasCallIsReadWhole(t *testing.T) {
	list, err := Kind.Reporter.Reports(map[string]string{"app_secret": secretOfApp}, signedCall(told, secretOfApp))
	if err != nil {
		t.Fatal(err)
	}
	type line struct {
		receipt string
		arrival reminder.Arrival
		problem string
	}
	want := []line{
		{"wamid.A", "sent", ""},
		{"wamid.A", "delivered", ""},
		{"wamid.B", "failed", "refused: the number cannot get the message: it is not on WhatsApp, or its app is too old, so check it with the customer (Meta 131026)"},
		{"wamid.C", "failed", "not now: Rate limit hit (Meta 130429)"},
		{"wamid.D", "failed", "refused: Meta reported a failure without a reason"},
		{"wamid.E", "failed", "refused: Something odd. (Meta 999999)"},
		{"wamid.I", "read", ""},
	}
	if len(list) != len(want) {
		t.Fatalf("%d reports: %+v", len(list), list)
	}
	for i, report := range list {
		got := line{receipt: report.Receipt, arrival: report.Arrival}
		if report.Problem != nil {
			got.problem = report.Problem.Error()
		}
		if got != want[i] {
			t.Errorf("report %d is %+v, want %+v", i, got, want[i])
		}
	}
	mark := reminder.Mark{MessageID: 12, Key: "msg_0123", Number: 1}
	if list[0].Mark != mark || list[1].Mark != (reminder.Mark{}) || !list[0].At.Equal(time.Unix(1769000000, 0)) || !list[3].At.IsZero() {
		t.Errorf("marks and times: %+v", list)
	}
}

func TestCallsWithoutMetasProofAreForged(t *testing.T) {
	options := map[string]string{"app_secret": secretOfApp}
	genuine := signedCall(told, secretOfApp)
	for name, tt := range map[string]struct {
		options map[string]string
		call    reminder.Call
		want    error
	}{
		"another secret":  {options, signedCall(told, "another"), reminder.ErrForged},
		"another body":    {options, reminder.Call{Header: genuine.Header, Body: []byte(told + " ")}, reminder.ErrForged},
		"no signature":    {options, reminder.Call{Body: []byte(told)}, reminder.ErrForged},
		"an old one":      {options, reminder.Call{Header: http.Header{"X-Hub-Signature": {"sha1=00"}}, Body: []byte(told)}, reminder.ErrForged},
		"not hex":         {options, reminder.Call{Header: http.Header{"X-Hub-Signature-256": {"sha256=zz"}}, Body: []byte(told)}, reminder.ErrForged},
		"no secret":       {nil, signedCall(told, ""), reminder.ErrNotAwaited},
		"signed nonsense": {options, signedCall("<html>", secretOfApp), reminder.ErrUnreadable},
	} {
		if _, err := Kind.Reporter.Reports(tt.options, tt.call); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	list, err := Kind.Reporter.Reports(options, signedCall(`{"object":"page","entry":[]}`, secretOfApp))
	if err != nil || len(list) != 0 {
		t.Errorf("of another product: %v, %v", list, err)
	}
}

func TestMetasQuestionIsAnsweredWithItsChallenge(t *testing.T) {
	question := func(mode, token, challenge string) url.Values {
		return url.Values{"hub.mode": {mode}, "hub.verify_token": {token}, "hub.challenge": {challenge}}
	}
	if got, err := Kind.Reporter.Challenge("tok", question("subscribe", "tok", "1158201444")); err != nil || got != "1158201444" {
		t.Errorf("%q, %v", got, err)
	}
	for name, query := range map[string]url.Values{
		"another token": question("subscribe", "guess", "1"), "another mode": question("unsubscribe", "tok", "1"),
		"nothing": {}, "a book": question("subscribe", "tok", strings.Repeat("9", maxChallenge+1)),
	} {
		if _, err := Kind.Reporter.Challenge("tok", query); !errors.Is(err, reminder.ErrForged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Kind.Reporter.Challenge("", question("subscribe", "", "1")); err == nil {
		t.Error("a channel without a token answers")
	}
}

func TestMarkGoesAlongWithTheMessage(t *testing.T) {
	s := server(t)
	sender, err := open(s.URL, options, channeltest.Env())
	if err != nil {
		t.Fatal(err)
	}
	letter := channeltest.Letter()
	letter.Mark = reminder.Mark{MessageID: 12, Key: "msg_0123", Number: 2}
	if _, err := sender.Send(t.Context(), letter); err != nil {
		t.Fatal(err)
	}
	if body := string(s.Requests()[0].Body); !strings.Contains(body, `"biz_opaque_callback_data":"carteira:12:2:msg_0123"`) {
		t.Error(body)
	}
}
