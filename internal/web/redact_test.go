package web

import (
	"net/http"
	"strings"
	"testing"
)

func TestLogsKeepNoKeys(t *testing.T) {
	const link, code = "Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmE", "4fK9sQ2mX7vB1nR8tY3wL6pD"
	for _, path := range []string{
		"/password/" + link, "/password/" + link + "/", "//password/" + link, "/password//" + link, "/x/../password/" + link,
		"/setup/" + link + "/more", "/setup/" + link + ".", "/email/" + link, "/PASSWORD/" + link, "/nowhere/" + link,
		"/pay/" + code, "/pay/" + code + "/", "/pay/" + code + "/state/", "//pay//" + code, "/pay/" + code + ";a=b", "/pagar/" + code,
		"/pay/a" + "short", "/gateways/asaas/" + code, "/gateways/asaas/" + code + "/", "/gateways//asaas//" + code + "/pix/x",
		"/my/a" + "short", "/unsubscribe/a" + "short/", "/channels/evolution/a" + "short", "/my/" + code, "/channels/whatsapp_cloud//" + code,
		"/gateways/" + code, "/signup/" + code + "/", "/api/v1/cart_" + link, "/api%2F" + link,
	} {
		observed := observe(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
		observed.get(path)
		for _, secret := range []string{link, code, "short"} {
			if strings.Contains(observed.log.String(), secret) {
				t.Errorf("%s: %s", path, observed.log.String())
			}
		}
	}
}

func TestLogsKeepPathsThatOpenNothing(t *testing.T) {
	for _, path := range []string{
		"/", "/customers/12/edit", "/subscription-plans/3/link", "/webhooks/callback-secret", "/payments/gateways/mercadopago_checkout",
		"/api/v1/webhook-deliveries/evt_01J9ZQ3Y5V7T2K4M6N8P0R1S2W", "/api/v1/customers/12345678901234567890",
		"/api/v1/customers/3f1c2b4a-5d6e-4f70-8a9b-0c1d2e3f4a5b", "/settings/users/7/second-factor", "/static/carteira.css",
		"/messages/templates/preview", "/não/é/nada",
	} {
		if got := redactPath(path); got != path {
			t.Errorf("%s is logged as %s", path, got)
		}
	}
}
