package evolution

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"carteira/internal/reminder"
	"carteira/test/kit/channeltest"
)

// bridge is a double of Evolution API 2.3.6 as far as a phone's connection goes: the
// guards of its routes (an instance that is missing is 404 before the key is looked
// at), its answers and its errors, as its source and its documents have them.
type bridge struct {
	mu    sync.Mutex
	key   string            // of the whole bridge
	state map[string]string // of the instances: close, connecting, open
	codes int               // shown so far; the first call after connecting has none yet
}

func (b *bridge) fail(w http.ResponseWriter, status int, message any) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"status": status, "error": http.StatusText(status), "response": map[string]any{"message": message},
	})
}

func (b *bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	operation, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/instance/"), "/")
	state, there := b.state[name]
	switch named := operation != "create" && operation != "fetchInstances"; {
	case named && !there:
		b.fail(w, http.StatusNotFound, []string{`The "` + name + `" instance does not exist`})
	case r.Header.Get("apikey") != b.key:
		b.fail(w, http.StatusUnauthorized, "Unauthorized")
	default:
		b.operate(w, r, operation, name, state)
	}
}

func (b *bridge) operate(w http.ResponseWriter, r *http.Request, operation, name, state string) {
	answer := func(status int, body any) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
	told := map[string]any{"instance": map[string]any{"instanceName": name, "state": state}}
	switch r.Method + " " + operation {
	case "POST create":
		b.create(w, r)
	case "GET connectionState":
		answer(http.StatusOK, told)
	case "GET connect":
		if state == "open" {
			answer(http.StatusOK, told)
			return
		}
		b.state[name] = "connecting"
		b.codes++
		if b.codes == 1 {
			answer(http.StatusOK, map[string]any{"count": 0})
			return
		}
		answer(http.StatusOK, map[string]any{"pairingCode": nil, "code": "2@scan-me", "base64": "data:image/png;base64,AAAA", "count": b.codes - 1})
	case "GET fetchInstances":
		b.list(w, r.URL.Query().Get("instanceName"))
	case "DELETE logout":
		if state == "close" {
			b.fail(w, http.StatusBadRequest, []string{`The "` + name + `" instance is not connected`})
			return
		}
		b.state[name] = "close"
		answer(http.StatusOK, map[string]any{"status": "SUCCESS", "error": false, "response": map[string]any{"message": "Instance logged out"}})
	default:
		b.fail(w, http.StatusNotFound, []string{"Cannot " + r.Method + " " + r.URL.Path})
	}
}

func (b *bridge) create(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Name        string `json:"instanceName"`
		Integration string `json:"integration"`
		QRCode      bool   `json:"qrcode"`
	}
	body, _ := io.ReadAll(r.Body)
	switch err := json.Unmarshal(body, &asked); {
	case err != nil || asked.Name == "" || asked.Integration != "WHATSAPP-BAILEYS":
		b.fail(w, http.StatusBadRequest, []string{"Invalid integration"})
	case b.state[asked.Name] != "":
		b.fail(w, http.StatusForbidden, []string{`This name "` + asked.Name + `" is already in use.`})
	default:
		b.state[asked.Name] = "close"
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"instance": map[string]any{"instanceName": asked.Name, "integration": asked.Integration, "status": "close"}, "hash": "5E0B",
		})
	}
}

func (b *bridge) list(w http.ResponseWriter, name string) {
	list := []map[string]any{}
	for one, state := range b.state {
		entry := map[string]any{"id": "1", "name": one, "connectionStatus": state, "ownerJid": nil, "number": nil, "token": "5E0B"}
		if state == "open" {
			entry["ownerJid"] = "5511987654321@s.whatsapp.net"
		}
		if name == "" || name == one {
			list = append(list, entry)
		}
	}
	slices.SortFunc(list, func(x, y map[string]any) int { return strings.Compare(x["name"].(string), y["name"].(string)) })
	_ = json.NewEncoder(w).Encode(list)
}

