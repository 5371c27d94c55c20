package whatsapp

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"carteira/internal/platform/fault"
	"carteira/internal/reminder"
	"carteira/test/kit/channeltest"
)

// What Meta answers, as its documentation shows it.
const (
	taken = `{"messaging_product":"whatsapp","contacts":[{"input":"5511987654321","wa_id":"5511987654321"}],` +
		`"messages":[{"id":"wamid.HBgNNTUxMTk4NzY1NDMyMRUCABEYEjdG","message_status":"accepted"}]}`
	badNumber = `{"error":{"message":"(#131030) Recipient phone number not in allowed list","type":"OAuthException","code":131030,` +
		`"error_data":{"messaging_product":"whatsapp","details":"Recipient phone number not in allowed list"},"fbtrace_id":"AT1"}}`
	tooFast = `{"error":{"message":"(#130429) Rate limit hit","type":"OAuthException","code":130429,` +
		`"error_data":{"messaging_product":"whatsapp","details":"Cloud API message throughput has been reached."},"fbtrace_id":"AT2"}}`
	expired = `{"error":{"message":"Error validating access token: Session has expired","type":"OAuthException","code":190,"fbtrace_id":"AT3"}}`
)

func server(t *testing.T) *channeltest.Server {
	t.Helper()
	return channeltest.NewServer(t, map[channeltest.Answer]channeltest.Reply{
		channeltest.Accept: {Status: 200, Body: taken}, channeltest.Refuse: {Status: 400, Body: badNumber},
		channeltest.Busy: {Status: 400, Body: tooFast}, channeltest.Garbage: {Status: 502, Body: "<html>Bad Gateway</html>"},
		"expired": {Status: 401, Body: expired}, "empty": {Status: 200, Body: "{}"}, "away": {Status: 503}, "strange": {Status: 404, Body: "nothing here"},
	})
}

var options = map[string]string{"phone_number_id": "106540352242922", "token": "EAAJB-secret-token", "api_version": "v26.0"}

func TestChannel(t *testing.T) {
	channeltest.Run(t, func(t *testing.T) *channeltest.Rig {
		t.Helper()
		s := server(t)
		return &channeltest.Rig{
			Kind: kindAt(s.URL), Options: options, Answer: s.Answers, Close: s.Close,
			Received: func() (list []channeltest.Received) {
				for _, r := range s.Requests() {
					var got request
					if err := json.Unmarshal(r.Body, &got); err != nil {
						t.Error(err)
					}
					list = append(list, channeltest.Received{To: got.To})
				}
				return list
			},
		}
	})
}

func TestTemplateMessageIsMetas(t *testing.T) {
	s := server(t)
	sender, err := open(s.URL, options, channeltest.Env())
	if err != nil {
		t.Fatal(err)
	}
	receipt, err := sender.Send(t.Context(), channeltest.Letter())
	if err != nil || receipt != "wamid.HBgNNTUxMTk4NzY1NDMyMRUCABEYEjdG" {
		t.Errorf("%q, %v", receipt, err)
	}
	request := s.Requests()[0]
	want := `{"messaging_product":"whatsapp","recipient_type":"individual","to":"5511987654321","type":"template",` +
		`"template":{"name":"vencimento","language":{"code":"pt_BR"},"components":[{"type":"body","parameters":[{"type":"text","text":"Ana"},{"type":"text","text":"R$ 35,00"}]}]}}`
	if string(request.Body) != want || request.Path != "POST /v26.0/106540352242922/messages" || request.Header.Get("Authorization") != "Bearer EAAJB-secret-token" {
		t.Errorf("%s %s %v\nwant %s", request.Path, request.Body, request.Header, want)
	}
	letter := channeltest.Letter()
	letter.Template.Params = nil
	if _, err := sender.Send(t.Context(), letter); err != nil {
		t.Error(err)
	}
	if body := string(s.Requests()[1].Body); strings.Contains(body, "components") {
		t.Errorf("a template without parameters has components: %s", body)
	}
	letter.Template.Params = []string{""}
	if _, err := sender.Send(t.Context(), letter); err != nil || !strings.Contains(string(s.Requests()[2].Body), `"text":"-"`) {
		t.Errorf("an empty parameter, which Meta refuses, was sent as %s: %v", s.Requests()[2].Body, err)
	}
}

