package program

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// withToken adds a bearer token to every request.
type withToken struct{ token string }

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+w.token)
	return http.DefaultTransport.RoundTrip(r)
}

// eachTransport runs test with a client over streamable HTTP and one over the
// standard input and output of carteira mcp.
func eachTransport(t *testing.T, s *server, token string, test func(t *testing.T, session *mcp.ClientSession)) {
	t.Helper()
	command := exec.CommandContext(t.Context(), binary, "mcp", "--url", "http://"+s.address)
	command.Env = []string{"CARTEIRA_API_TOKEN=" + token, "HOME=" + t.TempDir()}
	for name, transport := range map[string]mcp.Transport{
		"http":  &mcp.StreamableClientTransport{Endpoint: "http://" + s.address + "/mcp", HTTPClient: &http.Client{Transport: withToken{token}}},
		"stdio": &mcp.CommandTransport{Command: command},
	} {
		t.Run(name, func(t *testing.T) {
			client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
			session, err := client.Connect(t.Context(), transport, nil)
			if err != nil {
				t.Fatal(err)
			}
			test(t, session)
			if err := session.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
}

// use calls a tool and reads what the API answered.
func use(t *testing.T, session *mcp.ClientSession, tool string, arguments any) (answer map[string]any, refused bool) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	text, ok := result.Content[0].(*mcp.TextContent)
	if !ok {
		t.Fatalf("%s answers with %T", tool, result.Content[0])
	}
	if err := json.Unmarshal([]byte(text.Text), &answer); err != nil {
		answer = map[string]any{"message": text.Text}
	}
	return answer, result.IsError
}

func toolsOf(t *testing.T, session *mcp.ClientSession) []string {
	t.Helper()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func TestModelsUseTheAPIAsTools(t *testing.T) {
	t.Parallel()
	in := install(t, "sqlite")
	company := in.company()
	in.run("plan", "create", "--company", company, "--name", "Mensal", "--value", "35.00", "--period", "1month")
	full := in.token(company)
	reading := strings.TrimSpace(in.run("token", "create", "--company", company, "--name", "leitura", "--scope", "read"))
	s := in.serve()
	made := 0
	eachTransport(t, s, full, func(t *testing.T, session *mcp.ClientSession) {
		if tools := toolsOf(t, session); !slices.Contains(tools, "createCustomer") || !slices.Contains(tools, "getDashboard") {
			t.Errorf("tools %v", tools)
		}
		if account, refused := use(t, session, "getAccount", nil); refused || account["success"] != true {
			t.Errorf("getAccount without arguments: %v", account)
		}
		arguments := map[string]any{"name": "Ana", "plan_id": 1, "idempotency_key": t.Name()}
		first, refused := use(t, session, "createCustomer", arguments)
		again, _ := use(t, session, "createCustomer", arguments)
		made++
		id := first["data"].(map[string]any)["id"]
		if refused || again["data"].(map[string]any)["id"] != id {
			t.Errorf("created %v, then %v", first, again)
		}
		// Operations without a body, and one with an optional body: fields that were not given are not sent.
		if renewed, refused := use(t, session, "renewCustomer", map[string]any{"id": id}); refused {
			t.Errorf("renewCustomer: %v", renewed)
		}
		for _, none := range []any{nil, map[string]any{}} {
			if rotated, refused := use(t, session, "rotateCallbackSecret", none); refused {
				t.Errorf("rotateCallbackSecret with %v: %v", none, rotated)
			}
		}
		if pix, refused := use(t, session, "createPix", map[string]any{"id": made}); !refused || !strings.Contains(pix["message"].(string), "gateway") {
			t.Errorf("createPix without a gateway: %v", pix)
		}
		if missing, refused := use(t, session, "createCustomer", nil); !refused || missing["message"] != "name: is required" {
			t.Errorf("createCustomer without arguments: %v", missing)
		}
		for _, key := range []string{"a\x00b", "a\r\nX-Forwarded-For: b"} {
			if answer, refused := use(t, session, "createCustomer", map[string]any{"name": "Zé", "idempotency_key": key}); !refused {
				t.Errorf("the idempotency key %q is taken: %v", key, answer)
			}
		}
		wantPrompts(t, session)
	})
	if customers := s.client(full).want(200, "GET", "/customers", nil); !strings.Contains(string(customers.body), `"total":2`) {
		t.Errorf("customers %s", customers.body)
	}
	eachTransport(t, s, reading, func(t *testing.T, session *mcp.ClientSession) {
		tools := toolsOf(t, session)
		if slices.Contains(tools, "createCustomer") || !slices.Contains(tools, "listCustomers") {
			t.Errorf("a token for reading has the tools %v", tools)
		}
		if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "deleteCustomer", Arguments: map[string]any{"id": 1}}); err == nil {
			t.Error("a token for reading deletes")
		}
	})
}

func TestModelsNeedAToken(t *testing.T) {
	t.Parallel()
	in := install(t, "sqlite")
	s := in.serve()
	resp, err := http.Post("http://"+s.address+"/mcp", "application/json", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("without a token: %s %v", resp.Status, resp.Header)
	}
	for _, env := range [][]string{nil, {"CARTEIRA_API_TOKEN=cart_wrong", "CARTEIRA_API_URL=http://" + s.address}} {
		if tried := in.try(env, "mcp"); tried.code != 1 || tried.stdout != "" {
			t.Errorf("carteira mcp with %v: %+v", env, tried)
		}
	}
}

// wantPrompts asks for every prompt, with what it must have, with all, and with nothing.
func wantPrompts(t *testing.T, session *mcp.ClientSession) {
	t.Helper()
	list, err := session.ListPrompts(t.Context(), nil)
	if err != nil || len(list.Prompts) < 6 {
		t.Fatalf("prompts %v, %v", list, err)
	}
	for _, prompt := range list.Prompts {
		least, all := map[string]string{}, map[string]string{}
		for _, argument := range prompt.Arguments {
			all[argument.Name] = "Ana-" + argument.Name
			if argument.Required {
				least[argument.Name] = all[argument.Name]
			}
		}
		for _, given := range []map[string]string{all, least} {
			answer, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: prompt.Name, Arguments: given})
			if err != nil {
				t.Fatalf("%s with %v: %v", prompt.Name, given, err)
			}
			text := answer.Messages[0].Content.(*mcp.TextContent).Text
			if strings.ContainsAny(text, "{}") || strings.Contains(text, "  ") || strings.Contains(text, " ?") || strings.Contains(text, "()") {
				t.Errorf("%s with %v has a gap: %s", prompt.Name, given, text)
			}
			for _, value := range given {
				if !strings.Contains(text, value) {
					t.Errorf("%s does not have %s: %s", prompt.Name, value, text)
				}
			}
		}
		_, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: prompt.Name})
		if (err != nil) != (len(least) > 0) || err != nil && !strings.Contains(err.Error(), "is required") {
			t.Errorf("%s without arguments: %v", prompt.Name, err)
		}
	}
}
