package evolution

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"carteira/internal/platform/fault"
	"carteira/internal/reminder"
	"carteira/test/kit/channeltest"
)

// What the bridge answers, as versions 1 and 2 do.
const (
	taken = `{"key":{"remoteJid":"5511987654321@s.whatsapp.net","fromMe":true,"id":"BAE594145F4C59B4"},"message":{"extendedTextMessage":{"text":"Olá"}},` +
		`"messageTimestamp":"1717689097","status":"PENDING"}`
	notThere   = `{"status":400,"error":"Bad Request","response":{"message":[{"jid":"5511987654321@s.whatsapp.net","exists":false,"number":"5511987654321"}]}}`
	noInstance = `{"status":404,"error":"Not Found","response":{"message":["The \"clara\" instance does not exist"]}}`
	phoneAway  = `{"status":500,"error":"Internal Server Error","response":{"message":"Connection Closed"}}`
)

func server(t *testing.T) *channeltest.Server {
	t.Helper()
	s := bare(t)
	for _, name := range []string{"clara", "rede%20clara"} {
		s.Fix("GET /instance/connectionState/"+name, channeltest.Reply{Status: 200, Body: stateOpen})
	}
	return s
}

const stateOpen = `{"instance":{"instanceName":"clara","state":"open"}}`

// bare is a bridge that gives the configured answer to every call.
func bare(t *testing.T) *channeltest.Server {
	t.Helper()
	return channeltest.NewServer(t, map[channeltest.Answer]channeltest.Reply{
		channeltest.Accept: {Status: 201, Body: taken}, channeltest.Refuse: {Status: 400, Body: notThere},
		channeltest.Busy: {Status: 500, Body: phoneAway}, channeltest.Garbage: {Status: 502, Body: "<html>"},
		"instance": {Status: 404, Body: noInstance}, "key": {Status: 401, Body: `{"status":401,"error":"Unauthorized","response":{"message":"Unauthorized"}}`},
		"empty": {Status: 201, Body: `{}`}, "bare": {Status: 500},
	})
}

func optionsFor(base string) map[string]string {
	return map[string]string{"base_url": base, "instance": "clara", "apikey": "B6D711FCDE4D4FD59365", "version": "2"}
}

func TestChannel(t *testing.T) {
	channeltest.Run(t, func(t *testing.T) *channeltest.Rig {
		t.Helper()
		s := server(t)
		return &channeltest.Rig{
			Kind: NewKind(), Options: optionsFor(s.URL), Address: "base_url", Answer: s.Answers, Close: s.Close, Texts: true,
			Received: func() (list []channeltest.Received) {
				for _, r := range s.Requests() {
					var got request
					if err := json.Unmarshal(r.Body, &got); err != nil {
						t.Error(err)
					}
					list = append(list, channeltest.Received{To: got.Number, Text: got.Text})
				}
				return list
			},
		}
	})
}

func TestBothVersionsOfTheBridge(t *testing.T) {
	s := server(t)
	for version, want := range map[string]string{
		"2": `{"number":"5511987654321","text":"Olá"}`,
		"1": `{"number":"5511987654321","textMessage":{"text":"Olá"}}`,
	} {
		options := optionsFor(s.URL + "/")
		options["version"], options["instance"] = version, "rede clara"
		sender, err := open(newStates(), options, channeltest.Env())
		if err != nil {
			t.Fatal(err)
		}
		letter := channeltest.Letter()
		letter.Text = "Olá"
		receipt, err := sender.Send(t.Context(), letter)
		request := s.Requests()[len(s.Requests())-1]
		if err != nil || receipt != "BAE594145F4C59B4" || string(request.Body) != want || request.Path != "POST /message/sendText/rede%20clara" || request.Header.Get("apikey") != "B6D711FCDE4D4FD59365" {
			t.Errorf("version %s: %q, %v, %s %s, want %s", version, receipt, err, request.Path, request.Body, want)
		}
	}
}

func TestBridgesErrors(t *testing.T) {
	s := server(t)
	sender, err := open(newStates(), optionsFor(s.URL), channeltest.Env())
	if err != nil {
		t.Fatal(err)
	}
	for answer, want := range map[channeltest.Answer]error{
		channeltest.Refuse: &reminder.Refusal{Reason: "the number is not on WhatsApp"},
		channeltest.Busy:   &reminder.Passing{Reason: "Connection Closed (500)"},
		"instance":         &reminder.Refusal{Reason: `The "clara" instance does not exist (404)`},
		"key":              &reminder.Refusal{Reason: "Unauthorized (401)"},
		"empty":            &reminder.Doubt{Reason: "the bridge answered 201"},
		"bare":             &reminder.Doubt{Reason: "the bridge answered 500"},
	} {
		s.Answers(answer)
		if _, err := sender.Send(t.Context(), channeltest.Letter()); err == nil || err.Error() != want.Error() {
			t.Errorf("%s: %v, want %v", answer, err, want)
		}
	}
}

// A bridge next to the program may be reached by plain http, in the networks
// that the operator allows and nowhere else.
func TestPlainHTTPStaysInTheNeighbourhood(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = w.Write([]byte(stateOpen))
			return
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(taken))
	}))
	t.Cleanup(plain.Close)
	sender, err := open(newStates(), optionsFor(plain.URL), channeltest.Env())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sender.Send(t.Context(), channeltest.Letter()); err != nil {
		t.Error(err)
	}
	for base, want := range map[string]string{
		"http://93.184.215.14": "must use https", "http://10.1.2.3:8080": "must use https", "https://10.1.2.3": "internal address",
		"https://evolution": "internal address", "ftp://127.0.0.1": "must use https", "https://user:x@127.0.0.1": "user name",
	} {
		err := check(t.Context(), optionsFor(base), channeltest.Env())
		if got := strings.Join(fault.FieldsOf(err).Get("base_url"), ""); !strings.Contains(got, want) || want == "" && err != nil {
			t.Errorf("%s: %v, want %q", base, err, want)
		}
	}
}