// The forms are those of Meta's reference of templates: named gaps, a header of text
// or of a file, and a button with an address that ends with what is sent.
func TestTemplateWithNamesHeaderAndButton(t *testing.T) {
	s := server(t)
	sender, err := open(s.URL, options, channeltest.Env())
	if err != nil {
		t.Fatal(err)
	}
	send := func(change func(*reminder.ApprovedTemplate)) (string, error) {
		letter := channeltest.Letter()
		change(&letter.Template)
		_, err := sender.Send(t.Context(), letter)
		list := s.Requests()
		if len(list) == 0 {
			return "", err
		}
		return string(list[len(list)-1].Body), err
	}
	for want, change := range map[string]func(*reminder.ApprovedTemplate){
		`{"type":"body","parameters":[{"type":"text","parameter_name":"nome","text":"Ana"},{"type":"text","parameter_name":"valor","text":"R$ 35,00"}]}`: func(a *reminder.ApprovedTemplate) {
			a.Names = []string{"nome", "valor"}
		},
		`"components":[{"type":"header","parameters":[{"type":"text","text":"Ana Internet"}]},{"type":"body"`:  func(a *reminder.ApprovedTemplate) { a.Header = "Ana Internet" },
		`{"type":"header","parameters":[{"type":"image","image":{"link":"https://example.com/a.PNG?x=1"}}]}`:   func(a *reminder.ApprovedTemplate) { a.Header = "https://example.com/a.PNG?x=1" },
		`{"type":"header","parameters":[{"type":"document","document":{"link":"https://example.com/a.pdf"}}]}`: func(a *reminder.ApprovedTemplate) { a.Header = "https://example.com/a.pdf" },
		`{"type":"button","sub_type":"url","index":"0","parameters":[{"type":"text","text":"Vb3"}]}`:           func(a *reminder.ApprovedTemplate) { a.Button = "https://example.com/pay/Vb3" },
		`"index":"0","parameters":[{"type":"text","text":"ana.souza"}]}`:                                       func(a *reminder.ApprovedTemplate) { a.Button = "ana.souza" },
	} {
		if body, err := send(change); err != nil || !strings.Contains(body, want) {
			t.Errorf("%s, %v\nwant %s", body, err, want)
		}
	}
	sent := len(s.Requests())
	for _, button := range []string{reminder.NoGap, "00020126580014br.gov.bcb.pix"} {
		var refusal *reminder.Refusal
		if _, err := send(func(a *reminder.ApprovedTemplate) { a.Button = button }); !errors.As(err, &refusal) || len(s.Requests()) != sent {
			t.Errorf("%q: %v", button, err)
		}
	}
}

func TestMetasErrors(t *testing.T) {
	s := server(t)
	sender, err := open(s.URL, options, channeltest.Env())
	if err != nil {
		t.Fatal(err)
	}
	for answer, want := range map[channeltest.Answer]error{
		channeltest.Refuse: &reminder.Refusal{Reason: "the number is not in the list of the test account: add it at Meta, or send from a real number (Meta 131030)"},
		channeltest.Busy:   &reminder.Passing{Reason: "Cloud API message throughput has been reached. (Meta 130429)"},
		"expired":          &reminder.Refusal{Reason: "the access token has expired: make one that does not expire and save it in the channel (Meta 190)"},
		"empty":            &reminder.Doubt{Reason: "Meta answered 200, without saying what it did"},
		"away":             &reminder.Passing{Reason: "Meta answered 503"},
		"strange":          &reminder.Refusal{Reason: "Meta answered 404"},
	} {
		s.Answers(answer)
		if _, err := sender.Send(t.Context(), channeltest.Letter()); err == nil || err.Error() != want.Error() {
			t.Errorf("%s: %v, want %v", answer, err, want)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	_, err := Kind.Open(map[string]string{"phone_number_id": "../me", "token": "a b", "api_version": "latest"}, channeltest.Env())
	for _, field := range []string{"phone_number_id", "token", "api_version"} {
		if len(fault.FieldsOf(err).Get(field)) == 0 {
			t.Errorf("%s is taken: %v", field, err)
		}
	}
	if _, ok := errors.AsType[*fault.Error](err); !ok {
		t.Errorf("%T", err)
	}
}

func TestEveryAdviceIsInTheCatalogOfTexts(t *testing.T) {
	catalog, err := os.ReadFile("../../web/page/messages/arrivals.txt")
	if err != nil {
		t.Fatal(err)
	}
	for code := range advice {
		if line := "\n" + (issue{Code: code}).reason() + " | "; !strings.Contains(string(catalog), line) {
			t.Errorf("arrivals.txt lacks a line:%s", line)
		}
	}
}
