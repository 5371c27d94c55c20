package program

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// pasted is a document with commands for a terminal: what must be there before they
// are typed, and what they print.
type pasted struct {
	before string
	put    []string // what replaces an address, a file or a person
	want   []string
}

const company = "carteira company create --name 'Ana Internet' --email ana@example.com\n"

// aPayment leaves an event invoice.paid, so that reading the feed does not wait.
const aPayment = company + `TOKEN=$(carteira token create --company 1 --name t) API=http://127.0.0.1:8080/api/v1 LAST_ID=
call() { curl -sf -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' "$@"; }
call $API/webhooks -d '{"url":"https://hooks.example.com/","events":["invoice.paid"]}'
call $API/customers -d '{"name":"João"}'
call $API/invoices -d '{"customer_id":1,"total_amount":"10.00"}'
call $API/invoices/1/status -d '{"status":"Pago","paid_via":"cash"}'
`

// Commands of documents that are no tour of their own, as they are written.
func TestCommandsOfTheDocumentsWork(t *testing.T) {
	need(t, "curl")
	t.Parallel()
	for name, paste := range map[string]pasted{
		"README.md":      {want: []string{`"name":"Ana Internet"`, `"name":"João da Silva"`, `"total":1`}, put: []string{"bin/carteira", "carteira"}},
		"docs/agents.md": {before: company, want: []string{"cart_"}},
		"docs/operating.md": {
			before: company + "carteira backup carteira-2027-01-31.db\ncp \"$CARTEIRA_DATA_DIR/secret.key\" .\n",
			put:    []string{"/var/lib/carteira", "restored"}, want: []string{"/password/", `"second_factor":false`, "Restored."},
		},
		"docs/payments.md": {before: company, want: []string{`"works":true`}},
		"docs/reminders.md": { // there is no such server for mail
			before: company, put: []string{"smtp.example.com", "smtp.invalid", "carteira reminder test", "! carteira reminder test"},
			want: []string{`"name":"3 dias antes"`, `"on":"paid"`, "smtp.invalid"},
		},
		"docs/webhooks.md": {before: aPayment, want: []string{`"event":"invoice.paid"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := installBare(t, "sqlite")
			put := append([]string{"http://127.0.0.1:8080", "http://" + in.serve().address}, paste.put...)
			printed := in.terminal(strings.NewReplacer(put...).Replace(paste.before + strings.Join(commandsOf(t, name), "")))
			for _, want := range paste.want {
				if !strings.Contains(printed, want) {
					t.Errorf("nothing says %s in:\n%s", want, printed)
				}
			}
		})
	}
}

var (
	shellBlocks = regexp.MustCompile("(?ms)^ *```sh\n(.*?)^ *```$")
	// Programs that a block starts for good, or that are not ours.
	notPasted = regexp.MustCompile(`(?m)^ *(go run|make|claude) `)
)

// commandsOf are the blocks of a document that can be pasted.
func commandsOf(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, m := range shellBlocks.FindAllStringSubmatch(string(text), -1) {
		if !notPasted.MatchString(m[1]) {
			blocks = append(blocks, m[1])
		}
	}
	return blocks
}

// terminal runs a script next to the installation's server, in an empty folder.
func (in *installation) terminal(script string) string {
	in.t.Helper()
	bin := in.t.TempDir()
	if err := os.Symlink(binary, filepath.Join(bin, "carteira")); err != nil {
		in.t.Fatal(err)
	}
	sh := exec.CommandContext(in.t.Context(), "sh", "-eu", "-c", script)
	sh.Dir = in.t.TempDir()
	sh.Env = append(append([]string{}, in.env...), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+sh.Dir)
	printed, err := sh.CombinedOutput()
	if err != nil {
		in.t.Fatalf("%v: %s", err, printed)
	}
	return string(printed)
}

// What docs/agents.md has one put into the files of assistants is what they connect with.
func TestConfigurationsOfAssistantsConnect(t *testing.T) {
	t.Parallel()
	in := install(t, "sqlite")
	server := in.serve()
	token := in.token(in.company())
	place := strings.NewReplacer("https://clientes.example.com", "http://"+server.address, "cart_…", token)
	var web struct {
		Servers map[string]struct {
			URL     string
			Headers map[string]string
		}
	}
	var local struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
			Env     map[string]string
		}
	}
	blocks := blocksOf(t, "agents.md", "json")
	for i, into := range []any{&web, &local} {
		if err := json.Unmarshal([]byte(place.Replace(blocks[i])), into); err != nil {
			t.Fatal(err)
		}
	}
	said, _ := strings.CutPrefix(web.Servers["carteira"].Headers["Authorization"], "Bearer ")
	assistant := local.MCPServers["carteira"]
	command := exec.CommandContext(t.Context(), binary, assistant.Args...)
	command.Env = []string{"HOME=" + t.TempDir()}
	for name, value := range assistant.Env {
		command.Env = append(command.Env, name+"="+value)
	}
	if assistant.Command != "carteira" {
		t.Errorf("the command is %s", assistant.Command)
	}
	for _, transport := range []mcp.Transport{
		&mcp.StreamableClientTransport{Endpoint: web.Servers["carteira"].URL, HTTPClient: &http.Client{Transport: withToken{said}}},
		&mcp.CommandTransport{Command: command},
	} {
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
		if err != nil {
			t.Fatal(err)
		}
		if answer, refused := use(t, session, "getAccount", map[string]any{}); refused {
			t.Error(answer)
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}
}
