package poster

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"carteira/internal/reminder"
	"carteira/test/kit/channeltest"
)

const key = "whsec_0123456789abcdefghij"

func server(t *testing.T) *channeltest.Server {
	t.Helper()
	return channeltest.NewServer(t, map[channeltest.Answer]channeltest.Reply{
		channeltest.Accept: {Status: 202}, channeltest.Refuse: {Status: 410}, channeltest.Garbage: {Status: 500},
		channeltest.Busy: {Status: 429, Header: map[string]string{"Retry-After": "90"}},
	})
}

func rig(t *testing.T) *channeltest.Rig {
	t.Helper()
	s := server(t)
	return &channeltest.Rig{
		Kind: Kind, Options: map[string]string{"url": s.URL + "/send", "secret": key}, Address: "url", Texts: true,
		Answer: s.Answers, Close: s.Close,
		Received: func() (list []channeltest.Received) {
			for _, request := range s.Requests() {
				var e envelope
				if err := json.Unmarshal(request.Body, &e); err != nil {
					t.Error(err)
				}
				list = append(list, channeltest.Received{To: e.Data.To, Text: e.Data.Text})
			}
			return list
		},
	}
}

func TestChannel(t *testing.T) { channeltest.Run(t, rig) }

// The request is that of a webhook: same headers, same signature.
func TestRequestIsSignedLikeAWebhook(t *testing.T) {
	s := server(t)
	sender, err := open(map[string]string{"url": s.URL + "/send", "secret": key}, channeltest.Env())
	if err != nil {
		t.Fatal(err)
	}
	letter := channeltest.Letter()
	if _, err := sender.Send(t.Context(), letter); err != nil {
		t.Fatal(err)
	}
	request := s.Requests()[0]
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(request.Header.Get("X-Service-Timestamp") + "." + string(request.Body)))
	for name, want := range map[string]string{
		"Content-Type": "application/json", "User-Agent": "Carteira/1.0", "X-Service-Event": "message.send", "X-Service-Delivery": letter.ID,
		"X-Service-Timestamp": "1768910400", "X-Service-Signature": "sha256=" + hex.EncodeToString(mac.Sum(nil)),
	} {
		if got := request.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	want := `{"event":"message.send","platform":"carteira","id":"msg_0123456789abcdef01234567","api_version":"v1","occurred_at":"2026-01-20T09:00:00-03:00","company_id":7,` +
		`"data":{"test":false,"to":"5511987654321","subject":"Vence amanhã","text":"Olá, Ana!\n\nSua conta de R$ 35,00 vence \"amanhã\". 😀\n.\nObrigado",` +
		`"template":{"name":"vencimento","language":"pt_BR","params":["Ana","R$ 35,00"]},` +
		`"customer":{"id":12,"uuid":"c0ffee00-0000-4000-8000-000000000012","name":"Ana Souza","whatsapp":"5511987654321","email":"ana@example.com"},"due_date":"2026-01-21"}}`
	if string(request.Body) != want || request.Path != "POST /send" {
		t.Errorf("%s %s\nwant %s", request.Path, request.Body, want)
	}
	s.Answers(channeltest.Busy)
	_, err = sender.Send(t.Context(), letter)
	if passing, ok := errors.AsType[*reminder.Passing](err); !ok || passing.After != 90*time.Second {
		t.Errorf("%v, want to wait as long as the receiver asks", err)
	}
}

// A receiver is written after the sample in docs/reminders.md: a body has its fields and no other.
func TestRequestIsAsTheDocumentShowsIt(t *testing.T) {
	text, err := os.ReadFile("../../../docs/reminders.md")
	if err != nil {
		t.Fatal(err)
	}
	_, sample, _ := strings.Cut(string(text), "```json\n")
	sample, _, _ = strings.Cut(sample, "```\n")
	s := server(t)
	sender, err := open(map[string]string{"url": s.URL + "/send", "secret": key}, channeltest.Env())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sender.Send(t.Context(), channeltest.Letter()); err != nil {
		t.Fatal(err)
	}
	if shown, sent := fieldsOf(t, sample), fieldsOf(t, string(s.Requests()[0].Body)); !slices.Equal(shown, sent) {
		t.Errorf("the document has %v, a request %v", shown, sent)
	}
}

// fieldsOf are the names of an object's fields and of those in them, sorted.
func fieldsOf(t *testing.T, text string) []string {
	t.Helper()
	var body map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	var names []string
	for name, value := range body {
		names = append(names, name)
		if value[0] == '{' {
			for _, inner := range fieldsOf(t, string(value)) {
				names = append(names, name+"."+inner)
			}
		}
	}
	slices.Sort(names)
	return names
}
