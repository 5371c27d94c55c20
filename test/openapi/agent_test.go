package openapi

import "testing"

func TestClientOfTheModelContextProtocolUsesTheTools(t *testing.T) {
	t.Parallel()
	s := live(t)
	binary, err := build()
	must(t, err)
	run(t, []string{"URL=http://" + s.address, "TOKEN=" + s.token, "PROGRAM=" + binary}, "node", "mcp.mjs")
}
