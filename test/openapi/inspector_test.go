package openapi

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// inspector runs the inspector of the Model Context Protocol without its pages. It needs a newer Node than Debian has;
// package.json has one.
func inspector(t *testing.T, target []string, args ...string) string {
	t.Helper()
	found, err := filepath.Glob("node_modules/node-linux-*/bin/node")
	must(t, err)
	program := append(found, "node")[0]
	call := []string{"node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js", "--cli"}
	return run(t, []string{"HOME=" + t.TempDir()}, program, slices.Concat(call, target, args)...)
}

// The inspector exits with failure where a tool has a schema that clients cannot use, and where a tool's answer is a refusal.
func TestInspectorOfTheModelContextProtocolUsesTheTools(t *testing.T) {
	t.Parallel()
	s := live(t)
	binary, err := build()
	must(t, err)
	targets := map[string][]string{
		"http":  {"http://" + s.address + "/mcp", "--header", "Authorization: Bearer " + s.token},
		"stdio": {"-e", "CARTEIRA_API_TOKEN=" + s.token, "-e", "CARTEIRA_API_URL=http://" + s.address, binary, "mcp"},
	}
	for transport, target := range targets {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			var list struct{ Tools []struct{ Name string } }
			must(t, json.Unmarshal([]byte(inspector(t, target, "--method", "tools/list", "--strict")), &list))
			var made struct {
				StructuredContent struct{ Data struct{ Name string } }
			}
			arguments := []string{"--method", "tools/call", "--tool-name", "createCustomer", "--tool-arg", "name=Ana " + transport, "--tool-arg", "plan_id=1"}
			must(t, json.Unmarshal([]byte(inspector(t, target, arguments...)), &made))
			if len(list.Tools) < 39 || made.StructuredContent.Data.Name != "Ana "+transport {
				t.Errorf("%d tools; createCustomer answers %+v", len(list.Tools), made)
			}
			prompt := inspector(t, target, "--method", "prompts/get", "--prompt-name", "cobrar-cliente", "--prompt-args", "cliente=Ana")
			if !strings.Contains(prompt, "o cliente Ana ") {
				t.Errorf("prompt %s", prompt)
			}
		})
	}
}
