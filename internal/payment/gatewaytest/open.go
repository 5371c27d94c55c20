package gatewaytest

import (
	"maps"
	"testing"

	"carteira/internal/payment"
)

// Open opens a gateway with options that must be fine.
func Open(t *testing.T, provider payment.Provider, env payment.Env, options map[string]string) payment.Gateway {
	t.Helper()
	gateway, err := provider.Open(options, env)
	if err != nil {
		t.Fatal(err)
	}
	return gateway
}

// Options are the usual ones with changes, each a name and its value.
func Options(usual map[string]string, change ...string) map[string]string {
	options := maps.Clone(usual)
	for i := 0; i < len(change); i += 2 {
		options[change[i]] = change[i+1]
	}
	return options
}