func linkTo(t *testing.T, handler http.Handler, options ...string) reminder.PhoneLink {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	given := optionsFor(server.URL + "/")
	for i := 0; i < len(options); i += 2 {
		given[options[i]] = options[i+1]
	}
	link, err := NewKind().Phone(given, channeltest.Env())
	if err != nil {
		t.Fatal(err)
	}
	return link
}

func TestPhoneIsConnectedByItsCode(t *testing.T) {
	b := &bridge{key: optionsFor("")["apikey"], state: map[string]string{"other": "open"}}
	link := linkTo(t, b)
	look := func(want reminder.Phone) {
		t.Helper()
		if got, err := link.Look(t.Context()); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v, %v; want %+v", got, err, want)
		}
	}
	look(reminder.Phone{State: reminder.PhoneMissing, Instances: []string{"other"}})
	if err := link.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	look(reminder.Phone{State: reminder.PhoneWaiting, Code: "2@scan-me"})
	b.state["clara"] = "open"
	look(reminder.Phone{State: reminder.PhoneConnected, Number: "5511987654321"})
	if err := link.Connect(t.Context()); err != nil {
		t.Errorf("connecting what is connected: %v", err)
	}
	if err := link.Disconnect(t.Context()); err != nil {
		t.Fatal(err)
	}
	look(reminder.Phone{State: reminder.PhoneAway})
	b.codes = 0
	if err := link.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.codes = 0
	look(reminder.Phone{State: reminder.PhoneWaiting}) // the code is not there yet
	delete(b.state, "clara")
	if err := link.Disconnect(t.Context()); err != nil {
		t.Errorf("disconnecting what is gone: %v", err)
	}
}

func TestWhatKeepsAPhoneAwayIsSaidInWords(t *testing.T) {
	const wrongKey = "the bridge does not accept the API key; to make an instance it takes the key of the whole bridge"
	const another = "the address answers, but not as Evolution API does"
	page := func(status int, body string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		})
	}
	gone := httptest.NewTLSServer(page(200, ""))
	gone.Close()
	for name, tt := range map[string]struct {
		link reminder.PhoneLink
		want string
	}{
		"wrong key":     {linkTo(t, &bridge{key: "other", state: map[string]string{}}), wrongKey},
		"another page":  {linkTo(t, page(200, "<html>")), another},
		"not found":     {linkTo(t, page(404, "<html>")), "the bridge answered 404"},
		"always 404":    {linkTo(t, page(404, noInstance)), another},
		"its own fault": {linkTo(t, page(500, phoneAway)), "Connection Closed (500)"},
		"error of 200":  {linkTo(t, page(200, `{"error":true,"message":"Timed out","instance":{"state":"connecting"}}`)), "Timed out"},
		"not allowed":   {linkTo(t, page(200, ""), "base_url", "https://192.0.2.1"), "the address must not point to an internal address"},
		"unreachable":   {linkTo(t, page(200, ""), "base_url", gone.URL), "connection refused"},
	} {
		_, looked := tt.link.Look(t.Context())
		for _, got := range []error{looked, tt.link.Connect(t.Context())} {
			var refusal *reminder.Refusal
			if !errors.As(got, &refusal) || refusal.Reason != tt.want {
				t.Errorf("%s: %v, want %q", name, got, tt.want)
			}
		}
	}
}

// Version 1 lists an instance a floor deeper, and a single one without a list.
func TestNumberOfTheOlderBridge(t *testing.T) {
	old := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "fetchInstances") {
			_, _ = io.WriteString(w, `{"instance":{"instanceName":"clara","owner":"5511987654321:7@s.whatsapp.net","status":"open"}}`)
			return
		}
		_, _ = io.WriteString(w, stateOpen)
	})
	got, err := linkTo(t, old, "version", "1").Look(t.Context())
	if err != nil || got.Number != "5511987654321" {
		t.Errorf("%+v, %v", got, err)
	}
}
