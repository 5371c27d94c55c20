package config_test

import (
	"testing"

	"carteira/internal/platform/config"
)

func TestReachOfThePublicAddress(t *testing.T) {
	for address, want := range map[string]config.Reach{
		"https://clientes.example.com":      config.Reachable,
		"https://clientes.example.com:8443": config.Reachable,
		"https://203.0.113.7":               config.Reachable,
		"http://clientes.example.com":       config.Unencrypted,
		"http://203.0.113.7:8080":           config.Unencrypted,
		"http://127.0.0.1:8080":             config.OnlyHere,
		"https://127.0.0.1":                 config.OnlyHere,
		"https://[::1]:8443":                config.OnlyHere,
		"https://[::ffff:10.0.0.1]":         config.OnlyHere,
		"http://0.0.0.0:8080":               config.OnlyHere,
		"https://192.168.1.20":              config.OnlyHere,
		"https://100.64.1.1":                config.OnlyHere,
		"https://localhost":                 config.OnlyHere,
		"https://carteira":                  config.OnlyHere,
		"https://Caixa.LOCAL.":              config.OnlyHere,
		"":                                  config.OnlyHere,
		"http://[":                          config.OnlyHere,
	} {
		if got := (config.Config{PublicURL: address}).Reach(); got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
	if got := (config.Config{PublicURL: "http://127.0.0.1", Sandbox: true}).Reach(); got != config.Reachable {
		t.Errorf("a sandbox: %q", got)
	}
}
